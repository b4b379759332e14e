"""Recovery from failures: retries with waits, new plans, questions, and ends."""

from typing import Any

import pytest

from midcourse.domain.commands import Act, AskPerson, MakePlan, Observe, Wait
from midcourse.domain.failure import FailureRule
from midcourse.domain.phases import Acting, Asking, Looking
from midcourse.domain.replace import replace
from tests.harness import MISSING, Drill, a_step, ref

ONE, TWO, THREE = a_step("one"), a_step("two"), a_step("three")


def test_three_retries_are_four_executions_with_doubling_waits() -> None:
    drill = Drill().to_acting(ONE, TWO)
    for _ in range(3):
        drill.acts("failed", reason="grasp_slipped").waits()
    drill.acts("failed", reason="grasp_slipped", detail="again")
    assert [wait.seconds for wait in drill.sent(Wait)] == [2.0, 4.0, 8.0]
    assert len(drill.sent(Act)) == 4
    assert (drill.run.counts.executions, drill.run.counts.steps) == (4, 1)
    assert drill.pending(MakePlan).why == "one failed: grasp_slipped — again"


@pytest.mark.parametrize("reason", ["busy", "timeout", "network"])
def test_failures_that_need_time_have_longer_waits(reason: str) -> None:
    drill = Drill().to_acting(ONE, TWO)
    for _ in range(3):
        drill.acts("failed", reason=reason).waits()
    assert [wait.seconds for wait in drill.sent(Wait)] == [6.0, 18.0, 54.0]


def test_a_new_plan_does_not_wait_again_for_a_failure_that_did_not_pass() -> None:
    drill = Drill().to_acting(ONE)
    for _ in range(3):
        drill.acts("failed", reason="busy").waits()
    drill.acts("failed", reason="busy").plans(TWO).acts("failed", reason="busy")
    assert len(drill.sent(Wait)) == 3
    assert drill.pending(MakePlan).cause == "error"


def test_the_same_failure_on_another_screen_is_waited_for_again() -> None:
    drill = Drill().to_acting(ONE)
    for _ in range(3):
        drill.acts("failed", reason="busy").waits()
    drill.acts("failed", reason="busy").plans(THREE, TWO).acts(fingerprint="f2")
    drill.acts("failed", reason="busy", fingerprint="f2")
    assert len(drill.sent(Wait)) == 4


def test_a_lasting_network_failure_ends_the_run_after_one_new_plan() -> None:
    drill = Drill().to_acting(ONE)
    for _ in range(3):
        drill.acts("failed", reason="network").waits()
    drill.acts("failed", reason="network").plans(TWO).acts("failed", reason="network", detail="no route")
    assert drill.ended == (
        "replan_exhausted",
        "two failed: network — no route (the connection is still down, and a new plan did not get around that)",
    )


def test_a_retry_that_works_goes_on_and_the_next_step_has_all_its_retries() -> None:
    drill = Drill().to_acting(ONE, TWO).acts("failed", reason="busy").waits().acts()
    assert drill.pending(Act).index == 1
    for _ in range(3):
        drill.acts("failed", reason="busy").waits()
    assert isinstance(drill.phase, Acting)


def test_no_retries_means_none() -> None:
    drill = Drill(max_step_retries=0).to_acting(ONE).acts("failed", reason="busy")
    assert drill.pending(MakePlan).cause == "error"


def test_a_step_that_was_never_sent_is_retried_at_once() -> None:
    drill = Drill().to_acting(ONE).acts("no_effect", reason="not_dispatched", dispatched=False)
    assert isinstance(drill.phase, Acting)
    assert drill.run.counts.executions == 0


