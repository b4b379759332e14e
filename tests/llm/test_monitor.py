"""The monitor by a model: what it answers, how errors are handled, and that it is asked only where it is named."""

import pytest
from pydantic_ai.exceptions import ModelServerError

from midcourse.agent.models import build_roles
from midcourse.config.settings import Settings
from midcourse.domain.monitor import Advice
from midcourse.llm.model_client import ModelClient
from midcourse.llm.roles.monitor import ModelMonitor
from midcourse.ports.monitor import Finding
from midcourse.testing.conformance.monitor import CONTEXTS
from tests.llm.scripted import Answer, ScriptedModel


async def review(answer: Answer) -> Finding:
    return await ModelMonitor(ModelClient([ScriptedModel([answer]).model], answer_tokens=500)).review(CONTEXTS[2])


async def test_a_fundamental_problem_becomes_advice() -> None:
    finding = await review({"problem": "unreasonable", "guidance": " This is the wrong window. "})
    assert finding.advice == Advice(problem="unreasonable", says="This is the wrong window.")
    assert finding.cost.calls == 1


@pytest.mark.parametrize(
    "answer",
    [{"problem": "none"}, {"problem": "none", "guidance": "Nice work"}, {"problem": "error", "guidance": " "}],
    ids=["none", "praise", "no words"],
)
async def test_an_answer_without_a_problem_or_guidance_gives_no_advice(answer: Answer) -> None:
    finding = await review(answer)
    assert (finding.verdict, finding.advice) == ("reviewed", None)


@pytest.mark.parametrize(
    "answer",
    ["no idea", {"problem": "taste", "guidance": "Blue is nicer"}, ModelServerError("scripted", "down")],
    ids=["garbage", "another problem", "down"],
)
async def test_an_invalid_or_missing_answer_gives_no_advice(answer: Answer) -> None:
    finding = await review(answer)
    assert (finding.verdict, finding.advice) == ("transport", None)


def test_a_model_monitors_only_if_it_is_named_for_the_role() -> None:
    def watching(**more: str) -> object:
        model = {"model": "openai:any", "model_base_url": "http://127.0.0.1:9/v1"}
        return build_roles(Settings.load(overrides=model | more)).monitor

    assert watching(monitor="path") is None
    assert watching(role_models="monitor=openai:any") is None
    assert isinstance(watching(monitor="path", role_models="monitor=openai:any"), ModelMonitor)
