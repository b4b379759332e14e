"""The engine's histories of a trial: all of them replay through the supervisor, and not through a changed one."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias
from unittest.mock import patch

from temporalio import workflow
from temporalio.client import Client, WorkflowHistory
from temporalio.worker import Replayer

from midcourse.runtimes.temporal.codec import data_converter
from midcourse.runtimes.temporal.supervisor import SupervisorWorkflow
from midcourse.runtimes.temporal.wire import Left, workflow_id
from midcourse.runtimes.temporal.worker import NO_BUILD, RUNNER

MOST_CONTROLS = 20
Placing: TypeAlias = Callable[[SupervisorWorkflow], Awaitable[Left]]


async def executions(client: Client, tenant: str, run_id: str) -> list[WorkflowHistory]:
    """All histories of a run, the first one first: it may have continued in new ones."""
    found: list[WorkflowHistory] = []
    execution = None
    while execution != "":
        history = await client.get_workflow_handle(workflow_id(tenant, run_id), run_id=execution).fetch_history()
        found.insert(0, history)
        execution = history.events[0].workflow_execution_started_event_attributes.continued_execution_run_id
    return found


@dataclass(frozen=True, kw_only=True)
class Replays:
    histories: int
    nondeterministic: int
    control: int
    """Histories that were also replayed with a changed supervisor..."""
    control_failed: int
    """...and how often that was noticed."""


async def replay(runs: Sequence[Sequence[WorkflowHistory]]) -> Replays:
    """All histories of these runs, through the workflow of this version again; and some through another one."""
    histories = [history for run in runs for history in run]
    control = [run[0] for run in runs][:MOST_CONTROLS]
    failed = await _failures(histories)
    with patch.object(SupervisorWorkflow, "_place", _hesitate(SupervisorWorkflow._place)):
        noticed = await _failures(control)
    return Replays(histories=len(histories), nondeterministic=failed, control=len(control), control_failed=noticed)


async def _failures(histories: Iterable[WorkflowHistory]) -> int:
    replayer = Replayer(
        workflows=[SupervisorWorkflow], workflow_runner=RUNNER, data_converter=data_converter(), build_id=NO_BUILD
    )

    async def all_of_them() -> AsyncIterator[WorkflowHistory]:
        for history in histories:
            yield history

    async with replayer.workflow_replay_iterator(all_of_them()) as replayed:
        return sum([one.replay_failure is not None async for one in replayed])


def _hesitate(place: Placing) -> Placing:
    """A supervisor that waits a second before it places a driver."""

    async def hesitate(self: SupervisorWorkflow) -> Left:
        await workflow.sleep(1.0)
        return await place(self)

    return hesitate
