"""Follows a run that another process drives. To stop following changes nothing about the run."""

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from contextlib import nullcontext
from typing import Any

from midcourse.agent.control import RunControl
from midcourse.agent.run_in_progress import RunInProgress
from midcourse.director.decide import why_no_effect
from midcourse.domain.approval import Decision, Question
from midcourse.domain.phases import Asking
from midcourse.domain.result import Result
from midcourse.domain.run import Run
from midcourse.drive import Progress, is_over
from midcourse.errors import FleetUnavailable
from midcourse.exception_text import describe_exception, format_traceback
from midcourse.history.replay import Trail
from midcourse.policy.approval.objection import find_objection
from midcourse.policy.approval.question import bind_decision
from midcourse.ports.approver import Approver
from midcourse.ports.controls import Request
from midcourse.ports.store import JournalRow
from midcourse.ports.viewing import Gesture, Handled, View

log = logging.getLogger(__name__)

GLANCE = 0.2
"""Seconds between two reads of the journal."""
PATIENCE = 60.0
"""Seconds for which the database may be unreachable."""


class FollowedRun(RunInProgress):
    """A run that another process drives. `Agent.follow` makes one.

    It reads new rows of the journal; messages go through the `RunControl`. Any number of processes may follow a run.
    """

    def __init__(self, control: RunControl, opening: Run, on_notice: Callable[[str], None]) -> None:
        """Follow the run from its opening on. `on_notice` is told why the run refused a message, or why nothing drives it."""
        super().__init__(opening.id, opening, lambda: nullcontext(control.store))
        self.past: tuple[JournalRow, ...] = ()
        """The turns before the run was followed."""
        self.approver: Approver | None = None
        """The approver who is asked the run's questions. Others may answer as well; the first answer counts."""
        self._control = control
        self._store = control.store
        self._on_notice = on_notice
        self._trail = Trail(opening)
        self._asked = 0
        self._asking: asyncio.Task[None] | None = None
        self._telling: set[asyncio.Task[None]] = set()
        self._in_turn = asyncio.Lock()
        """Held while a message is sent, so that messages arrive in the order in which they were sent."""
        self._task: asyncio.Task[Result] | None = None
        self._not_driven = ""
        """Why nothing drives the run, as far as known."""

    @property
    def run(self) -> Run:
        return self._trail.run

    def _working(self) -> asyncio.Task[Result]:
        self._task = self._task or asyncio.create_task(self._follow(), name=f"follow {self.run_id}")
        return self._task

    async def question(self) -> Question | None:
        if self._task is None:  # otherwise that task reads the journal. An answer is checked against the latest state
            for turn in await self._read_turns():
                self._turns.put_nowait(turn)
        return await super().question()

    async def attend(self) -> str:
        return await self._control.attend()

    async def view(self, since: str) -> View | None:
        return await self._control.view(since)

    async def handle(self, gestures: tuple[Gesture, ...], since: str | None) -> Handled:
        return await self._control.handle(gestures, since)

    def tell(self, event: Request, /) -> str:
        why_not = why_no_effect(self.run, event)
        return why_not or self._send(self._control.tell(event))

    def answer(self, question: Question, decision: Decision, /) -> str:
        if objection := find_objection(question, decision):
            return objection.text
        why_not = why_no_effect(self.run, bind_decision(question, decision))
        return why_not or self._send(self._control.answer(question, decision))

    async def catch_up(self) -> None:
        """Read all turns so far and add them to `past`."""
        turns = await self._read_turns()
        self._before = self.run
        self.past += tuple(JournalRow(seq=t.run.seq, event=t.event, commands=t.commands) for t in turns)

    async def close(self) -> None:
        """Stop following, after all sent messages have been accepted or refused."""
        await asyncio.gather(*self._telling)
        for task in (self._task, self._asking):
            if task is not None:
                task.cancel()
                await asyncio.wait([task])

    async def _follow(self) -> Result:
        quiet = 0
        try:
            while True:
                turns = await self._read_turns()
                for turn in turns:
                    self._turns.put_nowait(turn)
                quiet = 0 if turns else quiet + 1
                await self._check_driven(quiet)
                self._ask_open_question()
                result = await self._store.result(self.run_id) if is_over(self.run) else None
                if result is not None:
                    return result
                if not turns:
                    await asyncio.sleep(GLANCE)
        finally:
            self._turns.put_nowait(None)
            if self._asking is not None:
                self._asking.cancel()

    async def _read_turns(self) -> tuple[Progress, ...]:
        """The turns since the last read. If the database cannot be reached, wait for it, as the run does."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                return self._trail.take(await self._store.events(self.run_id, self._trail.run.seq))
            except OSError as trouble:
                if time.monotonic() > until:
                    raise FleetUnavailable(f"the database cannot be reached: {trouble}") from trouble
            await asyncio.sleep(1.0)

    async def _check_driven(self, quiet: int) -> None:
        """Report once why nothing drives the run, unless it has ended."""
        if not quiet:
            self._not_driven = ""
        elif quiet % self._control.quiet_looks == 0 and not is_over(self.run):
            why = await self._control.why_not_driven()
            if why and not self._not_driven:
                self._on_notice(why)
            self._not_driven = why

    # --- messages

    def _send(self, sending: Coroutine[Any, Any, str]) -> str:
        """Send a message after earlier ones. An accepted message appears in the journal; a refusal is reported."""
        telling = asyncio.create_task(self._report_refusal(sending), name=f"tell {self.run_id}")
        self._telling.add(telling)
        telling.add_done_callback(self._telling.discard)
        return ""

    async def _report_refusal(self, sending: Coroutine[Any, Any, str]) -> None:
        async with self._in_turn:
            why_not = await sending
        if why_not:
            self._on_notice(why_not)

    # --- questions

    def _ask_open_question(self) -> None:
        """Ask the approver the open question, and withdraw any other. Nothing is asked while no process drives the run."""
        phase = self.run.phase
        question = phase.question if isinstance(phase, Asking) and not self._not_driven else 0
        if question == self._asked:
            return
        self._asked = question
        if self._asking is not None:
            self._asking.cancel()
        if question and self.approver is not None:
            self._asking = asyncio.create_task(self._ask(self.approver, question), name=f"question {question}")

    async def _ask(self, approver: Approver, number: int) -> None:
        question = await self._load_question(number)
        try:
            decision = await approver.ask(question)
        except Exception as error:
            log.error("the approver raised\n%s", format_traceback(error))
            self._on_notice(f"the approver raised {describe_exception(error)}; the question stays open")
            return
        if decision is not None:
            await self._report_refusal(self._control.answer(question, decision))

    async def _load_question(self, number: int) -> Question:
        """Load the question with this number. The driver stores it a moment after the turn that asks it."""
        while True:
            question = await self._control.open_question()
            if question is not None and question.id == number:
                return question
            await asyncio.sleep(GLANCE)
