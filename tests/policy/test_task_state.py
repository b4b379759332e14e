"""The state of the task, in the terms of task lists."""

from typing import Any

import pytest

from midcourse.policy.task_state import state_in_phase, task_state
from tests.harness import Drill, a_step

ONE, ORDER = a_step("one"), a_step("order", "irreversible")


def test_the_task_state_follows_a_run_from_start_to_end() -> None:
    drill = Drill()
    assert task_state(drill.run) == "PENDING"
    drill.to_planning()
    assert task_state(drill.run) == "PLANNING"
    drill.plans(ONE, ORDER)
    assert task_state(drill.run) == "PENDING_APPROVAL"
    drill.decides("approved")
    assert task_state(drill.run) == "APPROVED"
    drill.sees("f1").acts("ok")
    assert task_state(drill.run) == "APPROVED"


def test_while_a_failure_is_planned_around_the_task_has_failed_and_then_waits_for_approval() -> None:
    drill = Drill().to_acting(ONE).acts("failed", reason="rejected")
    assert task_state(drill.run) == "FAILED"
    drill.plans(ORDER)
    assert task_state(drill.run) == "PENDING_APPROVAL"


def test_a_plan_without_critical_steps_is_approved_by_itself() -> None:
    assert task_state(Drill().to_acting(ONE).run) == "APPROVED"


@pytest.mark.parametrize(
    ("phase", "final_reason", "state"),
    [
        ("new", "", "PENDING"),
        ("opening", "", "PENDING"),
        ("planning", "", "PLANNING"),
        ("asking", "", "PENDING_APPROVAL"),
        ("acting", "", "APPROVED"),
        ("verifying", "", "APPROVED"),
        ("backing_off", "", "APPROVED"),
        ("paused", "", "PAUSED"),
        ("ended", "goal_reached", "COMPLETED"),
        ("ended", "plan_complete", "COMPLETED"),
        ("ended", "cancelled", "CANCELLED"),
        ("ended", "rejected", "FAILED"),
    ],
)
def test_every_phase_has_a_task_state(phase: Any, final_reason: Any, state: str) -> None:
    assert state_in_phase(phase, final_reason) == state
