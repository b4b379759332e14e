"""The reflector by a model: what it answers, what becomes of trouble, and that it is asked only where it is named."""

import pytest
from pydantic_ai.exceptions import ModelServerError

from midcourse.app.models.reserves import with_call_reserves
from midcourse.app.models.roles import build_roles
from midcourse.app.settings.run import Settings
from midcourse.domain.budget import Limits
from midcourse.domain.reflection import Analysis, Fix, Reflection
from midcourse.llm.model_client import ModelClient
from midcourse.llm.roles.reflector import ModelReflector
from midcourse.ports.reflector import Explanation
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


async def explained(answer: Answer) -> Explanation:
    return await ModelReflector(ModelClient([ScriptedModel([answer]).model], answer_tokens=500)).reflect(STEP)


async def test_cause_factors_severity_and_preventability_are_the_models_and_the_type_is_not() -> None:
    found = await explained(SAID)
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
async def test_trouble_is_no_explanation(answer: Answer, verdict: str) -> None:
    found = await explained(answer)
    assert (found.verdict, found.reflection) == (verdict, None)


def settings(**more: str) -> Settings:
    return Settings.load(overrides={"model": "openai:gpt-5", "model_base_url": "http://127.0.0.1:9/v1", **more})


def test_a_model_explains_only_if_it_is_named_for_that() -> None:
    assert build_roles(settings()).reflector is None
    assert isinstance(build_roles(settings(role_models="reflector=openai:gpt-5")).reflector, ModelReflector)


def test_the_dearest_role_counts_this_one_too() -> None:
    usual = with_call_reserves(Limits(), build_roles(settings(model="openai:gpt-5-mini")))
    dear = with_call_reserves(
        Limits(), build_roles(settings(model="openai:gpt-5-mini", role_models="reflector=openai:gpt-5-pro"))
    )
    assert (dear.plan_cost_usd or 0) > (usual.plan_cost_usd or 0)
