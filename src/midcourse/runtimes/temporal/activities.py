"""One activity: performs a command and writes its result, in one transaction."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from typing import TypeVar

from temporalio import activity
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory

from midcourse.director.lost import answer_for_lost
from midcourse.domain.budget import FREE
from midcourse.domain.command import (
    Act,
    Advise,
    AskPerson,
    CheckDone,
    Command,
    Finish,
    JudgeCloseness,
    MakePlan,
    Observe,
    OpenWorld,
    PlanRevert,
    PlanTry,
    Record,
    Verify,
)
from midcourse.domain.event import Acted, Event, Observed, Postponed, Verified
from midcourse.domain.replace import replace
from midcourse.perform import Performer
from midcourse.ports.store import Batch, FleetStore, Happened, Standing
from midcourse.ports.world import Turn
from midcourse.runtimes.temporal.sessions import PortsFor, Reached, Sessions
from midcourse.runtimes.temporal.wire import ACTIVITY, ELSEWHERE, Done, Work, run_id_of

PHASES: dict[type[Command], str] = {
    OpenWorld: "opening",
    Observe: "looking",
    MakePlan: "planning",
    Advise: "advising",
    Act: "acting",
    Verify: "verifying",
    PlanTry: "trying",
    JudgeCloseness: "weighing",
    PlanRevert: "undoing",
    CheckDone: "concluding",
    AskPerson: "asking",
    Record: "paused",
    Finish: "ended",
}
"""What a run is while a command is performed."""

PAUSES = (0.1, 0.2, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Seconds, between one try to reach the database and the next."""

T = TypeVar("T")


class Activities:
    """What one worker performs. `name` is the worker's, by which it is known as the holder of sessions."""

    def __init__(self, *, store: FleetStore, ports_for: PortsFor, name: str, most_sessions: int) -> None:
        self._store = store
        self._sessions = Sessions(ports_for, most_sessions)
        self._name = name
        self._database_away = False

    @activity.defn(name=ACTIVITY)
    async def perform(self, work: Work) -> Done:
        workflow_id = activity.info().workflow_id
        assert workflow_id, "only workflows send work"
        if work.holder not in ("", self._name):
            raise ApplicationError("", type=ELSEWHERE, non_retryable=True, category=ApplicationErrorCategory.BENIGN)
        try:
            with _signs_of_life():
                return await self._perform(run_id_of(workflow_id), work)
        except OSError:
            raise  # a store or a host that cannot be reached now
        except Exception as bug:
            raise ApplicationError(str(bug), type=type(bug).__name__, non_retryable=True) from bug

    async def _perform(self, run_id: str, work: Work) -> Done:
        command, turn = work.command, (work.seq, _attempt())
        batch = self._store.batch(run_id, *turn)
        try:
            reached = await self._prepared(batch, run_id, work, turn)
        except ConnectionError as trouble:
            if isinstance(command, AskPerson | Record | Finish):
                raise  # must be done, however long it takes: the engine tries again
            return Done(event=Postponed(answers=command.id, at=round(time.time(), 3), detail=str(trouble)))
        ports = replace(reached.ports, store=batch)
        gone = reached.gone and not isinstance(command, Finish)
        try:
            event = _without_world(command) if gone else await Performer(ports).perform(command)
            event = replace(event, at=round(ports.clock.now(), 3))
            await batch.append(run_id, (Happened(seq=work.seq, event=event),), _standing_after(command))
            await _patiently(batch.flush)
        except ConnectionError:
            self._database_away = True
            raise
        if isinstance(command, Finish):
            self._sessions.release(run_id)
        return Done(event=event, holder=self._name if reached.taken else "", gone=gone)

    async def _prepared(self, batch: Batch, run_id: str, work: Work, turn: Turn) -> Reached:
        """Everything that needs the database before the command is begun. Raises `ConnectionError` if that is away.

        Most of it is in memory. So where a command has failed because the database was away, it is asked for before the next
        one: a command that is not begun costs nothing and can be put off.
        """
        if self._database_away:
            await _patiently(self._store.ping)
            self._database_away = False
        await _patiently(lambda: batch.append(run_id, work.rows))
        if isinstance(work.command, Verify):  # the outcome of the act in doubt is on record by now, or never will be
            await _patiently(batch.flush)
        return await _patiently(lambda: self._sessions.reach(run_id, work.command, turn=turn, ours=bool(work.holder)))


def _attempt() -> int:
    """Later ones are greater, whether the engine tried again or the workflow chose another worker."""
    return round(activity.info().current_attempt_scheduled_time.timestamp() * 1e6)


def _standing_after(command: Command) -> Standing:
    """As far as that is known here: the run may not continue before the answer is out."""
    reason = command.reason if isinstance(command, Finish) else ""
    return Standing(phase=PHASES[type(command)], final_reason=reason)


def _without_world(command: Command) -> Event:
    """The answer if no session is available. Nothing was sent, and nothing spent."""
    detail = "the world's session is gone"
    match command:
        case Observe():
            return Observed(answers=command.id, reason="world_lost", detail=detail)
        case Verify():
            return Verified(answers=command.id, reason="world_lost", detail=detail)
        case Act():
            return Acted(
                answers=command.id,
                status="no_effect",
                reason="world_lost",
                detail=detail,
                dispatched=False,
                looked=False,
            )
        case _:
            answer = answer_for_lost(command, FREE)
            assert answer is not None, f"{command.kind} needs no world"
            return answer


async def _patiently(call: Callable[[], Awaitable[T]]) -> T:
    """A database that was restarted is back within seconds. Only for what may be done twice, and before or after an act."""
    for pause in PAUSES:
        try:
            return await call()
        except ConnectionError:
            await asyncio.sleep(pause)
    return await call()


@contextmanager
def _signs_of_life() -> Generator[None]:
    """In the background, three in the time after which we count as lost."""
    timeout = activity.info().heartbeat_timeout
    assert timeout is not None, "every command is watched"
    loop, pause = asyncio.get_running_loop(), timeout.total_seconds() / 3

    def beat() -> None:
        nonlocal next_beat
        activity.heartbeat()
        next_beat = loop.call_later(pause, beat)

    next_beat = loop.call_later(pause, beat)
    try:
        yield
    finally:
        next_beat.cancel()
