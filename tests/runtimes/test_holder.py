"""Who performs a command: the worker that holds the world's session, whether it drives the run or not."""

from dataclasses import replace

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from midcourse.domain.approval import Decision
from midcourse.domain.command import Observe
from midcourse.perform import Ports
from midcourse.runtimes.temporal.activities import Activities
from midcourse.runtimes.temporal.client import connect
from midcourse.runtimes.temporal.wire import ELSEWHERE, Work
from midcourse.testing import Posts
from tests.runtimes.fleet import Fleet, effects, kinds, order


async def test_a_worker_turns_down_what_is_for_another_and_touches_nothing(fleet: Fleet) -> None:
    async def nobody(run_id: str) -> Ports:
        raise AssertionError("it looked for the world")

    activities = Activities(store=fleet.store, ports_for=nobody, name="this", most_sessions=1)
    work = Work(command=Observe(id=1, timeout=1.0), seq=2, holder="another")
    with pytest.raises(ApplicationError) as refused:
        await ActivityEnvironment().run(activities.perform, work)
    assert (refused.value.type, refused.value.non_retryable) == (ELSEWHERE, True)


async def test_a_session_stays_with_its_holder_when_another_worker_drives_on(fleet: Fleet, temporal: str) -> None:
    person = Posts()
    cast = replace(order(approvals="always"), approver=person)
    fleet.pace = replace(fleet.pace, session_seconds=60.0)
    elsewhere = replace(fleet, client=await connect(temporal), casts={})
    async with fleet.worker() as holder:
        handle = await fleet.begin(cast)
        await fleet.until(handle, "asking")
        await holder._shared.shutdown()  # from now on it drives nothing, and is found by its own queue only
        async with elsewhere.worker():
            assert await handle.answer(person.questions[-1], Decision(verdict="approved")) == ""
            assert (await handle.result()).final_reason == "goal_reached"
    assert len(effects(cast)) == 1
    assert kinds(await fleet.history(handle.run_id)).count("ACTIVITY_TASK_FAILED") == 1, "asked once, then known"
