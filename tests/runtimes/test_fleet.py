"""Several tenants, several workers, sessions that come and go, sealed payloads, and finding runs by how they stand."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from midcourse.agent.wiring import load_job
from midcourse.domain.approval import Decision
from midcourse.domain.events import Resumed
from midcourse.ports.world import Call
from midcourse.runtimes.temporal.attributes import FINAL_REASON, STATUS, WORLD
from midcourse.runtimes.temporal.client import RunExecution, connect
from midcourse.sealing import Key
from midcourse.store.postgres import PostgresStore
from midcourse.testing import Posts
from midcourse.worlds.base import Outcome
from midcourse.worlds.simulated import Shop
from tests.runtimes.fleet import Cast, Fleet, effects, order

pytestmark = pytest.mark.slow

YES = Decision(verdict="approved")


def asking(cast: Cast) -> tuple[Cast, Posts]:
    person = Posts()
    limits = replace(cast.task.limits, approvals="always")
    return replace(cast, task=replace(cast.task, limits=limits), approver=person), person


# --- tenants


async def test_a_worker_and_a_client_see_the_runs_of_their_own_tenant_only(fleet: Fleet, postgres: str) -> None:
    async with PostgresStore(postgres, tenant=f"{fleet.tenant}-b") as store:
        other = Fleet(client=fleet.client, store=store, tenant=f"{fleet.tenant}-b")
        theirs, _ = asking(order())
        waiting = await other.begin(theirs, "the-same-id")
        async with fleet.worker():
            ours = await fleet.begin(order(), "the-same-id")
            assert (await ours.result()).final_reason == "goal_reached"
            assert await ours.cancel() == "the run has ended: goal_reached"
        assert (await waiting.describe()).status == "running", "no worker serves them"
        assert (await ours.describe()).status == "ended"
        assert await fleet.list_runs() == await other.list_runs() == ["the-same-id"]
        assert effects(theirs) == ()
        await other.execution("the-same-id").terminate()


# --- sessions


async def test_a_worker_drives_no_more_runs_than_it_may_and_every_run_finishes(fleet: Fleet) -> None:
    fleet.placement = replace(fleet.placement, slice_seconds=0.0)
    casts = [order() for _ in range(3)]
    async with fleet.worker(drivers=1, sessions=1):
        handles = await asyncio.gather(*(fleet.begin(cast) for cast in casts))
        results = await asyncio.gather(*(handle.result() for handle in handles))
    assert [result.final_reason for result in results] == ["goal_reached"] * 3
    assert [len(effects(cast)) for cast in casts] == [1] * 3


async def test_a_session_that_is_gone_is_opened_anew_and_planned_for_again(fleet: Fleet) -> None:
    """The world ended with its worker: no other can attach to it."""
    options: Any = load_job("order", {}).file.world.options
    cast, person = asking(replace(order(), world=Shop(**options)))
    async with fleet.worker():
        handle = await fleet.begin(cast)
        await fleet.wait_for_status(handle, "asking")
    async with fleet.worker():
        assert await handle.answer(person.questions[-1], YES) == ""
        assert (await handle.result()).final_reason == "goal_reached"
    rows = await fleet.store.journal(handle.run_id)
    assert [row.event.world for row in rows if isinstance(row.event, Resumed)] == ["reopened"]
    run, _ = await fleet.store.load(handle.run_id)
    assert run.counts.reopenings == 0, "it was closed while the run waited, and did not fail"
    assert "reopened" in [plan.cause for plan in await fleet.store.plans(handle.run_id)]
    assert len(effects(cast)) == 1


class Slow:
    """A world that takes its time to order."""

    def __init__(self, world: Any) -> None:
        self._world = world
        self.ordering = asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._world, name)

    async def act(self, call: Call) -> Outcome:
        if call.skill == "place_order":
            self.ordering.set()
            await asyncio.sleep(1.0)
        return await self._world.act(call)


async def test_a_worker_that_is_told_to_stop_brings_its_act_to_an_end(fleet: Fleet) -> None:
    cast = order()
    slow: Any = Slow(cast.world)
    async with fleet.worker():
        handle = await fleet.begin(replace(cast, world=slow))
        await slow.ordering.wait()
    assert len(effects(cast)) == 1
    async with fleet.worker():
        assert (await handle.result()).final_reason == "goal_reached"
    assert "verified" not in [row.event.kind for row in await fleet.store.journal(handle.run_id)], "nothing is in doubt"
    assert len(effects(cast)) == 1


async def test_an_act_that_outlasts_the_shutdown_is_verified(fleet: Fleet) -> None:
    cast = order()
    slow: Any = Slow(cast.world)
    async with fleet.worker(shutdown_seconds=0.1):
        handle = await fleet.begin(replace(cast, world=slow))
        await slow.ordering.wait()
    async with fleet.worker():
        assert (await handle.result()).final_reason == "goal_reached"
    assert "resumed" in [row.event.kind for row in await fleet.store.journal(handle.run_id)]
    assert len(effects(cast)) == 1


# --- sealed


async def test_temporal_stores_no_readable_content_of_a_sealed_run(fleet: Fleet, temporal: str) -> None:
    fleet.client = await connect(temporal, keys=[Key(id="2026", secret=b"k" * 32)])
    cast, person = asking(order())
    async with fleet.worker():
        handle = await fleet.begin(cast)
        await fleet.wait_for_status(handle, "asking")
        assert await handle.guide("Mind the step") == ""
        other = replace(person.questions[-1], id=99)
        assert await handle.answer(other, YES) == f"question 99 is not open; question {person.questions[-1].id} is"
        assert await handle.answer(person.questions[-1], YES) == ""
        assert (await handle.result()).final_reason == "goal_reached"
    found = str(await (await connect(temporal)).get_workflow_handle(fleet.execution(handle.run_id).id).fetch_history())
    assert "binary/encrypted" in found
    assert [
        word for word in ("place_order", "make_plan", "Checkout", "Mind the step", "goal_reached") if word in found
    ] == ["goal_reached"], "the reason of the end is a search attribute"


# --- finding


async def test_runs_are_found_by_their_status(fleet: Fleet) -> None:
    cast, _ = asking(order())
    async with fleet.worker():
        done = await fleet.begin(order(), "done")
        await done.result()
        waiting = await fleet.begin(cast, "waiting")
        await fleet.wait_for_status(waiting, "asking")
        found = await waiting.describe()
        assert found == RunExecution(
            run="waiting", status="asking", world="shop", final_reason="", waits_for_worker=False
        )
        async with asyncio.timeout(600):
            while await fleet.list_runs(f"{STATUS.name} = 'asking' AND {WORLD.name} = 'shop'") != ["waiting"]:
                await asyncio.sleep(0.05)
        assert await fleet.list_runs(f"{FINAL_REASON.name} = 'goal_reached'") == ["done"]
        await waiting.cancel()
        await waiting.result()
