"""One workflow a run: `drive(decide, mailbox)` and no further logic. Commands are performed in activities.py."""

import asyncio
from collections import deque
from dataclasses import dataclass
from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy, SearchAttributeUpdate
from temporalio.exceptions import ActivityError, ApplicationError, FailureError, TimeoutType
from temporalio.exceptions import TimeoutError as TimedOut

from midcourse.director.decide import objection
from midcourse.director.lost import answer_for_lost
from midcourse.domain.budget import FREE
from midcourse.domain.command import Act, AskPerson, Command, Finish, Record, Wait
from midcourse.domain.event import CancelAsked, Event, Postponed, Resumed, Started, TimerFired
from midcourse.domain.phase import Asking, Ended, New, Paused
from midcourse.domain.replace import replace
from midcourse.domain.run import Issued, Run
from midcourse.drive import Progress, drive, is_over
from midcourse.ports.store import Happened
from midcourse.runtimes.temporal.attributes import FINAL_REASON, STATUS, status_of
from midcourse.runtimes.temporal.wire import (
    ACTIVITY,
    ELSEWHERE,
    UPDATE,
    WORKFLOW,
    Done,
    Start,
    Word,
    Work,
    session_queue,
)

ONCE = RetryPolicy(maximum_attempts=1)
FREELY = RetryPolicy(initial_interval=timedelta(seconds=0.5), maximum_interval=timedelta(seconds=10))


@dataclass(frozen=True, kw_only=True)
class Arrival:
    """An event in the mailbox, and its place in the journal if its sender has written it already."""

    event: Event
    written_at: int = 0


