"""The driver: performs a run's commands as asyncio tasks and stores every turn before the next, until the run ends or rests.

Local and durable runs have the same driver. It does not know what placed it: a program, the command line, or a supervisor.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass
from typing import Literal, TypeVar, cast

from midcourse.containment import CallAborted, Contained, ends_process, is_running
from midcourse.director.lost import answer_for_lost, answer_without_world
from midcourse.domain import commands, events, phases
from midcourse.domain.budget import FREE
from midcourse.domain.replace import replace
from midcourse.domain.run import Issued, Run
from midcourse.drive import Progress, drive, is_over
from midcourse.errors import RunEnded
from midcourse.exception_text import describe_exception
from midcourse.perform import Performer, Ports
from midcourse.perform.acting import LEDGERED, load_step
from midcourse.policy.failure.recovery import SHORTEST_WAIT, cool_down
from midcourse.ports.abilities import offers
from midcourse.ports.driving import Batching, Claim, Driving, MessageWaiting, Records
from midcourse.ports.world import Ordered, WorldAway
from midcourse.runtimes.mailbox import Arrival, Mailbox

T = TypeVar("T")

Listener = Callable[[Progress], None]
Turns = Callable[[], AbstractAsyncContextManager[None]]

MARGIN_SECONDS = 30.0
"""In addition to a command's timeout, for reaching the world and writing records. Then the command counts as lost."""
REST_SECONDS = 2.0
"""A driver that may rest waits for timers that are due within this time."""


@dataclass(frozen=True, kw_only=True)
class Rested:
    """How a driver left its run."""

    why: Literal["ended", "waits", "slice"]
    """`waits`: for a message or a time. `slice`: its time is over, and another driver continues immediately."""
    run: Run
    messages: int = 0
    """The number of the last message that it read."""
    wake_at: float | None = None


