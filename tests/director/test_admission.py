"""Plans that are refused because they repeat what failed, and plans whose steps are finished already."""

import pytest

from midcourse.domain.commands import Act, MakePlan
from midcourse.domain.phases import Planning
from midcourse.domain.skill import Effect
from tests.harness import REPLAN_STEP, Drill, a_step

ONE, TWO = a_step("one"), a_step("two")


# --- replan admission


def test_the_same_plan_after_a_failure_is_refused_once_and_then_ends_the_run() -> None:
    drill = Drill().to_acting(ONE).acts("failed", reason="rejected", detail="no such name")
    assert drill.pending(MakePlan).cause == "error"
    assert "no such name" in drill.pending(MakePlan).why
    drill.plans(ONE)
    again = drill.pending(MakePlan)
    assert "failed before, and nothing has changed" in again.refused
    assert again.version == 2
    reason, detail = drill.plans(ONE).ended
    assert reason == "replan_no_change"
    assert "failed before" in detail
    assert drill.run.counts.executions == 1
    assert drill.run.counts.error_replans == 1
    assert drill.run.counts.versions == 1


def test_a_refused_planner_may_think_again() -> None:
    drill = Drill().to_acting(ONE).acts("failed", reason="rejected").plans(ONE).plans(TWO).acts()
    assert drill.ended[0] == "plan_complete"


def test_a_successful_step_resets_the_count_of_refusals() -> None:
    drill = Drill().to_acting(ONE).acts("failed", reason="rejected").plans(ONE).plans(TWO, REPLAN_STEP).acts()
    assert drill.run.counts.refusals == 0
    drill.sees("f1").plans(ONE)
    assert isinstance(drill.phase, Planning), "refused, but for the first time since"


def test_without_admission_a_stuck_planner_goes_on_until_its_replans_are_used_up() -> None:
    drill = Drill(replan_admission=False).to_acting(ONE)
    for _ in range(3):
        drill.acts("failed", reason="rejected").plans(ONE)
    assert drill.acts("failed", reason="rejected").ended[0] == "replan_exhausted"
    assert drill.run.counts.executions == 4


def test_a_step_that_failed_is_refused_at_the_gate_where_the_plan_hid_it() -> None:
    """Behind a step that may change the screen it is unknown; when the step comes up, it is known."""
    drill = Drill().to_acting(ONE).acts("failed", reason="rejected")
    drill.plans(TWO, ONE).acts("ok", fingerprint="f1")
    command = drill.pending(MakePlan)
    assert (command.cause, command.version) == ("error", 3)
    assert drill.run.counts.refusals == 1
    assert drill.run.counts.executions == 2


def test_a_plan_that_repeats_what_is_finished_is_refused() -> None:
    order = a_step("order", "irreversible")
    drill = Drill(approvals="never").to_acting(order, REPLAN_STEP).acts(evidence="expectation").sees("f2")
    drill.plans(order, REPLAN_STEP)
    assert "is finished already" in drill.pending(MakePlan).refused
    assert drill.plans(ONE, order, REPLAN_STEP).ended[0] == "replan_no_change"


# --- a plan that is finished already


def test_a_final_plan_whose_steps_are_all_finished_is_complete() -> None:
    order = a_step("order", "irreversible")
    drill = Drill(approvals="never").to_acting(order, REPLAN_STEP).acts(evidence="expectation").sees("f2")
    drill.plans(order)
    assert drill.ended == ("plan_complete", "every step of the plan was carried out before")
    assert len(drill.sent(Act)) == 1


def test_harmless_steps_before_a_finished_end_are_done() -> None:
    order = a_step("order", "irreversible")
    drill = Drill(approvals="never").to_acting(order, REPLAN_STEP).acts(evidence="expectation").sees("f2")
    drill.plans(ONE, order).acts(fingerprint="f3")
    assert drill.ended[0] == "plan_complete"
    assert [act.index for act in drill.sent(Act)] == [0, 0], "the order, and then the harmless step alone"


@pytest.mark.parametrize("effect", ["reversible", "irreversible"])
def test_other_steps_before_a_finished_end_are_not_done(effect: Effect) -> None:
    order = a_step("order", "irreversible")
    drill = Drill(approvals="never").to_acting(order, REPLAN_STEP).acts(evidence="expectation").sees("f2")
    drill.plans(a_step("more", effect), order)
    assert "finished already" in drill.pending(MakePlan).refused


def test_with_a_done_when_a_finished_plan_is_refused_and_not_complete() -> None:
    order = a_step("order", "irreversible")
    drill = Drill(approvals="never", has_done_when=True).to_acting(order, REPLAN_STEP)
    drill.acts(evidence="expectation").sees("f2").plans(order)
    assert "finished already" in drill.pending(MakePlan).refused
