"""Settings that could never take effect are refused."""

from typing import Any

import pytest

from midcourse.agent.start import new_run
from midcourse.domain.budget import Limits
from midcourse.domain.task import Task
from midcourse.errors import TaskInvalid
from midcourse.policy.failure.ineffective_settings import find_ineffective_setting


def objection(**given: Any) -> str:
    return find_ineffective_setting(Limits(**given), given)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"human_after": 5}, "human_after = 5 can never be reached: max_error_replans = 3 comes first"),
        ({"human_after": 3, "max_replans": 3}, "max_replans = 3 would leave no plan to continue with"),
        ({"max_error_replans": 9}, "max_error_replans = 9 can never be reached: max_replans = 5 comes first"),
        ({"human_after": 2, "auto_replan": False}, "human_after can never take effect: auto_replan is off"),
        ({"replan_on_high": True, "auto_replan": False}, "auto_replan is off"),
        ({"replan_interval_seconds": 9.0, "max_error_replans": 1}, "there is never a second replan"),
        ({"replan_timeout_seconds": 300.0, "plan_timeout_seconds": 20.0}, "end a replan after 115.4 s"),
    ],
)
def test_an_ineffective_setting_is_refused_with_the_reason(given: dict[str, Any], why: str) -> None:
    assert why in objection(**given)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"human_after": 3},
        {"max_error_replans": 5},
        {"auto_replan": False},
        {"replan_interval_seconds": 9.0},
        {"replan_timeout_seconds": 300.0},
    ],
)
def test_an_effective_setting_is_accepted(given: dict[str, Any]) -> None:
    assert objection(**given) == ""


def test_a_default_that_another_setting_overtakes_was_not_asked_for() -> None:
    assert find_ineffective_setting(Limits(max_replans=1, max_error_replans=3), ["max_replans"]) == ""
    assert find_ineffective_setting(Limits(auto_replan=False), ["auto_replan"]) == ""


def test_limits_made_by_hand_are_refused_as_well() -> None:
    with pytest.raises(TaskInvalid, match="human_after = 5"):
        new_run(Task(goal="x", limits=Limits(human_after=5)), "run")
