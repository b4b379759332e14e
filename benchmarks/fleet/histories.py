"""Temporal's histories of a trial: all of them must replay with the supervisor, and none with a changed one."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias
from unittest.mock import patch

from temporalio import workflow
from temporalio.client import Client, WorkflowHistory
from temporalio.worker import Replayer

from midcourse.runtimes.temporal.codec import data_converter
from midcourse.runtimes.temporal.supervisor import SupervisorWorkflow
from midcourse.runtimes.temporal.wire import Left, name_workflow
from midcourse.runtimes.temporal.worker import NO_BUILD, RUNNER

MAX_CONTROLS = 20
Placing: TypeAlias = Callable[[SupervisorWorkflow], Awaitable[Left]]


async def fetch_histories(client: Client, tenant: str, run_id: str) -> list[WorkflowHistory]:
    """Fetch all histories of a run, oldest first: a run may continue as new."""
    found: list[WorkflowHistory] = []
    execution = None
    while execution != "":
        history = await client.get_workflow_handle(name_workflow(tenant, run_id), run_id=execution).fetch_history()
        found.insert(0, history)
        execution = history.events[0].workflow_execution_started_event_attributes.continued_execution_run_id
    return found


@dataclass(frozen=True, kw_only=True)
class Replays:
    histories: int
    nondeterministic: int
    control: int
    """Histories that were also replayed with a changed supervisor."""
    control_failed: int
    """Those of them that failed to replay, as they must."""


async def replay(runs: Sequence[Sequence[WorkflowHistory]]) -> Replays:
    """Replay all histories of these runs with the current workflow, and some with a changed one as a control."""
    histories = [history for run in runs for history in run]
    control = [run[0] for run in runs][:MAX_CONTROLS]
    failed = await _count_failures(histories)
    with patch.object(SupervisorWorkflow, "_place", _hesitate(SupervisorWorkflow._place)):
        control_failures = await _count_failures(control)
    return Replays(
        histories=len(histories), nondeterministic=failed, control=len(control), control_failed=control_failures
    )


async def _count_failures(histories: Iterable[WorkflowHistory]) -> int:
    replayer = Replayer(
        workflows=[SupervisorWorkflow], workflow_runner=RUNNER, data_converter=data_converter(), build_id=NO_BUILD
    )

    async def yield_histories() -> AsyncIterator[WorkflowHistory]:
        for history in histories:
            yield history

    async with replayer.workflow_replay_iterator(yield_histories()) as replayed:
        return sum([result.replay_failure is not None async for result in replayed])


def _hesitate(place: Placing) -> Placing:
    """Return a changed `_place` that waits a second before it places a driver."""

    async def hesitate(self: SupervisorWorkflow) -> Left:
        await workflow.sleep(1.0)
        return await place(self)

    return hesitate
