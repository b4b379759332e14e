"""The reflector by a model: what it answers, how errors are handled, and what explains failures where none is named."""

import pytest
from pydantic_ai.exceptions import ModelServerError

from midcourse.agent.models import add_call_reserves, build_roles
from midcourse.config.settings import Settings
from midcourse.domain.budget import Limits
from midcourse.domain.reflection import Analysis, Fix, Reflection
from midcourse.errors import TaskInvalid
from midcourse.llm.model_client import ModelClient
from midcourse.llm.roles.reflector import ModelReflector
from midcourse.ports.planner import PlanDraft
from midcourse.ports.reflector import Explanation
from midcourse.testing import Scripted
from midcourse.testing.conformance.reflector import STEP
from tests.llm.scripted import Answer, ScriptedModel

SAID: Answer = {
    "root_cause": "The folder is protected",
    "contributing_factors": ["nobody looked at its rights"],
    "severity": "LOW",
    "preventable": True,
    "fix": "Write elsewhere",
    "changes": ["take /home"],
}


async def explain(answer: Answer) -> Explanation:
    return await ModelReflector(ModelClient([ScriptedModel([answer]).model], answer_tokens=500)).reflect(STEP)


async def test_cause_factors_severity_and_preventability_are_the_models_and_the_type_is_not() -> None:
    found = await explain(SAID)
    assert found.reflection == Reflection(
        analysis=Analysis(
            error_type="permission",
            severity="LOW",
            root_cause="The folder is protected",
            contributing_factors=("nobody looked at its rights",),
            preventable=True,
        ),
        fix=Fix(message="Write elsewhere", changes=("take /home",)),
        by="model",
    )
    assert found.cost.calls == 1


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ("no idea", "garbage"),
        ({"root_cause": "x", "severity": "AWFUL"}, "garbage"),
        ({"severity": "LOW"}, "garbage"),
        (ModelServerError("scripted", "down"), "transport"),
    ],
    ids=["garbage", "another severity", "no cause", "down"],
)
async def test_an_invalid_or_missing_answer_is_no_explanation(answer: Answer, verdict: str) -> None:
    found = await explain(answer)
    assert (found.verdict, found.reflection) == (verdict, None)


def load_settings(**more: str) -> Settings:
    return Settings.load(overrides={"model": "openai:gpt-5", "model_base_url": "http://127.0.0.1:9/v1", **more})


def test_the_model_that_plans_explains_failures_unless_rules_are_asked_for() -> None:
    assert isinstance(build_roles(load_settings()).reflector, ModelReflector)
    assert build_roles(load_settings(role_models="reflector=rules")).reflector is None
    assert build_roles(load_settings(model=""), planner=Scripted(PlanDraft(verdict="done"))).reflector is None


@pytest.mark.parametrize("role", ["planner", "outliner"])
def test_a_role_without_rules_cannot_be_left_to_them(role: str) -> None:
    with pytest.raises(TaskInvalid, match="rules"):
        build_roles(load_settings(role_models=f"{role}=rules"))


def test_the_reserve_of_a_call_includes_the_reflectors_model() -> None:
    usual = add_call_reserves(Limits(), build_roles(load_settings(model="openai:gpt-5-mini")))
    dear = add_call_reserves(
        Limits(), build_roles(load_settings(model="openai:gpt-5-mini", role_models="reflector=openai:gpt-5-pro"))
    )
    assert (dear.plan_cost_usd or 0) > (usual.plan_cost_usd or 0)
