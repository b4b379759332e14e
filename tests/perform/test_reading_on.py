"""A text that is too long to be shown whole is read part by part, on a screen that stays the same."""

import pytest

from midcourse.agent.agent import Agent
from midcourse.config.settings import Settings
from midcourse.domain.argument import Scalar
from midcourse.domain.plan import REPLAN, Draft
from midcourse.ports.planner import PlanDraft, PlanningContext
from midcourse.testing import MemoryStore
from midcourse.worlds.base import BaseWorld, Scene, Zone, skill

PART, PARTS = 100, 10


class Book(BaseWorld):
    def look(self) -> Scene:
        return Scene("Book", Zone(id="page", role="text", label="A long text"))

    @skill(effect="read")
    def read(self, zone: Zone) -> dict[str, Scalar]:
        return {"book": "x" * PART * PARTS}


class Reads:
    """Reads the text, then its parts: `again` and again the second one, or one after another until the end."""

    def __init__(self, *, again: bool) -> None:
        self.again = again

    async def plan(self, context: PlanningContext) -> PlanDraft:
        shown = len(context.readings)
        if shown == PARTS:
            return PlanDraft(verdict="done")
        if not shown:
            return PlanDraft(steps=(Draft(zone="page", skill="read"), Draft(zone=REPLAN)))
        start = PART if self.again else shown * PART
        more = Draft(zone="__global__", skill="read_more", arguments=(("name", "book"), ("from", start)))
        return PlanDraft(steps=(more, Draft(zone=REPLAN)))


@pytest.mark.parametrize(("again", "reason"), [(False, "plan_complete"), (True, "replan_exhausted")])
async def test_each_part_of_a_text_is_progress_but_none_twice(again: bool, reason: str) -> None:
    agent = Agent(world=Book(), planner=Reads(again=again), settings=Settings(max_replans=2), store=MemoryStore())
    result = await agent.run("Read the book")
    assert result.final_reason == reason, result.final_detail
    assert (result.planner_calls == PARTS + 1) != again
    assert not result.attempts
