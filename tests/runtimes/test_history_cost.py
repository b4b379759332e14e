"""What a run leaves in the engine's history, against the least that any workflow with an activity a step leaves there."""

from dataclasses import dataclass
from typing import Any

import pytest
from temporalio.client import WorkflowHandle
from temporalio.worker import Worker

from midcourse.domain.task import Task
from midcourse.ports.planner import PlanDraft
from midcourse.testing import Scripted
from midcourse.worlds.base import BaseWorld, Scene, Zone, skill
from tests.runtimes.bare import Bare, act_and_observe
from tests.runtimes.fleet import Cast, Fleet, kinds
from tests.scenarios.stage import AGAIN, click, kept, plan

pytestmark = pytest.mark.slow

MOST_BYTES_ABOVE_BARE = 400
MOST_TRANSITIONS = 4.5
MOST_EVENTS = 6.2
"""Three of a workflow task and three of an activity; and now and then something else."""
STEPS = 20


@dataclass(frozen=True, kw_only=True)
class Cost:
    """For each activity. What a run leaves only once, its start and its end, does not count."""

    bytes: float
    transitions: float
    events: float


async def cost_of(handle: WorkflowHandle[Any, Any]) -> Cost:
    history, info = await handle.fetch_history(), (await handle.describe()).raw_info
    activities = kinds(history).count("ACTIVITY_TASK_SCHEDULED")
    once = (history.events[0], history.events[-1])
    return Cost(
        bytes=(info.history_size_bytes - sum(event.ByteSize() for event in once)) / activities,
        transitions=info.state_transition_count / activities,
        events=(len(history.events) - len(once)) / activities,
    )


async def bare(fleet: Fleet) -> Cost:
    async with Worker(fleet.client, task_queue=f"bare-{fleet.tenant}", workflows=[Bare], activities=[act_and_observe]):
        handle = await fleet.client.start_workflow(
            Bare.run, STEPS, id=f"bare-{fleet.tenant}", task_queue=f"bare-{fleet.tenant}"
        )
        await handle.result()
    return await cost_of(handle)


class Turnstile(BaseWorld):
    """Counts who goes through."""

    passed = 0

    def look(self) -> Scene:
        return Scene("Station", Zone(id="gate", role="button", label=f"{self.passed} passed"))

    @skill
    def click(self, zone: Zone) -> None:
        self.passed += 1


async def ours(fleet: Fleet, steps_a_plan: int) -> Cost:
    """As many steps, in plans of this many each."""
    plans = [plan(*[click("gate")] * steps_a_plan, AGAIN)] * (STEPS // steps_a_plan)
    async with fleet.worker():
        who = Cast(world=kept(Turnstile), planner=Scripted(*plans, PlanDraft(verdict="done")), task=Task(goal="Count"))
        handle = await fleet.begin(who)
        result = await handle.result()
    assert (result.final_reason, result.executions) == ("plan_complete", STEPS)
    return await cost_of(fleet.execution(handle.run_id))


@pytest.mark.parametrize("steps_a_plan", [4, 10])
async def test_history_and_transitions_stay_near_the_least_there_is(fleet: Fleet, steps_a_plan: int) -> None:
    least, cost = await bare(fleet), await ours(fleet, steps_a_plan)
    assert cost.bytes - least.bytes <= MOST_BYTES_ABOVE_BARE, (cost, least)
    assert cost.transitions <= MOST_TRANSITIONS, (cost, least)
    assert cost.events <= MOST_EVENTS, (cost, least)
