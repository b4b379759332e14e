"""Runs under a supervisor: placed, signalled, resting, woken and handed over."""

import asyncio
import random
import time
from dataclasses import replace
from typing import Any

import pytest

from midcourse.domain.approval import Decision
from midcourse.domain.events import ApprovalDecided, Guided
from midcourse.policy.approval.question import bind_decision
from midcourse.runtimes.temporal import worker
from midcourse.runtimes.temporal.wire import Placement
from midcourse.store.postgres import PostgresStore
from midcourse.testing import Posts
from tests.runtimes.fleet import Cast, Fleet, effects, event_names, order

pytestmark = pytest.mark.slow

YES = Decision(verdict="approved")


@pytest.fixture
async def fleet(fleet: Fleet) -> Fleet:
    fleet.placement = Placement(heartbeat_seconds=60.0)
    return fleet


def asking(**limits: Any) -> tuple[Cast, Posts]:
    """An order that has to be approved, and the approver."""
    approver = Posts()
    return replace(order(approvals="always", **limits), approver=approver), approver


async def journal(fleet: Fleet, run_id: str) -> list[str]:
    """The kinds of all events, which have no gaps, and lead to the stored state."""
    rows = await fleet.store.journal(run_id)
    assert [row.seq for row in rows] == list(range(1, len(rows) + 1))
    run, _ = await fleet.store.load(run_id)
    assert run.seq == len(rows)
    return [row.event.kind for row in rows]


async def test_an_order_is_placed_once_and_everything_is_stored(fleet: Fleet) -> None:
    cast = order()
    async with fleet.worker():
        handle = await fleet.begin(cast)
        result = await handle.result()
    assert (result.success, result.verified, result.final_reason) == (True, True, "goal_reached")
    assert len(effects(cast)) == 1
    happened = await journal(fleet, handle.run_id)
    assert (happened[:3], happened[-1]) == (["started", "world_opened", "observed"], "finished")
    assert [(one.id, one.phase, one.final_reason) for one in await fleet.store.runs()] == [
        (handle.run_id, "ended", "goal_reached")
    ]
    assert event_names(await fleet.history(handle.run_id)).count("ACTIVITY_TASK_SCHEDULED") == 1


async def test_a_fleet_without_workers_is_noticed_and_takes_messages(fleet: Fleet) -> None:
    cast = order()
    handle = await fleet.begin(cast)
    assert (await handle.describe()).waits_for_worker
    assert not await fleet.runs.has_workers()
    assert await handle.guide("Be quick") == ""
    async with fleet.worker():
        assert (await handle.result()).success
        assert await fleet.runs.has_workers()
    assert not (await handle.describe()).waits_for_worker
    assert "guided" in await journal(fleet, handle.run_id)
    assert await fleet.runs.handle("no-such-run").cancel() == "run no-such-run is not driven here"


async def test_a_question_waits_for_its_answer_and_takes_no_other(fleet: Fleet) -> None:
    cast, approver = asking()
    async with fleet.worker():
        handle = await fleet.begin(cast)
        await fleet.wait_for_status(handle, "asking")
        (question,) = approver.questions
        before = await fleet.history(handle.run_id)
        other = question.id + 1
        assert (
            await handle.answer(replace(question, id=other), YES)
            == f"question {other} is not open; question {question.id} is"
        )
        assert len((await fleet.history(handle.run_id)).events) == len(before.events), "refused, and nothing was woken"
        assert await handle.answer(question, YES) == ""
        assert (await handle.result()).final_reason == "goal_reached"
        assert "the run has ended" in await handle.answer(question, YES)
    assert len(effects(cast)) == 1
    assert "resumed" not in await journal(fleet, handle.run_id), "it rested with nothing under way"


async def test_pause_guidance_and_resume_are_in_the_journal_at_their_places(fleet: Fleet) -> None:
    cast, approver = asking()
    async with fleet.worker():
        handle = await fleet.begin(cast)
        await fleet.wait_for_status(handle, "asking")
        assert await handle.pause() == ""
        assert await handle.answer(approver.questions[-1], YES) == ""
        await fleet.wait_for_status(handle, "paused")
        assert await handle.guide("Be quick") == ""
        assert effects(cast) == ()
        assert await handle.resume() == ""
        assert (await handle.result()).final_reason == "goal_reached"
    happened = await journal(fleet, handle.run_id)
    place = happened.index("person_asked")
    assert happened[place : place + 7] == [
        "person_asked",
        "pause_asked",
        "approval_decided",
        "recorded",
        "guided",
        "resume_asked",
        "observed",
    ]


async def test_what_an_approver_decides_on_the_spot_is_on_record(fleet: Fleet) -> None:
    cast = order(approvals="always")
    async with fleet.worker():
        handle = await fleet.begin(cast)
        assert (await handle.result()).final_reason == "goal_reached"
    assert len(await fleet.store.asked_consequences(handle.run_id)) == 1


