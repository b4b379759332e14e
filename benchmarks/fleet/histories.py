"""What the engine's histories record of a trial: pending commands when a worker died, and when the run resumed."""

import dataclasses
import json
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from unittest.mock import patch

from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import Client, WorkflowHistory
from temporalio.worker import Replayer

from midcourse.director.decide import ENTER
from midcourse.director.segment import ask_planner
from midcourse.director.turn import Turn
from midcourse.domain.move import AskPlanner, BackOff
from midcourse.domain.run import Run
from midcourse.runtimes.temporal.codec import data_converter
from midcourse.runtimes.temporal.wire import workflow_id
from midcourse.runtimes.temporal.worker import NO_BUILD, RUNNER
from midcourse.runtimes.temporal.workflow import RunWorkflow

OVER = {
    EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED: "completed",
    EventType.EVENT_TYPE_ACTIVITY_TASK_FAILED: "failed",
    EventType.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT: "timed_out",
    EventType.EVENT_TYPE_ACTIVITY_TASK_CANCELED: "cancelled",
}


@dataclass(kw_only=True)
class Performed:
    """One command as the engine saw it; of several attempts the last."""

    activity: str
    kind: str
    command: int
    scheduled: float
    started: float = 0.0
    over: float = float("inf")
    how: str = ""
    worker: str = ""


async def executions(client: Client, tenant: str, run_id: str) -> list[WorkflowHistory]:
    """All histories of a run, the first one first: it may have continued in new ones."""
    found: list[WorkflowHistory] = []
    execution = None
    while execution != "":
        history = await client.get_workflow_handle(workflow_id(tenant, run_id), run_id=execution).fetch_history()
        found.insert(0, history)
        execution = history.events[0].workflow_execution_started_event_attributes.continued_execution_run_id
    return found


def performed(histories: Iterable[WorkflowHistory]) -> list[Performed]:
    found: list[Performed] = []
    for history in histories:
        under_way: dict[int, Performed] = {}
        for event in history.events:
            _take_in(event, under_way)
        found += under_way.values()
    return found


def _take_in(event: HistoryEvent, under_way: dict[int, Performed]) -> None:
    at = event.event_time.ToNanoseconds() / 1e9
    if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
        scheduled = event.activity_task_scheduled_event_attributes
        command = json.loads(scheduled.input.payloads[0].data)["command"]
        under_way[event.event_id] = Performed(
            activity=scheduled.activity_id, kind=command["kind"], command=command["id"], scheduled=at
        )
    elif event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED:
        started = event.activity_task_started_event_attributes
        one = under_way[started.scheduled_event_id]
        one.started, one.worker = at, started.identity
    elif how := OVER.get(event.event_type):
        one = under_way[getattr(event, f"{event.WhichOneof('attributes')}").scheduled_event_id]
        one.over, one.how = at, how


@dataclass(frozen=True, kw_only=True)
class Replays:
    histories: int
    nondeterministic: int
    control: int
    """Histories that were also replayed with a changed director..."""
    control_failed: int
    """...and how often that was noticed."""


MOST_CONTROLS = 20


async def replay(runs: Sequence[Sequence[WorkflowHistory]]) -> Replays:
    """All histories of these runs, through the workflow of this version again; and some through another one."""
    histories = [history for run in runs for history in run]
    planned = [run[0] for run in runs if any(one.kind == "make_plan" for one in performed([run[0]]))]
    control = planned[:MOST_CONTROLS]  # the changed director differs only where a plan is made
    failed = await _failures(histories)
    with patch.dict(ENTER, {AskPlanner: _hesitate}):
        noticed = await _failures(control)
    return Replays(histories=len(histories), nondeterministic=failed, control=len(control), control_failed=noticed)


async def _failures(histories: Iterable[WorkflowHistory]) -> int:
    replayer = Replayer(
        workflows=[RunWorkflow],
        workflow_runner=RUNNER,
        data_converter=data_converter(),
        build_id=NO_BUILD,
    )

    async def all_of_them() -> AsyncIterator[WorkflowHistory]:
        for history in histories:
            yield history

    async with replayer.workflow_replay_iterator(all_of_them()) as replayed:
        return sum([one.replay_failure is not None async for one in replayed])


def _hesitate(run: Run, move: AskPlanner) -> Turn:
    """A director that waits a second before its first plan."""
    if move.turn == 0:
        return run, BackOff(seconds=1.0, then=dataclasses.replace(move, turn=1))
    return ask_planner(run, move)
