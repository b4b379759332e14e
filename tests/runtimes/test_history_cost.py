"""The Temporal history of a run does not grow with its steps."""

import pytest

from midcourse.domain.task import Task
from midcourse.ports.planner import PlanDraft
from midcourse.testing import Scripted
from midcourse.worlds.base import BaseWorld, Scene, Zone, skill
from tests.runtimes.fleet import Cast, Fleet
from tests.scenarios.stage import AGAIN, click, keep_session, plan

pytestmark = pytest.mark.slow

MOST_BYTES = 3000
MOST_TRANSITIONS = 10
MOST_EVENTS = 14
STEPS = 20


class Turnstile(BaseWorld):
    """Counts who goes through."""

    passed = 0

    def look(self) -> Scene:
        return Scene("Station", Zone(id="gate", role="button", label=f"{self.passed} passed"))

    @skill
    def click(self, zone: Zone) -> None:
        self.passed += 1


@pytest.mark.parametrize("steps_a_plan", [4, 10])
async def test_history_and_transitions_do_not_grow_with_the_steps(fleet: Fleet, steps_a_plan: int) -> None:
    plans = [plan(*[click("gate")] * steps_a_plan, AGAIN)] * (STEPS // steps_a_plan)
    async with fleet.worker():
        who = Cast(
            world=keep_session(Turnstile), planner=Scripted(*plans, PlanDraft(verdict="done")), task=Task(goal="Count")
        )
        handle = await fleet.begin(who)
        result = await handle.result()
    assert (result.final_reason, result.executions) == ("plan_complete", STEPS)
    info = (await fleet.execution(handle.run_id).describe()).raw_info
    assert info.history_size_bytes <= MOST_BYTES
    assert info.state_transition_count <= MOST_TRANSITIONS
    assert info.history_length <= MOST_EVENTS
