"""Questions to an approver. A question without an answer is denied."""

from dataclasses import replace
from typing import Any

import pytest

from midcourse.director.decide import why_no_effect
from midcourse.domain.commands import Act, AskPerson, MakePlan, Wait
from midcourse.domain.events import ApprovalDecided, PauseAsked, ResumeAsked
from midcourse.domain.phases import Asking, Looking, Paused
from tests.harness import REPLAN_STEP, START, Drill, a_step

ONE = a_step("one")
ORDER, PAY = a_step("order", "irreversible"), a_step("pay", "irreversible")
UNREAD = a_step("submit", "irreversible", identity="", consequence="")


def test_one_question_lists_every_step_whose_consequence_is_known() -> None:
    drill = Drill().to_acting(ONE, ORDER, UNREAD, PAY)
    question = drill.pending(AskPerson)
    assert [step.consequence for step in question.steps] == ["c-order", "c-pay"]
    assert [(step.version, step.index) for step in question.steps] == [(1, 1), (1, 3)]
    assert question.about == "approve"


def test_reversible_steps_need_no_approval() -> None:
    drill = Drill().to_acting(ONE, a_step("undo", "reversible"))
    assert drill.sent(AskPerson) == []


def test_nothing_is_asked_with_approvals_never() -> None:
    assert Drill(approvals="never").to_acting(ORDER).sent(AskPerson) == []


def test_the_same_consequence_is_asked_about_once() -> None:
    drill = Drill().to_acting(ONE, ORDER).decides("approved").sees("f1").acts("failed", reason="rejected")
    drill.plans(a_step("two"), ORDER, PAY)
    assert [step.consequence for step in drill.pending(AskPerson).steps] == ["c-pay"]


def test_after_a_wait_for_a_person_the_world_is_looked_at_before_anything_is_done() -> None:
    drill = Drill().to_acting(ORDER).decides("approved")
    assert isinstance(drill.phase, Looking)
    drill.sees("f2")
    assert drill.pending(Act).seen == "o-f2"


def test_a_question_carries_its_timer_and_says_when_it_ends() -> None:
    drill = Drill(approval_seconds=600.0).to_acting(ORDER)
    assert drill.pending(Wait).seconds == 600.0
    assert drill.pending(AskPerson).expires_at == drill.run.now + 600.0


def test_a_posted_question_waits_for_its_decision() -> None:
    drill = Drill().to_acting(ORDER)
    number = drill.pending(AskPerson).id
    drill.posts_question()
    assert isinstance(drill.phase, Asking)
    drill.tell(ApprovalDecided(question=number, verdict="approved", shown=("c-order",))).sees("f1")
    assert drill.pending(Act)


def test_rejected_ends_the_run() -> None:
    drill = Drill().to_acting(ORDER, PAY).decides("rejected")
    assert drill.ended == ("rejected", "order, pay was rejected")
    assert drill.sent(Act) == []


def test_rejected_with_guidance_plans_again_with_the_words() -> None:
    drill = Drill().to_acting(ORDER).decides("rejected", guidance="take the blue ones").sees("f1")
    command = drill.pending(MakePlan)
    assert command.cause == "guided"
    assert command.guidance == ("take the blue ones",)
    assert "take the blue ones" in command.why
    assert (drill.run.counts.replans, drill.run.counts.error_replans) == (1, 0)


def test_blank_guidance_counts_as_no_guidance() -> None:
    assert Drill().to_acting(ORDER).decides("rejected", guidance="  \n").ended[0] == "rejected"


def test_an_unanswered_question_is_denied() -> None:
    drill = Drill(approval_seconds=600.0).to_acting(ORDER).waits()
    assert drill.ended == ("rejected", "order was not approved in time")
    assert drill.run.now == START + 604.0


@pytest.mark.parametrize("posted", [False, True])
def test_a_decision_that_comes_after_the_question_expired_approves_nothing(posted: bool) -> None:
    """The timer may be stuck behind it in the mailbox, or in a process that was not running."""
    drill = Drill(approval_seconds=600.0).to_acting(ORDER)
    number = drill.pending(AskPerson).id
    if posted:
        drill.posts_question()
    drill.tell(ApprovalDecided(question=number, verdict="approved", shown=("c-order",)), 600.0)
    assert drill.sent(Act) == []
    assert drill.run.grants == ()
    assert drill.ended == ("rejected", "order was not approved in time")


def test_a_question_does_not_outlive_the_deadline() -> None:
    drill = Drill(deadline_seconds=100.0).to_acting(ORDER)
    assert drill.pending(Wait).seconds == 97.0
    assert drill.waits().ended[0] == "deadline_exceeded"


