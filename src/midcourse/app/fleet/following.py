"""A durable run as a client that follows it sees it. Leaving changes nothing about the run."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable

from temporalio.service import RPCError

from midcourse.app.fleet.connection import Fleet
from midcourse.app.records.trail import Trail
from midcourse.director.decide import objection
from midcourse.domain.command import AskPerson
from midcourse.domain.phase import Asking
from midcourse.domain.result import Result
from midcourse.domain.run import Run
from midcourse.drive import Progress, is_over
from midcourse.errors import FleetUnavailable
from midcourse.ports.approver import Approver
from midcourse.ports.controls import Controls
from midcourse.ports.store import JournalRow
from midcourse.runtimes.temporal.wire import Word
from midcourse.worlds.remote import hand_over

GLANCE = 0.2
"""Seconds between two looks into the journal."""
PATIENCE = 60.0
"""Seconds that a database may be away."""
DOUBT = 25
"""Looks without news after which it is asked whether anybody drives the run at all."""


START_ONE = "start one with midcourse up --detach, or midcourse fleet worker"


class FollowedRun(Controls[str]):
    """The same to hold as a `LiveRun`: iterate over its progress, tell it something, await its result."""

    def __init__(self, fleet: Fleet, opening: Run, said: Callable[[str], None]) -> None:
        """From the opening on. `said` receives the reason when the run refused a request."""
        self.run_id = opening.id
        self.past: tuple[JournalRow, ...] = ()
        """What had happened before it was followed."""
        self.approver: Approver | None = None
        """Who is asked what the run asks; anybody else may answer as well."""
        self._store = fleet.store
        self._handle = fleet.runs.handle(opening.id)
        self._said = said
        self._trail = Trail(opening)
        self._turns: asyncio.Queue[Progress | None] = asyncio.Queue()
        self._asked = 0
        self._asking: asyncio.Task[None] | None = None
        self._telling: set[asyncio.Task[None]] = set()
        self._in_turn = asyncio.Lock()
        """Words arrive in the order in which they were said."""
        self._task: asyncio.Task[Result] | None = None
        self._missed = False
        """Whether it has been said that no worker takes it up."""

    @property
    def run(self) -> Run:
        return self._trail.run

    async def result(self) -> Result:
        """What the run came to. Cancelling this waits for nothing and leaves the run as it is."""
        self._task = self._task or asyncio.create_task(self._follow(), name=f"follow {self.run_id}")
        return await self._task

    async def __aiter__(self) -> AsyncIterator[Progress]:
        self._task = self._task or asyncio.create_task(self._follow(), name=f"follow {self.run_id}")
        while (turn := await self._turns.get()) is not None:
            yield turn
        await self._task

    async def attend(self) -> str:
        """While it is paused: have a person act in its world. Says where. Raises `ConnectionError` if that cannot be."""
        return await hand_over(await self._store.session(self.run_id))

    def tell(self, word: Word, /) -> str:
        why_not = objection(self.run, word)
        if not why_not:
            telling = asyncio.create_task(
                self._send(lambda: self._handle.tell(word)), name=f"tell {self.run_id} {word.kind}"
            )
            self._telling.add(telling)
            telling.add_done_callback(self._telling.discard)
        return why_not

    async def catch_up(self) -> None:
        """Take in what there is, as past."""
        turns = await self._news()
        self.past += tuple(JournalRow(seq=t.run.seq, event=t.event, commands=t.commands) for t in turns)

    async def _follow(self) -> Result:
        quiet = 0
        try:
            while True:
                self._attend()
                result = await self._store.result(self.run_id) if is_over(self.run) else None
                if result is not None:
                    return result
                turns = await self._news()
                for turn in turns:
                    self._turns.put_nowait(turn)
                quiet = 0 if turns else quiet + 1
                if quiet % DOUBT == DOUBT - 1:
                    await self._check_driven()
                if not turns:
                    await asyncio.sleep(GLANCE)
        finally:
            self._turns.put_nowait(None)
            if self._asking is not None:
                self._asking.cancel()

    async def _news(self) -> tuple[Progress, ...]:
        """A database that is away is waited for, as the run does."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                return self._trail.take(await self._store.happened(self.run_id, self._trail.above))
            except OSError as trouble:
                if time.monotonic() > until:
                    raise FleetUnavailable(f"the database cannot be reached: {trouble}") from trouble
            await asyncio.sleep(1.0)

    async def _check_driven(self) -> None:
        """Raises `RunBroken` if its execution broke, and `RunUnknown` if it never began."""
        with contextlib.suppress(RPCError):  # a Temporal that is away says nothing about the run
            listed = await self._handle.describe()
            if listed.status == "broken":
                await self._handle.result()
            if listed.waits_for_worker and not self._missed:
                self._said(f"no worker has taken run {self.run_id} up so far; {START_ONE}")
            self._missed = listed.waits_for_worker

    async def _send(self, tell: Callable[[], Awaitable[str]]) -> None:
        try:
            async with self._in_turn:
                why_not = await tell()
        except TimeoutError as nobody:
            why_not = str(nobody)
        except RPCError as trouble:
            why_not = f"Temporal did not take it: {trouble.message}"
        if why_not:
            self._said(why_not)

    # --- questions

    def _attend(self) -> None:
        """Ask the approver the questions that are open now, and withdraw the others."""
        question = _open_question(self.run)
        if question == self._asked:
            return
        self._asked = question
        if self._asking is not None:
            self._asking.cancel()
        if question and self.approver is not None:
            self._asking = asyncio.create_task(self._ask(self.approver), name=f"question {question}")

    async def _ask(self, approver: Approver) -> None:
        question = await self._store.open_question(self.run_id)
        decision = await approver.ask(question) if question is not None else None
        if question is not None and decision is not None:
            await self._send(lambda: self._handle.answer(question, decision))


def _open_question(run: Run) -> int:
    """Its number, once it is out; 0 if nothing is asked."""
    out = not any(isinstance(issued.command, AskPerson) for issued in run.pending)
    return run.phase.question if isinstance(run.phase, Asking) and out else 0


async def attend_world(fleet: Fleet, run_id: str) -> str:
    """Show the world of a paused run to the user who takes over. Returns where, if it has a window."""
    return await hand_over(await fleet.store.session(run_id))