@pytest.mark.parametrize("reason", ["unreachable", "not_permitted", "impossible"])
def test_a_structural_failure_bars_the_step_and_asks_the_planner_once(reason: str) -> None:
    def barred(**more: Any) -> Drill:
        return Drill(**more).to_acting(ONE).acts("unreachable", reason=reason, detail="too far")

    why = f"one failed: {reason} — too far; the planner, asked once for another way,"
    assert barred().pending(MakePlan).cause == "error"
    for verdict in ("impossible", "gave_up", "garbage", "refused"):
        assert barred().plans(verdict=verdict, detail="no").ended == ("structural_failure", f"{why} has none: no")
    assert barred().plans(a_step("first"), ONE).ended == ("structural_failure", f"{why} planned it again")
    other = barred().plans(a_step("two"))
    assert other.pending(Act).index == 0
    again = other.acts("failed", reason="permission", fingerprint="elsewhere").plans(ONE)
    assert "was shown to be impossible" in again.pending(MakePlan).refused, "it is barred on every screen"
    assert again.plans(ONE).ended[0] == "replan_no_change"
    patient = Drill(structural_stop=False).to_acting(ONE).acts("unreachable", reason=reason)
    assert patient.pending(MakePlan).cause == "error"


def test_what_is_not_there_is_looked_for_after_the_screen_has_settled() -> None:
    assert Drill().to_acting(ONE).acts(**MISSING).pending(Observe).settle
    earlier = Drill()
    earlier.run = replace(earlier.run, format=3)
    assert not earlier.to_acting(ONE).acts(**MISSING).pending(Observe).settle


def test_a_worlds_permission_denied_is_planned_around() -> None:
    drill = Drill().to_acting(ONE).acts("failed", reason="permission")
    assert drill.pending(MakePlan).cause == "error"


def test_a_missing_target_is_looked_for_and_tried_once_more() -> None:
    drill = Drill().to_acting(ONE)
    drill.acts("unreachable", reason="target_not_visible", dispatched=False, looked=False)
    assert isinstance(drill.phase, Looking)
    drill.sees("f2")
    assert drill.pending(Act).seen == "o-f2"
    drill.acts("unreachable", reason="target_not_visible", dispatched=False, looked=False)
    assert drill.pending(MakePlan).cause == "error"
    assert len(drill.sent(Observe)) == 2


def test_a_stale_screen_is_looked_at_before_it_is_planned_from() -> None:
    drill = Drill().to_acting(ONE).acts("failed", reason="rejected", fingerprint=None)
    assert isinstance(drill.phase, Looking)
    drill.sees("f2")
    assert drill.pending(MakePlan).seen == "o-f2"


def test_a_wait_that_does_not_fit_ends_the_run_now() -> None:
    drill = Drill(max_wall_seconds=10.0, retry_delay_seconds=30.0).to_acting(ONE).acts("failed", reason="no_effect")
    assert drill.ended == ("budget_exhausted", "no time left to wait 30 s")


def test_a_wait_past_the_deadline_ends_the_run_now() -> None:
    drill = Drill(deadline_seconds=20.0, retry_delay_seconds=30.0).to_acting(ONE).acts("failed", reason="no_effect")
    assert drill.ended == ("deadline_exceeded", "no time left to wait 30 s")


def test_a_retry_is_not_sent_on_a_screen_where_the_call_failed_for_good() -> None:
    drill = Drill().to_acting(ONE).acts("failed", fingerprint="f1", reason="rejected")
    drill.plans(TWO, ONE).acts("ok", fingerprint="f2").acts("failed", fingerprint="f1", reason="busy").waits()
    assert len(drill.sent(Act)) == 3
    assert drill.pending(MakePlan).cause == "error"


def test_attempts_keep_both_screens_and_count() -> None:
    drill = Drill().to_acting(ONE).acts("failed", fingerprint="f2", reason="busy").waits()
    (attempt,) = drill.run.attempts
    assert (attempt.call, attempt.before, attempt.after, attempt.count) == ("call-one", "f1", "f2", 1)
    drill.acts("failed", fingerprint="f2", reason="busy")
    assert len(drill.run.attempts) == 2


def test_the_same_failure_again_is_counted_not_listed() -> None:
    drill = Drill().to_acting(ONE).acts("failed", reason="busy").waits().acts("failed", reason="busy")
    (attempt,) = drill.run.attempts
    assert attempt.count == 2
    assert attempt.at == drill.run.now


