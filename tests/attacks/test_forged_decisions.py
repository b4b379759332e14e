"""Attack: another account reaches Temporal, which asks nobody for a key, and approves in somebody's name."""

from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest
from temporalio.api.common.v1 import Payload, WorkflowExecution
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import Client, WorkflowUpdateFailedError
from temporalio.common import RawValue

from midcourse.codec import encode
from midcourse.domain.approval import Question
from midcourse.perform.asking import decided
from midcourse.runtimes.temporal.client import RunBroken, RunHandle, connect
from midcourse.runtimes.temporal.wire import UPDATE
from midcourse.sealing import Key
from midcourse.store.postgres import PostgresStore
from tests.runtimes.fleet import Cast, Fleet, effects, order
from tests.runtimes.test_fleet import YES, asking

pytestmark = pytest.mark.slow


@pytest.fixture
async def fleet(temporal: str, postgres: str, tenant: str) -> AsyncGenerator[Fleet]:
    async with PostgresStore(postgres, tenant=tenant) as store:
        client = await connect(temporal, keys=[Key(id="2026", secret=b"k" * 32)])
        yield Fleet(client=client, store=store, tenant=tenant)


async def forge(fleet: Fleet, address: str, run_id: str, word: Payload) -> None:
    """Tell a run something, as whoever has neither key nor password."""
    stranger = await Client.connect(address)
    await stranger.get_workflow_handle(fleet.execution(run_id).id).execute_update(UPDATE, RawValue(word))


def plain(question: Question) -> Payload:
    word = encode(replace(decided(question, YES), by="root"))
    return Payload(metadata={"encoding": b"json/plain"}, data=word.encode())


async def sealed(fleet: Fleet, run_id: str) -> Payload:
    """The one thing that this run was told, as everybody can read it in its history."""
    history = await fleet.history(run_id)
    updates = (event.workflow_execution_update_accepted_event_attributes for event in history.events)
    (accepted,) = (update.accepted_request for update in updates if update.HasField("accepted_request"))
    return accepted.input.args.payloads[0]


async def waiting(fleet: Fleet) -> tuple[RunHandle, Cast, Question]:
    cast, person = asking(order())
    handle = await fleet.begin(cast)
    await fleet.until(handle, "asking")
    return handle, cast, person.questions[-1]


async def test_decision_that_nobody_sealed_is_refused_and_the_run_goes_on(fleet: Fleet, temporal: str):
    async with fleet.worker():
        handle, cast, question = await waiting(fleet)
        with pytest.raises(WorkflowUpdateFailedError) as refused:
            await forge(fleet, temporal, handle.run_id, plain(question))
        assert "Desk lamp" not in str(refused.value.cause)
        assert (await handle.describe()).status == "asking"
        assert effects(cast) == ()
        assert await handle.answer(question, YES) == ""
        assert (await handle.result()).final_reason == "goal_reached"
    assert len(effects(cast)) == 1


async def test_what_was_told_to_one_run_is_refused_by_another_although_it_is_sealed(fleet: Fleet, temporal: str):
    """An approval names its run anyhow; advice, or a word to cancel, would fit any run."""
    async with fleet.worker():
        guided, _, _ = await waiting(fleet)
        assert await guided.guide("Order ten of them") == ""
        word = await sealed(fleet, guided.run_id)
        handle, _, _ = await waiting(fleet)
        with pytest.raises(WorkflowUpdateFailedError):
            await forge(fleet, temporal, handle.run_id, word)
        for each in (guided, handle):
            assert await each.cancel() == ""
            await each.result()
    kinds = [row.event.kind for row in await fleet.store.journal(handle.run_id)]
    assert "guided" not in kinds


async def test_execution_that_a_stranger_resets_orders_nothing_again(fleet: Fleet, temporal: str):
    """Resetting needs no payload. The sealed history is performed again, and the database refuses its first turn."""
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
        with pytest.raises(RunBroken):
            await fleet.runs.handle(handle.run_id).result()
    assert len(effects(cast)) == 1
    result = await fleet.store.result(handle.run_id)
    assert result is not None
    assert result.final_reason == "goal_reached"