@pytest.mark.parametrize("through", ["a message", "the engine"])
async def test_a_cancel_ends_the_run_and_writes_its_result(fleet: Fleet, through: str) -> None:
    cast, _ = asking()
    async with fleet.worker():
        handle = await fleet.begin(cast)
        await fleet.wait_for_status(handle, "asking")
        if through == "a message":
            assert await handle.cancel() == ""
        else:
            await fleet.execution(handle.run_id).cancel()
        assert (await handle.result()).final_reason == "cancelled"
    assert effects(cast) == ()
    assert (await handle.describe()).final_reason == "cancelled"


async def test_an_approval_needs_no_worker_and_no_signal(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is posted while no worker runs, and found by the next one."""
    monkeypatch.setattr(worker, "SWEEP_SECONDS", 0.05)
    cast, approver = asking()
    async with fleet.worker():
        handle = await fleet.begin(cast)
        await fleet.wait_for_status(handle, "asking")
    posted = await fleet.store.post(handle.run_id, await decision(fleet, handle.run_id))
    assert (posted.number, posted.resting) == (1, True)
    async with fleet.worker():
        assert (await handle.result()).final_reason == "goal_reached"
    assert len(effects(cast)) == 1
    assert len(approver.questions) == 1


async def test_a_worker_with_one_connection_hears_messages(fleet: Fleet, postgres: str) -> None:
    cast, approver = asking()
    async with PostgresStore(postgres, tenant=fleet.tenant, connections=1) as store:
        fleet.store = store
        async with fleet.worker():
            handle = await fleet.begin(cast)
            await fleet.wait_for_status(handle, "asking")
            assert await handle.answer(approver.questions[-1], YES) == ""
            assert (await handle.result()).final_reason == "goal_reached"


async def test_a_stopping_worker_hands_its_runs_over(fleet: Fleet) -> None:
    cast = order()
    async with fleet.worker():
        handle = await fleet.begin(cast)
        while len(await fleet.store.journal(handle.run_id)) < 3:
            await asyncio.sleep(0.01)
    assert await fleet.store.result(handle.run_id) is None
    async with fleet.worker():
        assert (await handle.result()).final_reason == "goal_reached"
    assert len(effects(cast)) == 1
    assert "resumed" not in await journal(fleet, handle.run_id)


async def test_a_run_in_slices_is_the_same_run(fleet: Fleet) -> None:
    """The only driver that the worker has room for hands it over after every turn."""
    fleet.placement = Placement(heartbeat_seconds=60.0, slice_seconds=0.0)
    cast = order()
    async with fleet.worker(drivers=1):
        handle = await fleet.begin(cast)
        assert (await handle.result()).final_reason == "goal_reached"
    assert len(effects(cast)) == 1
    assert "resumed" not in await journal(fleet, handle.run_id)
    assert event_names(await fleet.history(handle.run_id)).count("ACTIVITY_TASK_SCHEDULED") > 3


async def test_no_message_is_lost_with_half_of_all_wake_ups(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages at random moments to runs that rest and wake, while every other notification and signal is dropped."""
    monkeypatch.setattr(worker, "SWEEP_SECONDS", 0.05)
    chance = random.Random(7)
    ring = worker.Drivers.ring
    monkeypatch.setattr(worker.Drivers, "ring", lambda self, run_id: chance.random() < 0.5 and ring(self, run_id))

    async def play() -> None:
        cast, _ = asking()
        handle = await fleet.begin(cast)
        await fleet.wait_for_status(handle, "asking")
        for number in range(8):
            await asyncio.sleep(chance.random() * 0.1)
            if chance.random() < 0.5:
                assert await handle.guide(f"hint {number}") == ""
            else:
                assert not (
                    await fleet.store.post(handle.run_id, Guided(text=f"hint {number}", at=time.time()))
                ).refused
        assert not (await fleet.store.post(handle.run_id, await decision(fleet, handle.run_id))).refused
        assert (await handle.result()).final_reason == "goal_reached"
        happened = await journal(fleet, handle.run_id)
        assert happened.count("guided") == 8
        assert len(effects(cast)) == 1

    async with fleet.worker():
        await asyncio.gather(*(play() for _ in range(6)))


async def test_a_question_expires_without_a_timer_of_its_own(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers find in the store that its time is over, one statement for all runs of the tenant."""
    monkeypatch.setattr(worker, "SWEPT_FROM", 0.0)
    monkeypatch.setattr(worker, "DUE_SECONDS", 0.0)
    monkeypatch.setattr(worker, "SWEEP_SECONDS", 0.1)
    casts = [asking(approval_seconds=4.0)[0] for _ in range(3)]
    async with fleet.worker():
        handles = [await fleet.begin(cast) for cast in casts]
        results = [await handle.result() for handle in handles]
    assert [(one.final_reason, len(effects(cast))) for one, cast in zip(results, casts, strict=True)] == [
        ("rejected", 0)
    ] * 3
    for handle in handles:
        happened = event_names(await fleet.history(handle.run_id))
        assert "TIMER_STARTED" not in happened
        assert happened.count("WORKFLOW_EXECUTION_SIGNALED") == 1


async def decision(fleet: Fleet, run_id: str) -> ApprovalDecided:
    question = await fleet.store.open_question(run_id)
    assert question is not None
    return replace(bind_decision(question, YES), at=time.time())