@workflow.defn(name=WORKFLOW)
class RunWorkflow:
    """Performs commands as activities and timers. Collects the rows that no activity has written for the next one."""

    @workflow.init
    def __init__(self, start: Start) -> None:
        self._pace = start.pace
        self._run = start.run
        self._unwritten = list(start.unwritten)
        self._mailbox: deque[Arrival | ApplicationError] = deque()
        self._written_at = 0
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._answered: list[int] = []
        self._holder = ""
        self._beside = False
        self._status = status_of(start.run)

    @workflow.run
    async def go(self, start: Start) -> str:
        """Why it ended."""
        if start.picked_up:
            self._pick_up(start.run)
        if isinstance(start.run.phase, New):
            self._put(Started())
        run = start.run
        while True:
            run = await self._drive(run)
            await workflow.wait_condition(workflow.all_handlers_finished)
            if isinstance(run.phase, Ended) and is_over(run):
                return run.phase.reason
            if not self._mailbox:
                workflow.continue_as_new(
                    Start(run=run, pace=self._pace, unwritten=tuple(self._unwritten)),
                    initial_versioning_behavior=workflow.ContinueAsNewVersioningBehavior.AUTO_UPGRADE,
                )

    # --- what people use

    @workflow.update(name=UPDATE)
    def tell(self, word: Word) -> None:
        self._put(word)

    @tell.validator
    def check(self, word: Word) -> None:
        why_not = objection(self._run, word)
        if why_not:
            raise ApplicationError(why_not)

    # --- what `drive` uses

    def start(self, issued: Issued) -> None:
        command = issued.command
        if command.id not in self._tasks and command.id not in self._answered:
            self._tasks[command.id] = asyncio.create_task(self._perform(issued))

    def stop(self, command: Command) -> None:
        task = self._tasks.pop(command.id, None)
        if task:
            task.cancel()

    async def receive(self) -> Event:
        """An answer has the time at which it was written down; everything else happens now."""
        try:
            await workflow.wait_condition(lambda: bool(self._mailbox))
        except asyncio.CancelledError:  # the workflow itself was cancelled
            self._put(CancelAsked())
        arrival = self._mailbox.popleft()
        if isinstance(arrival, ApplicationError):
            raise arrival
        self._written_at = arrival.written_at
        event = arrival.event
        return event if event.at else replace(event, at=round(workflow.time(), 3))

    async def keep(self, progress: Progress) -> None:
        self._run = progress.run
        if self._written_at != progress.run.seq:
            self._unwritten.append(Happened(seq=progress.run.seq, event=progress.event))
        self._show(progress.run)

    def should_rest(self) -> bool:
        """At a quiet point: nothing is under way but timers, which are set again."""
        under_way = [issued.command for issued in self._run.pending if issued.command.id in self._tasks]
        if self._mailbox or not all(isinstance(command, Wait) for command in under_way):
            return False
        info = workflow.info()
        waiting = isinstance(self._run.phase, Asking | Paused)
        limit = self._pace.rest_after if waiting else self._pace.continue_after
        return info.is_continue_as_new_suggested() or info.get_current_history_length() >= limit

    # --- inside

    async def _drive(self, run: Run) -> Run:
        """A bug ends this execution. As a failed turn it would be tried again for ever."""
        try:
            return await drive(run, self)
        except FailureError:
            raise
        except Exception as bug:
            raise _broken(bug) from bug

    def _put(self, event: Event, written_at: int = 0) -> None:
        self._mailbox.append(Arrival(event=event, written_at=written_at))

    def _pick_up(self, run: Run) -> None:
        """Answer for what was under way when an earlier execution broke. What is free is simply done again."""
        self._put(Resumed())
        for issued in run.pending:
            answer = answer_for_lost(issued.command, issued.reserved) if _only_once(issued) else None
            if answer is not None:
                self._answered.append(issued.command.id)
                self._put(answer)

    def _show(self, run: Run) -> None:
        status = status_of(run)
        if status == self._status:
            return
        self._status = status
        updates: list[SearchAttributeUpdate[str]] = [STATUS.value_set(status)]
        if isinstance(run.phase, Ended):
            updates.append(FINAL_REASON.value_set(run.phase.reason))
        workflow.upsert_search_attributes(updates)  # pyright: ignore[reportUnknownMemberType]

    async def _perform(self, issued: Issued) -> None:
        command = issued.command
        try:
            if isinstance(command, Wait):
                await self._wait(command, until=issued.at + command.seconds)
            else:
                await self._delegate(issued)
        except Exception as bug:
            self._mailbox.append(_broken(bug))
        finally:
            self._tasks.pop(command.id, None)

    async def _wait(self, command: Wait, until: float) -> None:
        await asyncio.sleep(max(0.0, until - workflow.time()))
        self._put(TimerFired(answers=command.id, at=max(until, round(workflow.time(), 3))))

    async def _delegate(self, issued: Issued) -> None:
        work = Work(command=issued.command, seq=self._run.seq + 1, rows=tuple(self._unwritten))
        try:
            done = await self._send(issued, work)
        except ActivityError as error:
            if not self._was_stopped(issued.command):
                self._answer_for(issued, error)
            return
        if isinstance(done.event, Postponed):  # nothing was written, either
            self._put(done.event)
            return
        self._unwritten = [row for row in self._unwritten if row not in work.rows]
        if done.holder:
            self._holder, self._beside = done.holder, True
        if done.gone:
            self._put(Resumed())
        self._put(done.event, work.seq)

    async def _send(self, issued: Issued, work: Work) -> Done:
        """Sends to the worker that holds the world's session, if one does, and then to all workers."""
        once = _only_once(issued)
        if self._holder and not isinstance(issued.command, AskPerson | Record):
            try:
                return await self._send_to_holder(replace(work, holder=self._holder))
            except ActivityError as error:
                if self._was_stopped(issued.command) or not _may_be_sent_again(error, once=once):
                    raise
                self._holder = ""
        return await self._execute(work, ONCE if once else FREELY)

    async def _send_to_holder(self, work: Work) -> Done:
        """Most likely it is the worker that drives this run, which the engine hands its own work without a queue in
        between: that spares a quarter of what a step costs. If it is another one, it is found by its queue from then on.
        """
        if self._beside:
            try:
                return await self._execute(work, ONCE)
            except ActivityError as error:
                if not _is_elsewhere(error):
                    raise
                self._beside = False
        return await self._execute(work, ONCE, session_queue(work.holder))

    async def _execute(self, work: Work, retry: RetryPolicy, queue: str | None = None) -> Done:
        pace = self._pace
        return await workflow.execute_activity(
            ACTIVITY,
            work,
            result_type=Done,
            task_queue=queue,
            schedule_to_start_timeout=timedelta(seconds=pace.session_seconds) if queue else None,
            start_to_close_timeout=timedelta(seconds=self._seconds(work.command) + pace.margin_seconds),
            heartbeat_timeout=timedelta(seconds=pace.heartbeat_seconds),
            retry_policy=retry,
        )

    def _seconds(self, command: Command) -> float:
        match command:
            case AskPerson():
                return max(0.0, command.expires_at - workflow.time())
            case Finish():
                return self._run.limits.look_timeout_seconds
            case Record() | Wait():
                return 0.0
            case _:
                return command.timeout

    def _was_stopped(self, command: Command) -> bool:
        return command.id not in self._tasks

    def _answer_for(self, issued: Issued, error: ActivityError) -> None:
        """The worker is gone, or has a bug."""
        self._holder = ""
        answer = answer_for_lost(issued.command, issued.reserved)
        if answer is None or _is_final(error):
            self._mailbox.append(ApplicationError(f"{issued.command.kind} failed: {error.cause}", non_retryable=True))
        else:
            self._put(answer)


def _only_once(issued: Issued) -> bool:
    """What acts, or costs something: the director retries it, with a new reservation."""
    return isinstance(issued.command, Act) or issued.reserved != FREE


def _is_elsewhere(error: ActivityError) -> bool:
    return isinstance(error.cause, ApplicationError) and error.cause.type == ELSEWHERE


def _is_final(error: ActivityError) -> bool:
    return isinstance(error.cause, ApplicationError) and error.cause.non_retryable


def _may_be_sent_again(error: ActivityError, *, once: bool) -> bool:
    """No worker has begun it; or it does no harm twice."""
    unseen = isinstance(error.cause, TimedOut) and error.cause.type == TimeoutType.SCHEDULE_TO_START
    return unseen or not (once or _is_final(error))


def _broken(bug: Exception) -> ApplicationError:
    return ApplicationError(f"{type(bug).__name__}: {bug}", non_retryable=True)