def test_every_screen_that_a_failure_led_to_is_remembered() -> None:
    """From f1 the try led to f2, and at another time to f3: neither is a screen to try the same on again."""
    drill = Drill(replan_admission=False).to_acting(ONE).acts("failed", fingerprint="f2", reason="rejected")
    drill.plans(TWO, ONE).acts("ok", fingerprint="f1").acts("failed", fingerprint="f3", reason="rejected")
    assert {(a.before, a.after) for a in drill.run.attempts} == {("f1", "f2"), ("f1", "f3")}


# --- what a failure means


def test_a_failure_of_no_importance_is_passed_over_and_counts_as_skipped() -> None:
    drill = Drill().to_acting(ONE, TWO).acts("failed", reason="not_needed")
    assert drill.pending(Act).index == 1
    assert (drill.run.counts.skipped, drill.run.counts.completed) == (1, 0)
    drill.acts()
    assert drill.ended[0] == "plan_complete"
    assert drill.run.counts.completed == 1


def test_a_scroll_that_finds_nothing_further_is_not_tried_again_and_no_adviser_is_asked() -> None:
    drill = Drill(has_reflector=True).to_acting(ONE, TWO)
    drill.acts("no_effect", reason="not_needed", detail="there is nothing further in that direction")
    assert drill.pending(Act).index == 1
    (attempt,) = drill.run.attempts
    assert (attempt.reason, attempt.count, attempt.passing) == ("not_needed", 1, False), "the next plan is told"


def test_an_irreversible_step_is_never_passed_over() -> None:
    drill = Drill(approvals="never").to_acting(a_step("pay", "irreversible"))
    drill.acts("no_effect", reason="not_needed", evidence="rule")
    assert drill.pending(MakePlan).cause == "error"
    assert drill.run.counts.skipped == 0


def test_an_exception_is_known_by_its_name_once_the_step_is_known_to_do_no_harm() -> None:
    drill = Drill().to_acting(ONE).acts("unknown", reason="error", detail="ConnectionResetError: by peer")
    drill.verifies("undecided").waits()
    assert drill.pending(Act).index == 0, "the connection may be back"
    drill = Drill().to_acting(ONE).acts("unknown", reason="error", detail="PermissionError: not yours")
    drill.verifies("undecided")
    assert drill.pending(MakePlan).why == "one failed: error — PermissionError: not yours"


def test_the_next_plan_is_given_the_failure() -> None:
    drill = Drill().to_acting(ONE, TWO).acts().acts("failed", reason="permission", detail="/protected")
    failure = drill.pending(MakePlan).failure
    assert failure is not None
    assert (failure.reason, failure.detail) == ("permission", "/protected")
    assert (failure.version, failure.index, failure.tries) == (1, 1, 0)
    assert (failure.found.severity, failure.found.error_type) == ("HIGH", "permission")


def test_a_users_rule_decides_what_is_retried_and_what_is_hopeless() -> None:
    rules = (FailureRule(reason="odd", nature="transient"), FailureRule(message="no licence", nature="structural"))
    drill = Drill(failures=rules).to_acting(ONE).acts("failed", reason="odd").waits()
    assert drill.pending(Act).index == 0
    drill.acts("failed", reason="else", detail="There is NO LICENCE for this")
    assert drill.plans(verdict="impossible").ended[0] == "structural_failure"


# --- where replanning is not wanted


@pytest.mark.parametrize(
    ("limits", "why"),
    [({"auto_replan": False}, "auto_replan is off"), ({"replan_on_high": False}, "replan_on_high is off")],
)
def test_without_replanning_a_failure_ends_the_run(limits: dict[str, bool], why: str) -> None:
    drill = Drill(**limits).to_acting(ONE).acts("failed", reason="rejected", detail="no")
    assert drill.ended == ("replan_exhausted", f"one failed: rejected — no ({why})")


def test_a_plan_without_steps_is_critical() -> None:
    assert Drill().to_planning().plans().pending(MakePlan).why == "the plan had no steps"
    drill = Drill(replan_on_critical=False).to_planning().plans()
    assert drill.ended == ("empty_plan", "the plan had no steps (replan_on_critical is off)")


# --- time between replans, and for each


