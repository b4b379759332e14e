"""Planning with a model, from the prompt to the order in the shop's own log."""

from dataclasses import replace
from pathlib import Path

from midcourse import Agent, Probe, Settings, Task
from midcourse.domain.argument import Reference
from midcourse.llm.model_client import ModelClient
from midcourse.llm.roles.planner import ModelPlanner
from midcourse.testing import MemoryStore
from midcourse.testing.conformance.planner import PlannerConformance
from midcourse.worlds.simulated.shop import Shop
from tests.llm.scripted import ScriptedModel

ORDER = {
    "Catalogue": {
        "steps": [
            {"zone": "product_desk-lamp", "skill": "set_quantity", "arguments": {"quantity": 1}},
            {"zone": "__global__", "skill": "go", "arguments": {"page": "checkout"}},
            {"zone": "__replan__"},
        ]
    },
    "Checkout": {
        "steps": [
            {"zone": "field_address", "skill": "fill", "arguments": {"text": "1 Harbour Street"}},
            {"zone": "field_reference", "skill": "fill", "arguments": {"text": "$input.reference"}},
            {
                "zone": "place_order",
                "skill": "place_order",
                "expect": {"page": "Thank you*"},
                "probe": {"name": "order_placed", "arguments": {"reference": "$input.reference"}},
            },
        ]
    },
    "Thank you for your order": {"verdict": "done"},
}
TASK = Task(
    goal="Order one desk lamp",
    inputs=(("reference", "PO-1001"),),
    done_when=Probe(name="order_placed", arguments=(("reference", Reference(source="input", name="reference")),)),
)


def make_planner(scripted: ScriptedModel) -> ModelPlanner:
    return ModelPlanner(ModelClient([scripted.model], answer_tokens=1000))


async def test_a_model_plans_an_order_that_is_placed_once(tmp_path: Path):
    scripted, shop = ScriptedModel(ORDER), Shop(effects=str(tmp_path / "effects.jsonl"))
    settings = Settings(approvals="never")
    agent = Agent(world=shop, planner=make_planner(scripted), settings=settings, store=MemoryStore())
    result = await agent.run(replace(TASK, limits=settings.limits()))
    assert (result.final_reason, result.verified) == ("goal_reached", True)
    assert (tmp_path / "effects.jsonl").read_text().count("PO-1001") == 1
    assert (result.budget.calls, result.budget.tokens) == (3, 360)
    assert "product_desk-lamp product" in scripted.prompts[0]
    assert "product_desk-lamp product" not in scripted.prompts[1]


class TestConformance(PlannerConformance):
    def make_planner(self) -> ModelPlanner:
        return make_planner(ScriptedModel(lambda prompt: {"steps": [{"zone": "z1", "skill": "press"}]}))