def test_a_doubt_does_not_outlive_the_deadline() -> None:
    drill = Drill(deadline_seconds=100.0, approvals="never").to_acting(ORDER).acts("unknown").verifies("undecided")
    assert drill.waits().ended[0] == "deadline_exceeded"


def test_no_question_is_asked_past_the_deadline() -> None:
    drill = Drill(deadline_seconds=100.0).to_planning().plans(ORDER, after=200.0)
    assert drill.ended == ("deadline_exceeded", "there is no time left to ask")
    assert drill.sent(AskPerson) == []


@pytest.mark.parametrize("verdict", ["happened", "did_not_happen", "stop"])
def test_an_answer_to_another_question_is_ignored(verdict: str) -> None:
    drill = Drill().to_acting(ORDER).decides(verdict)
    assert isinstance(drill.phase, Asking)
    assert drill.run.counts.late == 1


def test_waiting_for_an_approver_does_not_count_as_working_time() -> None:
    drill = Drill().to_acting(ORDER)
    before = drill.run.budget.active_seconds
    drill.decides("approved", after=3000.0)
    assert drill.run.budget.active_seconds == before


def test_a_pause_waits_for_the_decision_and_keeps_it() -> None:
    drill = Drill().to_acting(ORDER).tell(PauseAsked())
    assert isinstance(drill.phase, Asking)
    drill.decides("approved")
    assert isinstance(drill.phase, Paused)
    assert len(drill.run.grants) == 1
    drill.tell(ResumeAsked()).sees("f1")
    assert drill.pending(Act).consequence == "c-order"


def test_an_approval_that_expires_in_a_pause_is_asked_for_again() -> None:
    drill = Drill(approval_seconds=60.0).to_acting(ORDER).tell(PauseAsked()).decides("approved")
    drill.tell(ResumeAsked(), 100.0).sees("f1")
    assert isinstance(drill.phase, Asking)


def test_the_rest_of_the_plan_goes_on_after_the_approval() -> None:
    drill = Drill().to_acting(ONE, ORDER, REPLAN_STEP).decides("approved").sees("f1")
    assert drill.pending(Act).index == 0
    drill.acts()
    assert drill.pending(Act).index == 1


# --- what was shown, and to whom


@pytest.mark.parametrize("shown", [(), ("c-pay",), ("c-order",), ("c-pay", "c-order"), ("c-order", "c-pay", "c-pay")])
def test_an_approval_of_something_else_than_was_asked_approves_nothing(shown: tuple[str, ...]) -> None:
    drill = Drill().to_acting(ORDER, PAY).decides("approved", shown=shown)
    assert isinstance(drill.phase, Asking)
    assert (drill.run.grants, drill.run.counts.late) == ((), 1)


def test_a_rejection_does_not_have_to_name_what_was_shown() -> None:
    assert Drill().to_acting(ORDER).decides("rejected", shown=()).ended[0] == "rejected"


def started_by(who: str) -> Drill:
    drill = Drill()
    drill.run = replace(drill.run, not_by=who)
    return drill


@pytest.mark.parametrize("by", ["ada", "Ada", " ada ", ""])
def test_four_eyes_the_starter_of_the_run_cannot_approve(by: str) -> None:
    drill = started_by("ada").to_acting(ORDER)
    assert why_no_effect(drill.run, decision(drill, by=by)) != ""
    drill.decides("approved", by=by)
    assert isinstance(drill.phase, Asking)
    assert drill.run.grants == ()
    drill.decides("approved", by="grace").sees("f1")
    assert drill.pending(Act)


def test_four_eyes_the_starter_of_the_run_can_reject() -> None:
    assert started_by("ada").to_acting(ORDER).decides("rejected", by="ada").ended[0] == "rejected"


def test_four_eyes_the_starter_of_the_run_cannot_decide_a_doubt() -> None:
    drill = started_by("ada").to_acting(ORDER).decides("approved", by="grace").sees("f1")
    drill.acts("unknown").verifies("undecided").decides("did_not_happen", by="ada")
    assert isinstance(drill.phase, Asking)
    assert drill.decides("stop", by="ada").ended[0] == "needs_human"


def decision(drill: Drill, **more: Any) -> ApprovalDecided:
    phase = drill.phase
    assert isinstance(phase, Asking)
    shown = tuple(step.consequence for step in phase.steps)
    return ApprovalDecided(question=phase.question, verdict="approved", shown=shown, **more)
