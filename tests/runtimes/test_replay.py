"""Captured histories replay with the code as it is now; a changed director does not get away with it.

The engine compares the kinds of commands that a workflow gives it, timers and activities and such. It does not look into
them, and to it all that we perform is one activity. So what is sent is compared here, besides.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from temporalio.api.common.v1 import Payloads
from temporalio.client import WorkflowHistory
from temporalio.worker import (
    Interceptor,
    Replayer,
    StartActivityInput,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
    WorkflowOutboundInterceptor,
    WorkflowRunner,
)
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner
from temporalio.workflow import ActivityHandle, NondeterminismError

from midcourse import drive
from midcourse.director.decide import decide
from midcourse.domain.command import Act, Command, Finish, Observe, Wait
from midcourse.domain.event import Event
from midcourse.domain.run import Run
from midcourse.runtimes.temporal.codec import data_converter
from midcourse.runtimes.temporal.wire import Work
from midcourse.runtimes.temporal.worker import RUNNER
from midcourse.runtimes.temporal.workflow import RunWorkflow

HISTORIES = sorted((Path(__file__).parents[1] / "fixtures" / "histories").glob("*.json"))

captured = pytest.mark.parametrize("file", HISTORIES, ids=lambda file: file.stem)


def history(file: Path) -> WorkflowHistory:
    return WorkflowHistory.from_json(file.stem, file.read_text(encoding="utf-8"))


async def replay(file: Path, runner: WorkflowRunner = RUNNER, **more: Any) -> None:
    replayer = Replayer(workflows=[RunWorkflow], data_converter=data_converter(), workflow_runner=runner, **more)
    await replayer.replay_workflow(history(file))


def test_there_are_histories() -> None:
    assert len(HISTORIES) >= 5


@captured
async def test_it_replays(file: Path) -> None:
    await replay(file)


@captured
async def test_it_replays_with_modules_of_its_own(file: Path) -> None:
    """In a sandbox that shares none of our modules, and keeps everything that is not deterministic from them."""
    await replay(file, SandboxedWorkflowRunner())


# --- what is sent


class Watching(Interceptor):
    """Sees all the work that a workflow sends out."""

    def __init__(self) -> None:
        self.sent: list[Work] = []

    def workflow_interceptor_class(self, input: WorkflowInterceptorClassInput) -> type[WorkflowInboundInterceptor]:  # noqa: A002
        sent = self.sent

        class Outbound(WorkflowOutboundInterceptor):
            def start_activity(self, input: StartActivityInput) -> ActivityHandle[Any]:  # noqa: A002
                sent.append(input.args[0])
                return super().start_activity(input)

        class Inbound(WorkflowInboundInterceptor):
            def init(self, outbound: WorkflowOutboundInterceptor) -> None:
                super().init(Outbound(outbound))

        return Inbound


async def sent_then(file: Path) -> list[Work]:
    inputs = [event.activity_task_scheduled_event_attributes.input for event in history(file).events]
    return [work for payloads in inputs if payloads.payloads for work in await _decoded(payloads)]


async def _decoded(payloads: Payloads) -> list[Work]:
    return await data_converter().decode(payloads.payloads, [Work])


async def sent_now(file: Path) -> list[Work]:
    watching = Watching()
    await replay(file, interceptors=[watching])
    return watching.sent


@captured
async def test_it_sends_what_it_sent(file: Path) -> None:
    assert list(map(_without_wording, await sent_now(file))) == list(map(_without_wording, await sent_then(file)))


def _without_wording(work: Work) -> Work:
    """The work without the sentence that says why a run ended: it may be worded better later."""
    return replace(work, command=replace(work.command, detail="")) if isinstance(work.command, Finish) else work


# --- a changed director

Change = Callable[[Command], Command]


def changed(monkeypatch: pytest.MonkeyPatch, change: Change) -> None:
    """A director that wants something else."""

    def other(run: Run, event: Event) -> tuple[Run, tuple[Command, ...]]:
        run, commands = decide(run, event)
        pending = tuple(replace(issued, command=change(issued.command)) for issued in run.pending)
        return replace(run, pending=pending), commands

    monkeypatch.setattr(drive, "decide", other)


def waits_instead_of_acting(command: Command) -> Command:
    return Wait(id=command.id, seconds=0.1) if isinstance(command, Act) else command


def looks_instead_of_acting(command: Command) -> Command:
    return Observe(id=command.id, timeout=command.timeout) if isinstance(command, Act) else command


async def test_a_director_that_does_something_else_does_not_replay(monkeypatch: pytest.MonkeyPatch) -> None:
    changed(monkeypatch, waits_instead_of_acting)
    for file in HISTORIES:
        with pytest.raises(NondeterminismError):
            await replay(file)


async def test_a_director_that_performs_something_else_is_found_out_by_what_it_sends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    changed(monkeypatch, looks_instead_of_acting)
    for file in HISTORIES:
        assert await sent_now(file) != await sent_then(file)