class Driver:
    """Drives one run. `listener` is called with every turn after it was stored.

    `must_stop`: asked between turns whether to hand the run over. With it, the driver also rests while the run waits for a
    person or for a time; without it, it drives the run to its end.
    """

    def __init__(
        self,
        ports: Ports,
        listener: Listener | None = None,
        *,
        must_stop: Callable[[], bool] | None = None,
        held: bool = False,
        turns: Turns = nullcontext,
    ) -> None:
        """`held`: the ports were used by an earlier driver of this run in this process, and the world may still be open.

        `turns`: returns a context for each turn, which may limit the turns of all drivers of a process.
        """
        self._turns = turns
        self._turn_context = AsyncExitStack()
        """Holds the context of the current turn."""
        self._ports = ports
        self._store = cast(Driving, ports.store)
        self._performer = Performer(ports)
        self._listener = listener
        self._must_stop = must_stop
        self._held = held
        self._reached = must_stop is None
        """Whether this driver is attached to the world's session. A local one opens it before anything else."""
        self._was_resting = False
        """Whether the run was resting when this driver took over: a missing session was then closed on purpose, and did not fail."""
        self._claim: Claim | None = None
        self._mailbox: Mailbox | None = None
        self._early: list[events.Event] = []
        """Events that arrived before the run was claimed."""
        self._arrival = Arrival(event=events.Started())
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._records: dict[int, Records] = {}
        self._answered: set[int] = set()
        self._exits: dict[int, BaseException] = {}
        """Exceptions that end the process, by the command that raised them. Each is raised again once its command's answer is stored."""
        self._has_moved = False
        self._rested: Rested | None = None

    # --- for callers

    async def begin(self, run: Run) -> Run:
        """Create a run and drive it to its end."""
        await self._ports.store.begin(run, self._ports.task)
        return await self.resume()

    async def resume(self, *, world_is_open: bool = False) -> Run:
        """Drive a run to its end, whether it is new, interrupted or paused. No other process may be driving it.

        `world_is_open`: the world is already open and unchanged, and no pending command was started.
        """
        await self._claim_run(0)
        run, _ = await self._ports.store.load(self._ports.run_id)
        if is_over(run):
            raise RunEnded(f"run {run.id} has ended")
        if isinstance(run.phase, phases.New):
            arrived: tuple[events.Event, ...] = (events.Started(),)
        elif world_is_open or isinstance(run.phase, phases.Opening):
            arrived = (events.Resumed(),)  # while opening, the pending command reaches the world
        else:
            try:
                reached = await self._performer.reach_world()
            except WorldAway:
                reached = "reopened"  # the next observation finds it lost, and then the run waits for its host
            arrived = await self._recover(run, reached)
        if run.requested == "pause":
            self.tell(events.ResumeAsked())
        return await self._drive(run, arrived)

    async def drive(self, *, placed: int) -> Rested:
        """Drive a run that a supervisor placed here until it ends or rests. Raise `RunBusy` if it was placed elsewhere since."""
        claim = await self._claim_run(placed)
        if offers(self._ports.world, Ordered):
            self._ports.world.set_turn((placed, claim.epoch))
        run, _ = await self._retry_store(lambda: self._ports.store.load(self._ports.run_id))
        arrived: tuple[events.Event, ...] = ()
        if isinstance(run.phase, phases.New):
            arrived = (events.Started(),)
        elif claim.rested_at == run.seq:
            self._was_resting = True
        elif not is_over(run):
            arrived = await self._recover(run, "kept")
        run = await self._drive(run, arrived)
        return self._rested or Rested(why="ended", run=run, messages=self._box.known)

    def tell(self, event: events.Event) -> None:
        """Put an event into the mailbox: a pause, a cancel, guidance, a decision. Allowed at any time, also during an act.

        It is stamped with the current time, not with the time when it is decided: an approval is valid from when it was given.
        """
        event = replace(event, at=event.at or self._ports.clock.now())
        if self._mailbox:
            self._mailbox.put(event)
        else:
            self._early.append(event)

    def ring(self) -> None:
        """Note that another process may have posted a message."""
        if self._mailbox:
            self._mailbox.ring()

    @property
    def known(self) -> int:
        """The number of the last message that was read."""
        return self._mailbox.known if self._mailbox else 0

    # --- for the loop

    def start(self, issued: Issued) -> None:
        command = issued.command
        if command.id not in self._answered:
            self._tasks[command.id] = asyncio.create_task(self._perform(issued), name=f"{command.kind} {command.id}")

    def stop(self, command: commands.Command) -> None:
        self._records.pop(command.id, None)
        task = self._tasks.pop(command.id, None)
        if task:
            task.cancel()

    @asynccontextmanager
    async def turn(self) -> AsyncGenerator[None]:
        async with self._turn_context:
            await self._turn_context.enter_async_context(self._turns())
            yield

    async def receive(self) -> events.Event:
        self._arrival = await self._box.receive()
        return self._arrival.event

    async def save_turn(self, progress: Progress) -> bool:
        arrival, answered = self._arrival, _answered_command(progress.event)
        turns = self._records.get(answered) or self._new_records() or self._store
        # Not checked for a message, since later ones were accepted after it, nor for recovery, which changes nothing that
        # messages were checked against.
        known = None if arrival.message or arrival.recovers else self._box.known
        try:
            await self._retry_store(
                lambda: turns.save_turn(
                    progress.run,
                    progress.event,
                    progress.commands,
                    claim=self._claim,
                    known=known,
                    message=arrival.message,
                )
            )
        except MessageWaiting:
            await self._box.put_back(arrival)
            return False
        self._records.pop(answered, None)
        self._has_moved = True
        if self._listener:
            self._listener(progress)
        if self._ports.telemetry:
            self._ports.telemetry.tell(progress.event, progress.run, progress.commands)
        if leaving := self._exits.pop(answered, None):
            raise leaving
        return True

    async def should_rest(self, run: Run, fresh: tuple[Issued, ...]) -> bool:
        if self._must_stop is None or not self._box.is_empty():
            return False
        unstarted = {issued.command.id for issued in fresh}
        timers = [issued for issued in run.pending if isinstance(issued.command, commands.Wait)]
        if any(issued not in timers and issued.command.id not in unstarted for issued in run.pending):
            return False
        wake_at = min((_due_at(issued) for issued in timers), default=None)
        waits = len(timers) == len(run.pending) and (
            wake_at is None or wake_at > self._ports.clock.now() + REST_SECONDS
        )
        may_stop = self._has_moved and self._must_stop()  # each driver takes at least one turn, or none would progress
        if not (waits or may_stop):
            return False
        if not waits:
            wake_at = None
        claim, known = self._claimed, self._box.known
        if not await self._retry_store(lambda: self._store.rest(claim, seq=run.seq, known=known, wake_at=wake_at)):
            await self._box.read()
            return False
        self._rested = Rested(why="waits" if waits else "slice", run=run, messages=known, wake_at=wake_at)
        return True

    # --- claim, mailbox and records

    @property
    def _claimed(self) -> Claim:
        assert self._claim, "a driver claims its run first"
        return self._claim

    @property
    def _box(self) -> Mailbox:
        assert self._mailbox, "a driver claims its run first"
        return self._mailbox

    async def _claim_run(self, placed: int) -> Claim:
        """Claim the run before anything of it is read: what is read then is final."""
        run_id = self._ports.run_id
        claim = await self._retry_store(lambda: self._store.claim_run(run_id, placed=placed))
        self._claim = claim
        self._mailbox = Mailbox(self._store, claim, self._ports.clock, self._retry_store)
        return claim

    async def _drive(self, run: Run, arrived: tuple[events.Event, ...]) -> Run:
        box = self._box
        await box.recover(arrived)
        for event in self._early:
            box.put(event)
        listening = asyncio.create_task(box.listen(), name=f"inbox of {run.id}") if self._must_stop is None else None
        telemetry = self._ports.telemetry
        try:
            with telemetry.follow(run) if telemetry else nullcontext():
                return await drive(run, self)
        finally:
            tasks = [*self._tasks.values(), *((listening,) if listening else ())]
            self._tasks.clear()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _new_records(self) -> Records | None:
        return self._store.records(self._claimed) if offers(self._store, Batching) else None

    # --- commands

    async def _perform(self, issued: Issued) -> None:
        """Perform a command and put its answer into the mailbox. Whatever is raised, the run gets an answer or fails: it never waits."""
        command, task = issued.command, asyncio.current_task()
        try:
            if isinstance(command, commands.Wait):
                await self._ports.clock.sleep(max(0.0, _due_at(issued) - self._ports.clock.now()))
                self._box.put(events.TimerFired(answers=command.id))
            elif await self._attach(command):
                self._box.put(await self._perform_or_recover(issued))
            else:
                # A look while a question is open is not worth another session.
                for_question = isinstance(command, commands.Verify) and bool(command.question)
                reopened = not for_question and await self._reopen()
                self._box.put(events.Resumed(world="reopened" if reopened else "kept"))  # the world has to be observed
                repeats = reopened and isinstance(command, commands.Observe | commands.Verify)
                answer = answer_without_world(command, reopened=reopened)
                self._box.put(await self._perform_or_recover(issued) if repeats else answer)
        except Exception as bug:
            self._box.fail(bug)
        except BaseException as raised:
            if self._tasks.get(command.id) is not task or not is_running(task):
                raise  # this driver stopped the command, or its coroutine is being closed
            await self._settle_aborted(issued, raised)
        finally:
            self._tasks.pop(command.id, None)

    async def _settle_aborted(self, issued: Issued, raised: BaseException) -> None:
        """Settle a command that raised what is not an `Exception`, and that no port contained.

        If something else cancelled the command, or the process is to end, its outcome is determined as after a crash.
        """
        leaves = ends_process(raised)
        if not (leaves or isinstance(raised, asyncio.CancelledError)):
            self._box.fail(CallAborted(raised))
            return
        self._records.pop(issued.command.id, None)
        try:
            answer = await self._find_answer(issued)
        except Exception as bug:
            self._box.fail(raised if leaves else bug)
            return
        if not leaves:  # nothing is repeated in this process, where it would be cancelled again
            answer = answer or answer_for_lost(issued.command, issued.reserved)
            if isinstance(answer, events.Verified | events.DoneChecked) and answer.verdict == "too_early":
                answer = replace(answer, verdict="undecided", detail=describe_exception(raised))
        if answer is None:
            self._box.fail(raised if leaves else CallAborted(raised))
            return
        if leaves:
            self._exits[issued.command.id] = raised
        self._box.put(answer)

    async def _perform_or_recover(self, issued: Issued) -> events.Event:
        """Perform a command. If it is lost with the store or hangs, its outcome is determined as after a crash."""
        command = issued.command
        while True:
            performer = self._performer
            if records := self._new_records():
                self._records[command.id] = records
                performer = Performer(replace(self._ports, store=records))
            try:
                async with asyncio.timeout(_time_limit(command)):
                    return await performer.perform(command)
            except (ConnectionError, TimeoutError):
                self._records.pop(command.id, None)
                answer = await self._find_answer(issued)
                if answer is not None:
                    return answer

    async def _attach(self, command: commands.Command) -> bool:
        """Attach to the world's session before the first command that needs it. False: the session is gone."""
        if self._reached or isinstance(command, commands.AskPerson | commands.Record):
            return True
        if isinstance(command, commands.OpenWorld):  # on any host: the earlier one may be gone
            self._reached = True
            return True
        handle = await self._retry_store(lambda: self._ports.store.session(self._ports.run_id))
        if not handle:  # without a handle no other process can have taken it over
            self._reached = self._held
        else:
            try:
                seconds = self._ports.task.limits.look_timeout_seconds
                async with Contained(seconds):
                    self._reached = await self._ports.world.attach(handle)
            except Exception:
                self._reached = False
        return self._reached or isinstance(command, commands.Finish)

    async def _reopen(self) -> bool:
        """Open the world again if its session was closed while the run rested. False: the director decides what follows."""
        if not self._was_resting:
            return False
        try:
            async with Contained(self._ports.task.limits.look_timeout_seconds):
                await self._performer.reach_world()
        except Exception:
            return False  # the director then issues `OpenWorld`, with retries and waits for the host
        self._reached = True
        return True

    async def _retry_store(self, call: Callable[[], Awaitable[T]]) -> T:
        """Retry a store call for as long as an outage may last, then raise: without the store the run cannot even be ended.

        The context of the turn is left before the first pause, so that it does not block runs with another store.
        """
        limits, clock, tries = self._ports.task.limits, self._ports.clock, 0
        until = clock.now() + limits.max_outage_seconds
        while True:
            try:
                async with Contained():
                    return await call()
            except ConnectionError:
                if clock.now() >= until:
                    raise
            await self._turn_context.aclose()
            pause = max(SHORTEST_WAIT, cool_down(limits, "transport", tries))
            await clock.sleep(min(pause, until - clock.now()))
            tries += 1

    # --- after a crash

    async def _recover(self, run: Run, world: Literal["kept", "reopened"]) -> tuple[events.Event, ...]:
        """Find the answers for commands that were under way when the last driver died."""
        answers: list[events.Event] = [events.Resumed(world=world)]
        for issued in run.pending:
            answer = await self._find_answer(issued)
            if answer is not None:
                self._answered.add(issued.command.id)
                answers.append(answer)
        return tuple(answers)

    async def _find_answer(self, issued: Issued) -> events.Event | None:
        """Find the answer for a lost command, according to the ledger. None: nothing was spent or sent, so it is performed again."""
        command = issued.command
        answer = answer_for_lost(command, issued.reserved)
        if answer is None or not isinstance(command, commands.Act):
            return None if issued.reserved == FREE else answer
        step = await self._retry_store(
            lambda: load_step(self._ports, command.version, command.index, command.made_by, command.effect)
        )
        entry = await self._retry_store(lambda: self._ports.store.ledger_entry(self._ports.run_id, command.id))
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
            claimed=known.claimed,
            dispatched=step.effect not in LEDGERED or entry.dispatched_at is not None,
            identity=entry.identity,
        )


def _due_at(issued: Issued) -> float:
    return issued.at + cast(commands.Wait, issued.command).seconds


def _answered_command(event: events.Event) -> int:
    """Return the command that this event answers; 0 if it answers none. A decision may come before its question was sent."""
    return event.question if isinstance(event, events.ApprovalDecided) else getattr(event, "answers", 0)


def _time_limit(command: commands.Command) -> float | None:
    """Return the seconds after which a command counts as lost although this process is still running. A question has its own timer."""
    match command:
        case commands.AskPerson() | commands.Record() | commands.Finish() | commands.Wait():
            return None
        case _:
            return command.timeout + MARGIN_SECONDS
