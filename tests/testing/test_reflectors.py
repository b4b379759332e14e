"""Every reflector that ships takes whatever it is shown."""

import asyncio

from midcourse.llm.model_client import ModelClient
from midcourse.llm.roles.reflector import ModelReflector
from midcourse.policy.failure.reflection import explain_failure
from midcourse.ports.reflector import Reflector, RuleReflector
from midcourse.testing import ScriptedReflector
from midcourse.testing.conformance.reflector import STEP, ReflectorConformance
from tests.llm.scripted import ScriptedModel


class TestRules(ReflectorConformance):
    def make_reflector(self) -> Reflector:
        return RuleReflector()


class TestScriptedReflector(ReflectorConformance):
    def make_reflector(self) -> Reflector:
        return ScriptedReflector("It is protected", "", "It is late")


class TestModelReflector(ReflectorConformance):
    def make_reflector(self) -> Reflector:
        answer = {"root_cause": "It is protected", "severity": "LOW"}
        return ModelReflector(ModelClient([ScriptedModel([answer] * 20).model], answer_tokens=500))


def test_script_is_followed_and_then_the_reflector_is_unavailable() -> None:
    reflector = ScriptedReflector("one", "", "three")
    said = [asyncio.run(reflector.reflect(STEP)) for _ in range(4)]
    causes = [one.reflection.analysis.root_cause if one.reflection else "" for one in said]
    assert causes == ["one", "", "three", ""]
    assert [one.verdict for one in said] == ["reflected", "transport", "reflected", "transport"]
    assert reflector.contexts == [STEP] * 4


def test_the_rules_say_by_the_port_what_they_say_without_it() -> None:
    found = asyncio.run(RuleReflector().reflect(STEP)).reflection
    assert found == explain_failure(STEP.failure, STEP.failed, STEP.attempts)
    assert found is not None
    assert found.by == "rules"
