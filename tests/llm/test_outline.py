"""Outliner and progress judge by a model: what it answers, how errors are handled, and a run in which it is both."""

import pytest
from pydantic_ai.exceptions import ModelServerError

from midcourse import Agent, Settings
from midcourse.domain.outline import CoarseGoal, Outline
from midcourse.llm.model_client import ModelClient
from midcourse.llm.roles.judge import ModelJudge
from midcourse.llm.roles.outliner import ModelOutliner
from midcourse.ports.judge import ProgressContext
from midcourse.ports.outliner import OutliningContext
from midcourse.testing import MemoryStore
from midcourse.testing.models import ModelServer
from midcourse.worlds.simulated.shop import Shop
from tests.llm.scripted import Answer, ScriptedModel
from tests.llm.situations import FIRST, TASK

OUTLINE = Outline(goals=(CoarseGoal(says="Explore the catalogue"), CoarseGoal(says="Find the basket")))


def make_client(answer: Answer) -> ModelClient:
    return ModelClient([ScriptedModel([answer]).model], answer_tokens=500)


async def test_goals_of_the_answer_become_the_outline() -> None:
    outliner = ModelOutliner(make_client({"goals": ["Explore the shop", "Click Buy"], "why": "so"}))
    draft = await outliner.outline(OutliningContext(task=TASK, observation=FIRST.observation))
    assert (draft.verdict, draft.goals, draft.cost.calls) == ("goals", ("Explore the shop", "Click Buy"), 1)


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [({"goals": []}, "gave_up"), ("no idea", "garbage"), (ModelServerError("scripted", "down"), "transport")],
    ids=["none", "garbage", "down"],
)
async def test_an_answer_without_goals_has_its_verdict(answer: Answer, verdict: str) -> None:
    draft = await ModelOutliner(make_client(answer)).outline(OutliningContext(task=TASK, observation=FIRST.observation))
    assert (draft.verdict, draft.goals) == (verdict, ())


async def test_the_judge_names_the_current_goal_and_its_evidence() -> None:
    judge = ModelJudge(make_client({"current": 2, "evidence": "Catalogue"}))
    judgement = await judge.judge(ProgressContext(task=TASK, outline=OUTLINE, observation=FIRST.observation))
    assert (judgement.verdict, judgement.current, judgement.evidence) == ("judged", 2, "Catalogue")


async def test_the_judge_asks_no_model_if_the_screen_is_called_what_the_goal_names() -> None:
    outline = Outline(
        goals=(*OUTLINE.goals, CoarseGoal(says="Find the checkout"), CoarseGoal(says="Look at the order"))
    )
    model = ScriptedModel([])
    judge = ModelJudge(ModelClient([model.model], answer_tokens=500))
    judgement = await judge.judge(ProgressContext(task=TASK, outline=outline, observation=FIRST.observation))
    assert (judgement.current, judgement.evidence, judgement.cost.calls, model.prompts) == (4, "Checkout", 0, [])


async def test_a_link_to_what_a_goal_names_does_not_decide_for_the_model() -> None:
    outline = Outline(goals=(CoarseGoal(says="Explore the catalogue"),))
    assert any(zone.label == "Catalogue" for zone in FIRST.observation.zones)
    judgement = await ModelJudge(make_client({"current": 1, "evidence": ""})).judge(
        ProgressContext(task=TASK, outline=outline, observation=FIRST.observation)
    )
    assert (judgement.current, judgement.cost.calls) == (1, 1)


async def test_an_unreadable_judgement_has_no_evidence() -> None:
    judgement = await ModelJudge(make_client("two?")).judge(
        ProgressContext(task=TASK, outline=OUTLINE, observation=FIRST.observation)
    )
    assert (judgement.verdict, judgement.evidence) == ("transport", "")


def test_the_model_that_plans_draws_the_outline_too() -> None:
    answers = [{"goals": ["Explore the shop"]}, {"verdict": "done", "reason": "nothing to do"}]
    with ModelServer(answers) as server:
        settings = Settings(model="openai:any", model_base_url=server.url, outline="on")
        result = Agent(world=Shop(), settings=settings, store=MemoryStore()).run_sync("Is there anything to do?")
    assert result.success
    assert [line.role for line in result.spent] == ["outliner", "planner"]
