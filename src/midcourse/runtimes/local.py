"""The local runtime: one process a run, asyncio tasks and a mailbox. Resumes after kill -9 on the same machine; no failover."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from midcourse.director.lost import answer_for_lost
from midcourse.domain.budget import FREE
from midcourse.domain.command import Act, Command, Wait
from midcourse.domain.event import Event, ResumeAsked, Resumed, Started, TimerFired
from midcourse.domain.phase import New, Opening
from midcourse.domain.replace import replace
from midcourse.domain.run import Issued, Run
from midcourse.drive import Progress, drive, is_over
from midcourse.errors import RunEnded
from midcourse.perform import Performer, Ports
from midcourse.perform.acting import LEDGERED, step_of
from midcourse.policy.failure.recovery import SHORTEST_WAIT, cool_down
from midcourse.ports.world import WorldAway

T = TypeVar("T")

Listener = Callable[[Progress], None]


class LocalRuntime:
    """Performs commands as tasks of the running loop, and stores every turn before the next."""

    def __init__(self, ports: Ports, listener: Listener | None = None) -> None:
        self._ports = ports
        self._performer = Performer(ports)
        self._listener = listener
        self._mailbox: asyncio.Queue[Event | BaseException] = asyncio.Queue()
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._answered: set[int] = set()

    # --- what a caller uses

    async def begin(self, run: Run) -> Run:
        """Drive a new run to its end."""
        await self._ports.store.begin(run, self._ports.task)
        self.tell(Started())
        return await self._drive(run)

    async def resume(self, *, at_hand: bool = False) -> Run:
        """Resume a run that no process drives any more, paused or not.

        `at_hand`: the world is open already and as the run left it, and nothing that is pending was begun.
        """
        run, _ = await self._ports.store.load(self._ports.run_id)
        if is_over(run):
            raise RunEnded(f"run {run.id} has ended")
        if isinstance(run.phase, New):
            self.tell(Started())
        elif at_hand or isinstance(run.phase, Opening):
            self.tell(Resumed())  # in the second case the world is reached by the command under way
        else:
            await self._pick_up(run)
        if run.wish == "pause":
            self.tell(ResumeAsked())
        return await self._drive(run)

    def tell(self, event: Event) -> None:
        """Put something into the mailbox: a pause, a cancel, guidance, a decision. Any time, also during an act."""
        self._mailbox.put_nowait(event)

    # --- what `drive` uses

    def start(self, issued: Issued) -> None:
        command = issued.command
        if command.id not in self._answered:
            self._tasks[command.id] = asyncio.create_task(self._perform(issued), name=f"{command.kind} {command.id}")

    def stop(self, command: Command) -> None:
        task = self._tasks.pop(command.id, None)
        if task:
            task.cancel()

    async def receive(self) -> Event:
        event = await self._mailbox.get()
        if isinstance(event, BaseException):
            raise event
        return replace(event, at=self._ports.clock.now())

    async def keep(self, progress: Progress) -> None:
        await self._patiently(lambda: self._ports.store.keep(progress.run, progress.event, progress.commands))
        if self._listener:
            self._listener(progress)

    def should_rest(self) -> bool:
        return False

    # --- inside

    async def _drive(self, run: Run) -> Run:
        try:
            return await drive(run, self)
        finally:
            for task in self._tasks.values():
                task.cancel()
            await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def _perform(self, issued: Issued) -> None:
        command = issued.command
        try:
            if isinstance(command, Wait):
                due = issued.at + command.seconds
                await self._ports.clock.sleep(max(0.0, due - self._ports.clock.now()))
                self._mailbox.put_nowait(TimerFired(answers=command.id))
            else:
                self._mailbox.put_nowait(await self._performed(issued))
        except Exception as bug:
            self._mailbox.put_nowait(bug)
        finally:
            self._tasks.pop(command.id, None)

    async def _performed(self, issued: Issued) -> Event:
        """The store went away during a command: its outcome is determined as after a crash, once the store is back."""
        while True:
            try:
                return await self._performer.perform(issued.command)
            except ConnectionError:
                answer = await self._patiently(lambda: self._answer_for(issued))
                if answer is not None:
                    return answer

    async def _patiently(self, call: Callable[[], Awaitable[T]]) -> T:
        """Wait for the store as long as an outage may last. After that nothing can be written, not even an end: it raises."""
        limits, clock, tries = self._ports.task.limits, self._ports.clock, 0
        until = clock.now() + limits.max_outage_seconds
        while True:
            try:
                return await call()
            except ConnectionError:
                if clock.now() >= until:
                    raise
            pause = max(SHORTEST_WAIT, cool_down(limits, "transport", tries))
            await clock.sleep(min(pause, until - clock.now()))
            tries += 1

    async def _pick_up(self, run: Run) -> None:
        """Reach the world, then answer for what was under way when the last process died."""
        try:
            world = await self._performer.reach_world()
        except WorldAway:
            world = "reopened"  # the next look finds it lost, and from there on its host is waited for
        self.tell(Resumed(world=world))
        for issued in run.pending:
            answer = await self._answer_for(issued)
            if answer is not None:
                self._answered.add(issued.command.id)
                self.tell(answer)

    async def _answer_for(self, issued: Issued) -> Event | None:
        """None: nothing was spent or sent, so the command is simply performed again."""
        command = issued.command
        answer = answer_for_lost(command, issued.reserved)
        if answer is None or not isinstance(command, Act):
            return None if issued.reserved == FREE else answer
        step = await step_of(self._ports, command.version, command.index, command.made_by, command.effect)
        entry = await self._ports.store.ledger_entry(self._ports.run_id, command.id)
        if step.effect in LEDGERED and entry is None:
            return replace(answer, status="no_effect", reason="not_dispatched", dispatched=False)
        if entry is None or entry.outcome is None:
            return replace(answer, identity=entry.identity if entry else "")
        known = entry.outcome
        return replace(
            answer,
            status=known.status,
            reason=known.reason,
            detail=known.detail,
            evidence=known.evidence,
            dispatched=step.effect not in LEDGERED or entry.dispatched_at is not None,
            identity=entry.identity,
        )
