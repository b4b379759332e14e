"""A worker that is busy with a step sends heartbeats and does not count as lost."""

import asyncio
from dataclasses import replace

from midcourse.domain.task import Task
from midcourse.testing import Scripted
from midcourse.worlds.base import BaseWorld, Scene, Zone, skill
from tests.runtimes.fleet import Cast, Fleet, event_names
from tests.scenarios.stage import click, keep_session, plan

HEARTBEAT = 1.5


class Gate(BaseWorld):
    """Opens slowly."""

    open_now = False

    def look(self) -> Scene:
        return Scene("Station", Zone(id="gate", role="button", label="open" if self.open_now else "shut"))

    @skill
    async def click(self, zone: Zone) -> None:
        await asyncio.sleep(2 * HEARTBEAT)
        self.open_now = True


async def test_a_step_may_take_longer_than_a_worker_may_be_silent(fleet: Fleet) -> None:
    fleet.placement = replace(fleet.placement, heartbeat_seconds=HEARTBEAT)
    cast = Cast(world=keep_session(Gate), planner=Scripted(plan(click("gate"), final=True)), task=Task(goal="Open it"))
    async with fleet.worker():
        handle = await fleet.begin(cast)
        result = await handle.result()
    assert (result.final_reason, result.executions) == ("plan_complete", 1)
    assert "ACTIVITY_TASK_TIMED_OUT" not in event_names(await fleet.history(handle.run_id))
