"""Captured histories of supervisors replay with the workflow as it is now; a changed one is noticed."""

import asyncio
from pathlib import Path

import pytest
from temporalio import workflow
from temporalio.client import WorkflowHistory
from temporalio.worker import Replayer, WorkflowRunner
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner
from temporalio.workflow import NondeterminismError

from midcourse.runtimes.temporal import supervisor
from midcourse.runtimes.temporal.codec import data_converter
from midcourse.runtimes.temporal.supervisor import SupervisorWorkflow
from midcourse.runtimes.temporal.wire import Left
from midcourse.runtimes.temporal.worker import RUNNER

HISTORIES = sorted((Path(__file__).parents[1] / "fixtures" / "histories").glob("*.json"))

captured = pytest.mark.parametrize("file", HISTORIES, ids=lambda file: file.stem)


async def replay(file: Path, runner: WorkflowRunner = RUNNER) -> None:
    # Without `debug_mode` a busy machine that takes two seconds to import our modules in a sandbox is called a deadlock.
    replayer = Replayer(
        workflows=[SupervisorWorkflow], data_converter=data_converter(), workflow_runner=runner, debug_mode=True
    )
    await replayer.replay_workflow(WorkflowHistory.from_json(file.stem, file.read_text(encoding="utf-8")))


@pytest.fixture(scope="module", autouse=True)
def _imports() -> None:
    """Replay once before the first test, so that its time does not contain what Temporal imports then."""
    asyncio.run(replay(HISTORIES[0]))


def test_at_least_five_histories_are_captured() -> None:
    assert len(HISTORIES) >= 5


@captured
async def test_captured_histories_replay(file: Path) -> None:
    await replay(file)


@pytest.mark.slow
@captured
async def test_captured_histories_replay_with_modules_of_their_own(file: Path) -> None:
    """In a sandbox that shares none of our modules, and keeps everything that is not deterministic from them."""
    await replay(file, SandboxedWorkflowRunner())


async def test_a_changed_supervisor_does_not_replay(monkeypatch: pytest.MonkeyPatch) -> None:
    place = supervisor.SupervisorWorkflow._place

    async def hesitate(self: SupervisorWorkflow) -> Left:
        await workflow.sleep(1.0)
        return await place(self)

    monkeypatch.setattr(supervisor.SupervisorWorkflow, "_place", hesitate)
    for file in HISTORIES:
        with pytest.raises(NondeterminismError):
            await replay(file)
