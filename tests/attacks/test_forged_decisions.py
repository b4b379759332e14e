"""Attack: another account reaches Temporal, which needs no key, and approves in the name of another user."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest
from temporalio.api.common.v1 import Payload, WorkflowExecution
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import Client, WorkflowUpdateFailedError
from temporalio.common import RawValue

from midcourse.codec import encode
from midcourse.domain.approval import Question
from midcourse.policy.approval.question import bind_decision
from midcourse.runtimes.temporal.client import RunHandle, connect
from midcourse.runtimes.temporal.wire import WAKE
from midcourse.sealing import Key
from midcourse.store.postgres import PostgresStore
from tests.runtimes.fleet import Cast, Fleet, effects, event_names, order
from tests.runtimes.test_fleet import YES, asking

pytestmark = pytest.mark.slow


@pytest.fixture
async def fleet(temporal: str, postgres: str, tenant: str) -> AsyncGenerator[Fleet]:
    async with PostgresStore(postgres, tenant=tenant) as store:
        client = await connect(temporal, keys=[Key(id="2026", secret=b"k" * 32)])
        yield Fleet(client=client, store=store, tenant=tenant)


async def wake(fleet: Fleet, address: str, run_id: str, message: Payload) -> None:
    """Tell a supervisor that there is a message, as a stranger with neither key nor password."""
    stranger = await Client.connect(address)
    await stranger.get_workflow_handle(fleet.execution(run_id).id).signal(WAKE, RawValue(message))


async def drives(fleet: Fleet, run_id: str) -> int:
    """How often the run was driven, once the supervisor has seen all that it was sent."""
    while True:
        seen = event_names(await fleet.history(run_id))
        tasks = [kind.removeprefix("WORKFLOW_TASK_") for kind in seen if kind.startswith("WORKFLOW_TASK_")]
        if tasks[-1] == "COMPLETED":
            return seen.count("ACTIVITY_TASK_SCHEDULED")
        await asyncio.sleep(0.02)


async def waiting(fleet: Fleet) -> tuple[RunHandle, Cast, Question]:
    cast, person = asking(order())
    handle = await fleet.begin(cast)
    await fleet.wait_for_status(handle, "asking")
    return handle, cast, person.questions[-1]


async def test_a_decision_sent_through_temporal_is_ignored(fleet: Fleet, temporal: str):
    """Decisions are in the database. What a stranger sends is refused, and the run goes on."""
    async with fleet.worker():
        handle, cast, question = await waiting(fleet)
        stranger = await Client.connect(temporal)
        word = encode(replace(bind_decision(question, YES), by="root"))
        with pytest.raises(WorkflowUpdateFailedError):
            await stranger.get_workflow_handle(fleet.execution(handle.run_id).id).execute_update("tell", word)
        before = await drives(fleet, handle.run_id)
        await wake(fleet, temporal, handle.run_id, Payload(metadata={"encoding": b"json/plain"}, data=b"99"))
        assert await drives(fleet, handle.run_id) == before, "a message that is not sealed wakes no run"
        assert (await handle.describe()).status == "asking"
        assert effects(cast) == ()
        assert await handle.answer(question, YES) == ""
        assert (await handle.result()).final_reason == "goal_reached"
    assert len(effects(cast)) == 1


async def test_what_was_sealed_for_one_run_does_not_wake_another(fleet: Fleet, temporal: str):
    async with fleet.worker():
        guided, _, _ = await waiting(fleet)
        assert await guided.guide("Order ten of them") == ""
        signals = (e.workflow_execution_signaled_event_attributes for e in (await fleet.history(guided.run_id)).events)
        # The sweep for lost notifications may have sent the same wake-up again: any of them will do.
        sealed, *_ = (signal.input.payloads[0] for signal in signals if signal.signal_name == WAKE)
        handle, _, _ = await waiting(fleet)
        before = await drives(fleet, handle.run_id)
        await wake(fleet, temporal, handle.run_id, sealed)
        assert await drives(fleet, handle.run_id) == before
        for each in (guided, handle):
            assert await each.cancel() == ""
            await each.result()


async def test_execution_that_a_stranger_resets_orders_nothing_again(fleet: Fleet, temporal: str):
    """Resetting needs no payload. The run is driven again, and its state says that it has ended."""
    async with fleet.worker():
        cast = order()
        handle = await fleet.begin(cast)
        await handle.result()
        stranger = await Client.connect(temporal)
        execution = WorkflowExecution(workflow_id=fleet.execution(handle.run_id).id)
        events = (await fleet.history(handle.run_id)).events
        first_turn = next(
            event.event_id for event in events if event.HasField("workflow_task_completed_event_attributes")
        )
        await stranger.workflow_service.reset_workflow_execution(
            ResetWorkflowExecutionRequest(
                namespace="default",
                workflow_execution=execution,
                reason="again",
                workflow_task_finish_event_id=first_turn,
                request_id=handle.run_id,
            )
        )
        assert (await fleet.runs.handle(handle.run_id).result()).final_reason == "goal_reached"
    assert len(effects(cast)) == 1
