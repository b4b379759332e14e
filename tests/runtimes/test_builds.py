"""A deploy in the middle: runs stay on the build they began on, new ones begin on the new one, and those that continue move."""

import asyncio
from dataclasses import replace

import pytest
from temporalio.service import RPCError, RPCStatusCode

from midcourse.domain.approval import Decision
from midcourse.runtimes.temporal.client import RunHandle
from midcourse.runtimes.temporal.worker import make_current
from midcourse.testing import Posts
from tests.runtimes.fleet import Fleet, effects, order

pytestmark = pytest.mark.slow


async def promote(fleet: Fleet, build: str) -> None:
    """As soon as the engine has heard of it."""
    async with asyncio.timeout(600):
        while True:
            try:
                return await make_current(fleet.client, tenant=fleet.tenant, build=build)
            except RPCError as error:
                if error.status not in (RPCStatusCode.NOT_FOUND, RPCStatusCode.FAILED_PRECONDITION):
                    raise
                await asyncio.sleep(0.05)


async def builds(fleet: Fleet, handle: RunHandle) -> set[str]:
    """Which took turns in the run's last execution, once somebody did."""
    found = set[str]()
    while not found:
        events = (await fleet.history(handle.run_id)).events
        turns = [event.workflow_task_completed_event_attributes for event in events]
        found = {turn.deployment_version.build_id for turn in turns if turn.deployment_version.build_id}
    return found


async def answer(fleet: Fleet, handle: RunHandle, person: Posts) -> None:
    await fleet.until(handle, "asking")
    assert await handle.answer(person.questions[-1], Decision(verdict="approved")) == ""


async def test_a_run_finishes_on_the_build_it_began_on_while_new_ones_begin_on_the_next(fleet: Fleet) -> None:
    person = Posts()
    cast = replace(order(approvals="always"), approver=person)
    async with fleet.worker(build="a"):
        await promote(fleet, "a")
        old = await fleet.begin(cast)
        await fleet.until(old, "asking")
        async with fleet.worker(build="b"):
            await promote(fleet, "b")
            new = await fleet.begin(order())
            assert (await new.result()).final_reason == "goal_reached"
            await answer(fleet, old, person)
            assert (await old.result()).final_reason == "goal_reached"
    assert await builds(fleet, old) == {"a"}
    assert await builds(fleet, new) == {"b"}
    assert len(effects(cast)) == 1


async def test_a_run_that_continues_moves_to_the_current_build(fleet: Fleet) -> None:
    fleet.pace = replace(fleet.pace, continue_after=1, rest_after=1)
    person = Posts()
    cast = replace(order(approvals="always"), approver=person)
    async with fleet.worker(build="a"):
        await promote(fleet, "a")
        handle = await fleet.begin(cast)
        await fleet.until(handle, "asking")
        assert await builds(fleet, handle) == {"a"}
        async with fleet.worker(build="b"):
            await promote(fleet, "b")
            await answer(fleet, handle, person)
            assert (await handle.result()).final_reason == "goal_reached"
    assert await builds(fleet, handle) == {"b"}
    assert (len(person.questions), len(effects(cast))) == (1, 1)
