"""Lessons of other runs may end a run before it plans again, and decide nothing else."""

from typing import Any

import pytest

from midcourse.domain.commands import MakePlan
from midcourse.domain.failure import Track
from tests.harness import Drill, a_step

NEVER = Track(lesson="00112233aabbccdd", not_fixed=7, sample=0.5)


def failing(track: Track | None, reason: str = "rejected", **limits: Any) -> Drill:
    return Drill(**limits).to_acting(a_step()).acts("failed", reason=reason, detail="no", track=track)


def test_a_failure_that_no_plan_ever_fixed_ends_the_run_with_the_numbers() -> None:
    drill = failing(NEVER)
    numbers = "of the last 7 runs that met this and planned again, 0 got past it"
    share = "lesson 00112233aabbccdd; 10% of runs try all the same"
    assert drill.ended == ("structural_failure", f"click failed: rejected — no ({numbers}; {share})")
    assert len(drill.sent(MakePlan)) == 1


@pytest.mark.parametrize(
    "track", [None, Track(lesson="x", fixed=1, not_fixed=8, sample=0.5), Track(lesson="x", not_fixed=9, sample=0.0)]
)
def test_a_failure_without_such_lessons_is_planned_again(track: Track | None) -> None:
    assert [command.cause for command in failing(track).sent(MakePlan)] == ["initial", "error"]


def test_the_stop_by_lessons_can_be_switched_off() -> None:
    assert len(failing(NEVER, lesson_stop_after=None).sent(MakePlan)) == 2


def test_retries_come_before_the_stop_by_lessons() -> None:
    """That no plan fixed it says nothing about trying once more."""
    drill = failing(NEVER, reason="busy", max_step_retries=1)
    assert drill.phase.kind == "backing_off"
    drill.waits().acts("failed", reason="busy", detail="no", track=NEVER)
    assert drill.ended[0] == "structural_failure"


def test_a_run_stopped_by_lessons_may_still_have_reached_its_goal() -> None:
    drill = Drill(has_done_when=True).to_acting(a_step())
    drill.acts("failed", reason="rejected", track=NEVER).checks("met")
    assert drill.ended[0] == "goal_reached"