def test_the_second_replan_waits_and_looks_before_it_plans() -> None:
    drill = Drill(replan_interval_seconds=5.0).to_acting(ONE).acts("failed", reason="rejected")
    drill.plans(TWO).acts("failed", reason="rejected")
    assert drill.pending(Wait).seconds == 3.0, "two seconds have passed"
    drill.waits()
    assert isinstance(drill.phase, Looking)
    drill.sees("f2")
    assert drill.pending(MakePlan).seen == "o-f2"
    assert drill.run.counts.error_replans == 2


def test_a_replan_that_takes_too_long_ends_the_run() -> None:
    drill = Drill(replan_timeout_seconds=8.0, plan_timeout_seconds=5.0).to_acting(ONE).acts("failed", reason="rejected")
    assert drill.pending(MakePlan).timeout == 5.0
    drill.plans(verdict="transport", detail="429", after=5.0)
    assert drill.pending(Wait).seconds == 2.0
    drill.waits()
    assert drill.pending(MakePlan).timeout == 3.0, "what is left of it: waiting does not count"
    drill.plans(verdict="transport", detail="429", after=3.0).waits()
    assert drill.ended[0] == "planner_unavailable"
    assert drill.ended[1].startswith("no new plan within 8 s: ")


def test_the_first_plan_has_all_the_time_it_may_take() -> None:
    drill = Drill(replan_timeout_seconds=1.0).to_planning()
    drill.plans(verdict="transport", after=60.0).waits().plans(ONE)
    assert isinstance(drill.phase, Acting)


# --- a person, after so many


def stuck(**limits: Any) -> Drill:
    """Two replans have not helped, and it fails once more."""
    drill = Drill(human_after=2, **limits).to_acting(a_step("try0"))
    for n in (1, 2):
        drill.acts("failed", reason="rejected").plans(a_step(f"try{n}"))
    return drill.acts("failed", reason="rejected", detail="no")


def test_a_person_is_asked_where_a_task_is_not_done_or_a_detour_is_given_up() -> None:
    unmet = Drill(human_after=1, has_done_when=True).to_acting(a_step("try0")).acts("failed", reason="rejected")
    unmet.plans(a_step("try1")).acts().checks("unmet", seen=ref("f2"))
    assert unmet.pending(AskPerson).about == "stuck"
    lost = Drill(human_after=1, has_detours=True).to_acting(a_step("try0")).acts("failed", reason="rejected")
    lost.plans(a_step("far")).acts(**MISSING).sees().acts(**MISSING).judges_closeness(1.0).plans_try(
        verdict="gave_up", step=None
    )
    assert lost.pending(AskPerson).about == "stuck"


def test_a_person_is_asked_how_to_go_on() -> None:
    question = stuck().pending(AskPerson)
    assert (question.about, question.steps) == ("stuck", ())
    assert question.detail == "try2 failed: rejected — no; 2 new plans have not fixed it"


def test_guidance_leads_to_a_look_and_a_new_plan() -> None:
    drill = stuck().decides("go_on", guidance="use the other form")
    assert isinstance(drill.phase, Looking)
    drill.sees("f9")
    plan = drill.pending(MakePlan)
    assert (plan.cause, plan.guidance, plan.seen) == ("guided", ("use the other form",), "o-f9")
    assert plan.failure is not None
    assert plan.failure.reason == "rejected"
    drill.plans(a_step("try3")).acts("failed", reason="rejected")
    assert drill.pending(MakePlan).cause == "error", "the third of three; they count from the person's word on"


def test_a_person_may_stop_it() -> None:
    assert stuck().decides("stop", by="Ada").ended == (
        "needs_human",
        "a person was asked and stopped it (Ada): try2 failed: rejected — no",
    )


def test_an_unanswered_question_ends_the_run_as_needs_human() -> None:
    assert stuck(approval_seconds=60.0).waits().ended[0] == "needs_human"


def test_approved_and_rejected_are_no_answers_to_how_to_go_on() -> None:
    drill = stuck().decides("approved")
    assert isinstance(drill.phase, Asking)
    assert drill.run.counts.late == 1
