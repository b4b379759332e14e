"""A real model plans, on both runtimes. What it plans means nothing; that every end is one of ours, and is counted, does."""

from typing import Literal

import pytest
from pydantic import BaseModel

from midcourse import Agent, BaseWorld, Scene, Settings, Task, Zone, skill
from midcourse.agent.models import build_model_planner
from midcourse.domain.budget import Cost
from midcourse.domain.result import Result
from midcourse.llm.model_client import Answered, ModelClient
from midcourse.llm.models import build_models
from midcourse.llm.prompt.template import Prompt
from midcourse.testing import Approves, MemoryStore
from tests.llm.test_local_model import PATIENCE
from tests.local_model import KEY, MODEL
from tests.runtimes.fleet import Cast, Fleet

pytestmark = pytest.mark.slow

ANSWER_TOKENS = 64
ENDS = {"plan_complete", "replan_exhausted", "replan_no_change", "structural_failure", "empty_plan"}


class Lamp(BaseWorld):
    """As little to read as a world can have: each token of a prompt takes the model a while."""

    on = False

    def look(self) -> Scene:
        return Scene("Room", Zone(id="lamp", role="switch", label="Lamp", state=(("on", self.on),)))

    @skill(effect="set_state")
    def turn(self, zone: Zone, on: bool) -> None:
        self.on = on


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def settings_for(url: str, **more: object) -> Settings:
    """One call, and a short answer."""
    usual = {
        "model": f"openai:{MODEL}",
        "model_base_url": url,
        "answer_tokens": ANSWER_TOKENS,
        "max_error_replans": 0,
        "max_outage_seconds": 0,
        "plan_timeout_seconds": PATIENCE,
    }
    return Settings.load(overrides={name: str(value) for name, value in (usual | more).items()})


async def run_locally(settings: Settings) -> Result:
    return await Agent(world=Lamp(), settings=settings, store=MemoryStore()).run("Turn on the lamp")


async def run_in_fleet(settings: Settings, fleet: Fleet) -> Result:
    cast = Cast(
        world=Lamp(),
        planner=build_model_planner(settings.model, settings),
        task=Task(goal="Turn on the lamp", limits=settings.limits()),
        approver=Approves(),
    )
    async with fleet.worker():
        return await (await fleet.begin(cast)).result()


def assert_planned(result: Result) -> None:
    assert result.final_reason in ENDS, result
    assert result.budget.calls >= 1
    assert result.budget.tokens > ANSWER_TOKENS, "prompt and answer, as the server counted them"


class Mood(BaseModel):
    mood: Literal["good", "bad"]


async def test_an_answer_follows_the_schema(local_model: str):
    client = ModelClient(build_models(f"openai:{MODEL}", base_url=local_model), answer_tokens=ANSWER_TOKENS)
    prompt = Prompt(role="planner", version=1, instructions="Say how you are.", parts=("How are you?",))
    reply = await client.ask(prompt, Mood, worst=Cost(calls=1))
    assert isinstance(reply, Answered), reply
    assert (reply.cost.calls, reply.cost.tokens > 10, reply.cost.microusd) == (1, True, 0)


async def test_a_local_model_plans_on_the_local_runtime(local_model: str):
    assert_planned(await run_locally(settings_for(local_model)))


async def test_a_local_model_plans_on_temporal(local_model: str, fleet: Fleet):
    assert_planned(await run_in_fleet(settings_for(local_model), fleet))


async def test_too_slow_is_unreachable_on_the_local_runtime(local_model: str):
    result = await run_locally(settings_for(local_model, plan_timeout_seconds=0.05))
    assert (result.final_reason, result.budget.calls) == ("outage", 0)


async def test_too_slow_is_unreachable_on_temporal(local_model: str, fleet: Fleet):
    result = await run_in_fleet(settings_for(local_model, plan_timeout_seconds=0.05), fleet)
    assert (result.final_reason, result.budget.calls) == ("outage", 0)


async def test_a_wrong_key_ends_the_run_with_the_status(local_model: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "another")
    result = await run_locally(settings_for(local_model))
    assert result.final_reason == "planner_unavailable"
    assert "401" in result.final_detail


async def test_an_unreachable_model_is_an_outage_without_cost():
    result = await run_locally(settings_for("http://127.0.0.1:9/v1"))
    assert (result.final_reason, result.budget.calls) == ("outage", 0)
