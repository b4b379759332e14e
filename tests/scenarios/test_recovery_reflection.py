"""Seed 001 with somebody who explains the failure: version 2 knows it, memory keeps it, and nothing else is decided by it."""

from dataclasses import replace
from typing import Any

import pytest

from midcourse.domain.commands import Advise
from midcourse.domain.failure import Classification
from midcourse.ports.reflector import Explanation, ReflectionContext
from midcourse.testing import ScriptedReflector
from tests.scenarios.stage import Played, Stage
from tests.scenarios.test_recovery import avoids_what_was_forbidden, disk

WHY = "Nobody looked whether /protected may be written to"


def explained_failure(*causes: str, reflector: Any = None, **settings: Any) -> Stage:
    reflector = reflector or ScriptedReflector(*(causes or (WHY,)), fix="Write to /home")
    return replace(disk(think=avoids_what_was_forbidden, **settings), reflector=reflector)


def asked(played: Played) -> int:
    return sum(
        isinstance(command, Advise) and command.role == "reflector"
        for turn in played.turns
        for command in turn.commands
    )


async def test_the_permission_failure_is_explained_by_a_model_and_version_2_says_so() -> None:
    stage = explained_failure()
    played = await stage.play()
    assert played.ended == (True, False, "plan_complete")
    context = played.plans[1].context
    assert context is not None
    assert context == played.contexts[1].recovery, "what the planner is told is what is kept"
    assert (context.by, context.analysis.root_cause, context.fix.message) == ("model", WHY, "Write to /home")
    assert context.analysis.preventable is True
    assert asked(played) == 1


async def test_the_reflector_gets_the_full_context() -> None:
    stage = explained_failure()
    await stage.play()
    assert isinstance(stage.reflector, ScriptedReflector)
    (context,) = stage.reflector.contexts
    assert context.failed is not None
    assert (context.failed.target, context.version) == ("/protected", 2)
    assert [step.says for step in context.completed] == ["Collect the figures"]
    assert [step.says for step in context.attempts] == ["Write the report to /protected"]
    assert context.observation is not None
    assert context.observation.surface.title == "Disk"


async def test_severity_and_type_of_the_reflector_decide_nothing() -> None:
    """The script says LOW, which would be passed over."""
    played = await explained_failure().play()
    context = played.plans[1].context
    assert context is not None
    assert (context.analysis.severity, context.analysis.error_type) == ("LOW", "permission")
    assert context.failure.found == Classification(
        severity="HIGH", category="ENVIRONMENT", error_type="permission", nature="permission"
    )
    alone = await disk(think=avoids_what_was_forbidden).play()
    assert played.completed == alone.completed
    assert asked(alone) == 0


async def test_an_explanation_is_charged_to_its_role_and_plan() -> None:
    played = await explained_failure().play()
    spent = {(each.role, each.version, each.model): each.cost.calls for each in played.result.spent}
    assert spent["reflector", 2, "scripted"] == 1


class Broken:
    """A reflector that does not work."""

    def __init__(self, how: str) -> None:
        self._how = how

    async def reflect(self, context: ReflectionContext) -> Explanation:
        if self._how == "raises":
            raise RuntimeError("no idea")
        if self._how == "is not there":
            raise OSError("no route")
        return "nonsense" if self._how == "talks nonsense" else Explanation()  # pyrefly: ignore[bad-return]


@pytest.mark.parametrize("how", ["raises", "is not there", "talks nonsense", "says nothing"])
async def test_without_an_explanation_the_rules_explain_the_failure(how: str) -> None:
    played = await explained_failure(reflector=Broken(how)).play()
    assert played.ended == (True, False, "plan_complete")
    context = played.plans[1].context
    assert context is not None
    assert context.by == "rules"
    assert "cannot write to /protected" in context.analysis.root_cause


async def test_an_explanation_never_prevents_a_plan() -> None:
    for calls in (2, 3, 4):
        alone = await disk(think=avoids_what_was_forbidden, max_calls=calls).play()
        played = await explained_failure(max_calls=calls).play()
        assert played.ended == alone.ended
        assert played.most_committed.calls <= calls
