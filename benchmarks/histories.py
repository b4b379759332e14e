"""What the engine's own histories say of a trial: what was under way when a worker died, and when the run went on."""

import json
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass

from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import Client, WorkflowHistory
from temporalio.worker import Replayer

from midcourse.runtimes.temporal.codec import data_converter
from midcourse.runtimes.temporal.wire import workflow_id
from midcourse.runtimes.temporal.worker import RUNNER
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
    histories: int = 0
    nondeterministic: int = 0


async def replay(histories: Iterable[WorkflowHistory]) -> Replays:
    """Through the workflow of this version again."""
    replayer = Replayer(workflows=[RunWorkflow], workflow_runner=RUNNER, data_converter=data_converter())
    found = Replays()

    async def all_of_them() -> AsyncIterator[WorkflowHistory]:
        for history in histories:
            yield history

    async with replayer.workflow_replay_iterator(all_of_them()) as replayed:
        async for one in replayed:
            failed = one.replay_failure is not None
            found = Replays(histories=found.histories + 1, nondeterministic=found.nondeterministic + failed)
    return found
