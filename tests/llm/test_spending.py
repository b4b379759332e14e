"""What a model's calls cost: set aside before, capped while they are made, and accounted for by role, plan and model."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models import Model
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.usage import RequestUsage

from midcourse import Agent, Result, Settings, Task
from midcourse.agent.models import add_call_reserves
from midcourse.agent.roles import RoleModels
from midcourse.agent.start import new_run_of
from midcourse.agent.wiring import decode_job, encode_job, load_job
from midcourse.domain.budget import Cost, Limits
from midcourse.errors import TaskInvalid
from midcourse.llm.model_client import CALL_TOKENS, ModelClient, compute_price, count_affordable_tokens
from midcourse.llm.roles.planner import ModelPlanner
from midcourse.presentation.result import describe_counts
from midcourse.testing import MemoryStore
from midcourse.worlds.simulated.shop import Shop
from tests.llm.scripted import Answer, ScriptedModel
from tests.llm.situations import FIRST

GPT = OpenAIChatModel("gpt-5", provider=OpenAIProvider(api_key="none"))


def make_roles(*models: Model) -> RoleModels:
    return RoleModels(planner=ModelPlanner(ModelClient(models, answer_tokens=8000)))


def make_gpt(*answers: Answer, tokens: tuple[int, int] = (1000, 100)) -> FunctionModel:
    """A model that answers in turn and says what gpt-5 would have billed."""
    return ScriptedModel(list(answers), name="gpt-5", provider="openai", tokens=tokens).model


async def run_with(model: FunctionModel, **settings: object) -> Result:
    loaded = Settings.load(overrides={name: str(value) for name, value in settings.items()})
    planner = ModelPlanner(ModelClient([model], answer_tokens=1000))
    agent = Agent(world=Shop(), planner=planner, settings=loaded, store=MemoryStore())
    return await agent.run(Task(goal="Look around", limits=loaded.limits()))


LOOK = {"steps": [{"zone": "link_basket", "skill": "click"}, {"zone": "__replan__"}]}


async def test_what_was_spent_is_told_by_role_plan_and_model():
    result = await run_with(make_gpt("nonsense", LOOK, {"verdict": "done"}))
    assert [(line.role, line.version, line.model) for line in result.spent] == [
        ("planner", 1, "gpt-5"),
        ("planner", 2, "gpt-5"),
    ]
    assert [line.cost.calls for line in result.spent] == [2, 1]
    assert result.spent[0].cost == Cost(calls=2, tokens=2200, microusd=4500)
    assert (result.budget.tokens, result.budget.cost_usd) == (3300, 0.00675)


async def test_without_being_told_what_the_model_can_cost_at_most_is_set_aside():
    limits = add_call_reserves(Limits(), make_roles(GPT))
    assert limits.plan_tokens == CALL_TOKENS
    assert limits.plan_cost_usd == (52_000 * 1.25 + 8_000 * 10) / 1e6


def test_the_reserve_is_that_of_the_dearest_model():
    cheap = OpenAIChatModel("gpt-5-nano", provider=OpenAIProvider(api_key="none"))
    both = add_call_reserves(Limits(), make_roles(cheap, GPT))
    assert both == add_call_reserves(Limits(), make_roles(GPT))


def test_a_ceiling_in_money_needs_a_price():
    nameless = make_roles(ScriptedModel([]).model)
    assert add_call_reserves(Limits(), nameless).plan_cost_usd == 0.0
    assert add_call_reserves(Limits(max_cost_usd=1.0, plan_cost_usd=0.01), nameless).plan_cost_usd == 0.01
    with pytest.raises(TaskInvalid, match="the price of this model is unknown"):
        add_call_reserves(Limits(max_cost_usd=1.0), nameless)


async def test_a_ceiling_in_money_ends_the_run_before_it_is_reached():
    model = make_gpt(*[LOOK] * 9, tokens=(20_000, 1000))
    result = await run_with(model, max_cost_usd=0.12, plan_cost_usd=0.04, max_segments=50)
    assert (result.final_reason, result.budget.calls) == ("budget_exhausted", 3)
    assert result.budget.cost_usd == pytest.approx(3 * 0.035)


async def test_a_report_above_what_was_set_aside_ends_the_run():
    result = await run_with(make_gpt(LOOK, tokens=(50_000, 100)), max_tokens=100_000, plan_tokens=20_000)
    assert result.final_reason == "budget_exhausted"
    assert result.budget.overrun == Cost(tokens=30_100)


@pytest.mark.parametrize(
    ("worst", "most"),
    [
        (Cost(calls=1), 1000),
        (Cost(calls=1, tokens=60_000), 1000),
        (Cost(calls=1, tokens=60_000, microusd=50_000), 1000),
    ],
)
async def test_an_answer_may_be_as_long_as_what_was_set_aside_allows(worst: Cost, most: int):
    assert await longest_answer(worst) == most


@pytest.mark.parametrize("worst", [Cost(calls=1, tokens=3_200), Cost(calls=1, tokens=60_000, microusd=8_000)])
async def test_an_answer_is_kept_short_where_little_was_set_aside(worst: Cost):
    assert 32 <= await longest_answer(worst) < 1000


async def longest_answer(worst: Cost) -> int:
    scripted = ScriptedModel([{"verdict": "done"}], name="gpt-5")
    scripted.model._system = "openai"  # whose prices count
    await ModelPlanner(ModelClient([scripted.model], answer_tokens=1000)).plan(replace(FIRST, worst=worst))
    settings = scripted.infos[0].model_settings
    assert settings is not None
    return settings.get("max_tokens", 0)


async def test_a_prompt_above_the_reserve_is_not_sent():
    scripted = ScriptedModel([])
    planner = ModelPlanner(ModelClient([scripted.model], answer_tokens=100))
    draft = await planner.plan(replace(FIRST, worst=Cost(calls=1, tokens=500)))
    assert (draft.verdict, draft.cost, scripted.prompts) == ("garbage", Cost(), [])


def test_costs_are_computed_from_the_price_of_the_model():
    assert compute_price(GPT, tokens_in=1_000_000, tokens_out=0) == 1_250_000
    assert count_affordable_tokens(GPT, tokens_in=0, microusd=10_000) == 1000
    assert count_affordable_tokens(GPT, tokens_in=1_000_000, microusd=10_000) < 0
    assert count_affordable_tokens(ScriptedModel([]).model, tokens_in=10**9, microusd=1) > 10**5


async def test_model_without_usage_is_charged_the_reserve():
    usage = RequestUsage()
    usage.unmeasured_requests = 1
    silent = ModelResponse(parts=[TextPart(content='{"verdict": "done"}')], usage=usage)
    result = await run_with(make_gpt(silent, silent), plan_tokens=20_000)
    assert (result.budget.calls, result.budget.tokens) == (2, 40_000)


def test_a_task_file_is_run_with_what_its_model_can_cost(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
    file = tmp_path / "look.toml"
    file.write_text('goal = "Look"\n[world]\nname = "shop"\n[planner]\nmodel = "openai:gpt-5"\n')
    job = decode_job(encode_job(load_job(str(file), {})))
    assert new_run_of(job, "run")[1].limits.plan_tokens == CALL_TOKENS + 8_000  # it thinks
    assert new_run_of(load_job("order", {}), "run")[1].limits.plan_tokens == 0


async def test_a_call_that_is_cut_off_costs_at_most_what_was_sent():
    """And not all that was set aside for it, which no ceiling would survive twice."""

    async def think(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        await asyncio.sleep(60)
        raise AssertionError

    slow = FunctionModel(think, model_name="gpt-5")
    result = await run_with(slow, plan_timeout_seconds=0.05, max_outage_seconds=0.01)
    assert result.budget.at_most
    (line,) = result.spent
    assert (line.role, line.cost.calls, line.cost.at_most) == ("planner", 0, True)
    assert 1000 < line.cost.tokens < CALL_TOKENS / 4
    assert "at most" in describe_counts(result)


async def test_a_provider_that_breaks_off_is_charged_what_was_sent():
    model = ScriptedModel([ModelHTTPError(502, "gpt-5")], name="gpt-5").model
    draft = await ModelPlanner(ModelClient([model], answer_tokens=1000)).plan(replace(FIRST, worst=Cost(tokens=60_000)))
    assert draft.cost.at_most
    assert 1000 < draft.cost.tokens < CALL_TOKENS / 4
