"""What a task is to bring back, read from the screens of its run."""

from typing import Any

import pytest
from pydantic_ai.exceptions import ModelRateLimitError

from midcourse import Agent, Draft, Settings, Task
from midcourse.domain.plan import REPLAN
from midcourse.domain.result import Result
from midcourse.domain.skill import Parameter
from midcourse.llm.model_client import ModelClient
from midcourse.llm.roles.extractor import ModelExtractor
from midcourse.ports.planner import PlanDraft
from midcourse.testing import FakeClock, MemoryStore, Scripted, ScriptedExtractor
from midcourse.testing.conformance.extractor import ExtractorConformance
from midcourse.worlds.base import BaseWorld, Outcome, Scene, Zone, skill
from tests.llm.scripted import ScriptedModel

OUTPUT = (
    Parameter(name="order number", description="as the shop says it"),
    Parameter(name="total", type="number"),
    Parameter(name="express", type="boolean", required=False),
)


class Desk(BaseWorld):
    """Two screens: an order with its number, and then a total."""

    def __init__(self) -> None:
        super().__init__()
        self.page = 0

    def look(self) -> Scene:
        if self.page == 0:
            return Scene("Thank you", Zone(id="n", role="text", label="Your order number is A-4711."))
        return Scene(
            "Account", Zone(id="t", role="text", label="Total: EUR 1.049,50"), Zone(id="b", role="button", label="On")
        )

    @skill(effect="set_state", transition=True)
    def turn(self) -> None:
        self.page += 1

    @skill(effect="read")
    def read(self) -> Outcome:
        return Outcome(data=(("order number", "from the skill"),))


def make_global_draft(name: str) -> Draft:
    return Draft(zone="__global__", skill=name)


TWO_SCREENS = (
    PlanDraft(steps=(make_global_draft("turn"), Draft(zone=REPLAN))),
    PlanDraft(verdict="done"),
)


async def run(model: ScriptedModel, *drafts: PlanDraft, **more: object) -> Result:
    chosen = Settings.load(overrides={name: str(value) for name, value in more.items()})
    planner = Scripted(*(drafts or TWO_SCREENS))
    agent = Agent(
        world=Desk(),
        planner=planner,
        extractor=ModelExtractor(ModelClient([model.model], answer_tokens=500)),
        settings=chosen,
        store=MemoryStore(),
        clock=FakeClock(),
    )
    return await agent.run(Task(goal="Find the order", output=OUTPUT, limits=chosen.limits()))


@pytest.mark.parametrize(
    "answer",
    [
        {"values": [{"name": "order number", "value": "A-4711"}, {"name": "total", "value": "1049.50"}]},
        {"values": {"order number": "A-4711", "total": "1049.5"}},
        {"order number": "A-4711", "total": 1049.5, "express": None},
    ],
    ids=("as it is asked for", "an object of values", "values alone"),
)
async def test_the_output_is_read_from_the_screens_that_plans_were_made_from(answer: dict[str, Any]):
    model = ScriptedModel([answer])
    result = await run(model)
    assert (result.final_reason, result.data, result.missing) == (
        "plan_complete",
        (("order number", "A-4711"), ("total", 1049.5)),
        (),
    )
    assert [(line.role, line.cost.calls) for line in result.spent] == [("planner", 1), ("planner", 1), ("extractor", 1)]
    assert model.prompts[0].index("Account") < model.prompts[0].index("Thank you")


@pytest.mark.parametrize(
    "made_up",
    [
        {"order number": "A-4712"},
        {"total": 1049.49},
        {"total": "1.049,50"},
        {"total": ["1049.5"]},
        {"order number": ""},
        {"nothing": 1},
        {"values": [{"name": "nothing", "value": "On"}]},
        {"values": [{"order number": "A-4711"}]},
        "?",
    ],
)
async def test_a_value_that_no_screen_shows_is_not_in_the_output(made_up: object):
    result = await run(ScriptedModel([made_up]))
    assert (result.final_reason, result.data) == ("plan_complete", ())
    assert result.missing == ("order number", "total")


async def test_what_a_skill_brought_back_is_not_asked_for():
    model = ScriptedModel([{"total": 1049.5}])
    drafts = (
        PlanDraft(steps=(make_global_draft("read"), make_global_draft("turn"), Draft(zone=REPLAN))),
        PlanDraft(verdict="done"),
    )
    result = await run(model, *drafts)
    assert dict(result.data) == {"order number": "from the skill", "total": 1049.5}
    assert "order number string" not in model.prompts[0]


async def test_without_budget_the_output_is_not_read():
    model = ScriptedModel([])
    result = await run(model, max_calls=2)
    assert (result.final_reason, result.missing, model.prompts) == ("plan_complete", ("order number", "total"), [])


async def test_a_rate_limit_is_waited_for():
    busy = ModelRateLimitError("m", "too much", retry_after=30.0)
    result = await run(ScriptedModel([*[busy] * 9, {"total": 1049.5}]))
    assert dict(result.data) == {"total": 1049.5}
    assert result.budget.calls == 3


async def test_a_run_that_fails_is_not_read_from():
    model = ScriptedModel([])
    result = await run(model, PlanDraft(verdict="impossible"))
    assert (result.final_reason, model.prompts) == ("structural_failure", [])


class TestConformance(ExtractorConformance):
    def make_extractor(self) -> ModelExtractor:
        answer = {"order_number": "A-4711", "total": 1.5, "items": 2, "express": True, "state": "sent", "class": "x"}
        return ModelExtractor(ModelClient([ScriptedModel(lambda prompt: answer).model], answer_tokens=500))


class TestConformanceOfTheFake(ExtractorConformance):
    def make_extractor(self) -> ScriptedExtractor:
        return ScriptedExtractor((("order_number", "A-4711"),))
