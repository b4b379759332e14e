"""A step that cannot be carried out is dropped from a plan; what would have sent the form without it is not carried out either."""

from pathlib import Path

import pytest

from midcourse.agent.agent import Agent
from midcourse.domain.observation import Observation
from midcourse.domain.plan import Draft
from midcourse.domain.task import Task
from midcourse.ports.planner import PlanDraft, PlanningContext
from midcourse.settings import Settings
from midcourse.store.memory import MemoryStore
from midcourse.testing.scripted import ScriptedReflector
from midcourse.worlds import Browser
from tests.worlds.browser.site import Answer, Site

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

FORM = """<title>Stapler</title><form method="post" action="/basket">
<label>Quantity <input name="quantity" value="1"></label><button>Add to basket</button></form>"""


def find(seen: Observation, label: str) -> str:
    return next(zone.id for zone in seen.zones if zone.label == label)


class Buyer:
    """Names the argument of `type` wrongly, and writes it correctly when told."""

    def __init__(self) -> None:
        self.refused: list[str] = []

    async def plan(self, context: PlanningContext) -> PlanDraft:
        self.refused.append(context.refused)
        if context.observation.surface.title == "Added":
            return PlanDraft(verdict="done")
        argument = "text" if context.refused else "value"
        seen = context.observation
        return PlanDraft(
            steps=(
                Draft(zone=find(seen, "Quantity"), skill="type", arguments={argument: "3"}),
                Draft(zone=find(seen, "Add to basket"), skill="click", transition=False),
            )
        )


async def test_a_form_is_not_sent_without_a_value_that_could_not_be_typed(tmp_path: Path) -> None:
    """The planner is asked once more, immediately and without an adviser, and told what was dropped and why."""
    site, buyer, reflector = (
        Site({"/page": FORM, "/basket": Answer("<title>Added</title>")}),
        Buyer(),
        ScriptedReflector(),
    )
    async with site.served():
        agent = Agent(
            Browser(f"{site.url}/page", quiet_seconds=0.03),
            buyer,
            reflector=reflector,
            store=MemoryStore(),
            settings=Settings.load(overrides={"approvals": "never", "home": str(tmp_path)}),
        )
        result = await agent.run(Task(goal="Put three staplers into the basket"))
    assert [asked.body for asked in site.asked if asked.method == "POST"] == [b"quantity=3"]
    assert result.final_reason == "plan_complete"
    assert buyer.refused[1] == (
        "it could not be used: none of its steps can be carried out: step 1 (type) dropped: no such argument: 'value'; there is text; "
        "cut before step 2 (click): a step that it may rely on was dropped"
    )
    assert (result.budget.error_replans, reflector.contexts) == (0, [])
