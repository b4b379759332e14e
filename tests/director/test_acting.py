"""One step: it passes the gate, is performed, and its outcome is decided."""

from dataclasses import replace
from typing import Any

import pytest

from midcourse.domain.approval import Grant
from midcourse.domain.commands import Act, AskPerson, MakePlan, Verify
from midcourse.domain.events import ApprovalDecided
from midcourse.domain.outcome import UNASKED
from midcourse.domain.phases import Acting, Asking, BackingOff, Looking, Opening, Planning, Verifying
from tests.harness import REPLAN_STEP, Drill, a_step

ONE = a_step("one")
UNDO = a_step("undo", "reversible")
ORDER = a_step("order", "irreversible")
SEEN: dict[str, Any] = {"evidence": "expectation"}
GONE: dict[str, Any] = {"evidence": "absent_when", "reason": "no_effect"}


def unasked(**limits: Any) -> Drill:
    return Drill(approvals="never", **limits)


# --- the gate: what was seen


def test_a_stale_screen_is_looked_at_before_a_zone_on_it_is_touched() -> None:
    drill = Drill().to_acting(ONE, a_step("two")).acts("ok", fingerprint=None)
    assert isinstance(drill.phase, Looking)
    drill.sees("f2")
    assert drill.pending(Act).seen == "o-f2"


def test_nothing_is_done_to_a_zone_on_a_stale_screen() -> None:
    drill = Drill().to_acting(ONE, a_step("two")).acts("ok", fingerprint=None).sees_nothing()
    assert len(drill.sent(Act)) == 1
    drill.sees_nothing().sees_nothing()
    assert len(drill.sent(Act)) == 1
    assert drill.run.attempts[0].reason == "stale_target"


def test_a_key_may_be_pressed_on_a_stale_screen() -> None:
    key = a_step("key", place="global")
    drill = Drill().to_acting(ONE, key).acts("ok", fingerprint=None).sees_nothing()
    assert drill.pending(Act).index == 1


def test_nothing_irreversible_is_done_on_a_stale_screen() -> None:
    """Not even without a zone: what is seen afterwards could not be told from what was there before."""
    send = a_step("send", "irreversible", place="global")
    drill = unasked().to_acting(ONE, send).acts("ok", fingerprint=None).sees_nothing()
    assert len(drill.sent(Act)) == 1
    assert isinstance(drill.phase, Looking)


# --- outcomes of irreversible steps


def test_an_irreversible_step_is_done_only_with_evidence() -> None:
    drill = unasked().to_acting(ORDER).acts("ok", **SEEN)
    assert drill.ended[0] == "plan_complete"
    assert drill.run.finished_irreversible == ("i-order",)


@pytest.mark.parametrize("status", ["ok", "failed", "no_effect", "unreachable", "unknown"])
def test_an_irreversible_step_without_evidence_is_in_doubt_and_counts_as_done(status: str) -> None:
    drill = unasked().to_acting(ORDER).acts(status, reason="rejected")
    assert isinstance(drill.phase, Verifying)
    assert drill.run.counts.completed == 0
    assert drill.run.finished_irreversible == ("i-order",)
    command = drill.pending(Verify)
    assert (command.version, command.index, command.doubted) == (1, 0, drill.sent(Act)[0].id)


@pytest.mark.parametrize(
    ("status", "evidence"),
    [("failed", "absent_when"), ("failed", "expectation"), ("ok", "absent_when"), ("no_effect", "expectation")],
)
def test_evidence_that_contradicts_the_outcome_is_ignored(status: str, evidence: str) -> None:
    drill = unasked().to_acting(ORDER).acts(status, evidence=evidence)
    assert isinstance(drill.phase, Verifying)
    assert drill.run.finished_irreversible == ("i-order",)


def test_evidence_of_absence_makes_the_failure_transient() -> None:
    drill = unasked().to_acting(ORDER).acts("no_effect", **GONE)
    assert drill.run.finished_irreversible == ()
    assert isinstance(drill.phase, BackingOff)
    drill.waits().acts("ok", **SEEN)
    assert drill.ended[0] == "plan_complete"
    assert drill.run.counts.executions == 2


def test_a_step_that_was_not_sent_needs_no_evidence() -> None:
    drill = unasked().to_acting(ORDER).acts("failed", reason="bad_arguments", dispatched=False, looked=False)
    assert drill.run.finished_irreversible == ()
    assert drill.pending(MakePlan).cause == "error"


CLAIM: dict[str, Any] = {
    "evidence": "rule",
    "claimed": True,
    "reason": "permission",
    "detail": "Permission denied: cannot write to /protected",
}


def test_what_a_world_claims_not_to_have_sent_is_checked_and_then_fails_as_it_says() -> None:
    drill = unasked().to_acting(ORDER).acts("no_effect", **CLAIM)
    assert isinstance(drill.phase, Verifying)
    assert drill.run.finished_irreversible == ("i-order",), "nothing may repeat it until it is known"
    drill.verifies("did_not_happen", evidence="rule")
    assert drill.run.finished_irreversible == ()
    assert not drill.run.disbelieved
    plan = drill.pending(MakePlan)
    assert (plan.cause, drill.run.attempts[-1].reason) == ("error", "permission")
    assert drill.run.absences == (), "no probe has said so"


def test_a_claim_that_nothing_decides_stands_without_a_question() -> None:
    drill = unasked().to_acting(ORDER).acts("no_effect", **CLAIM).verifies("undecided")
    assert drill.pending(MakePlan).cause == "error"
    assert drill.sent(AskPerson) == []


def test_a_claim_is_checked_again_where_the_probe_has_not_settled_or_the_world_was_lost() -> None:
    drill = unasked().to_acting(ORDER).acts("no_effect", **CLAIM).verifies("too_early", seconds=3.0)
    assert isinstance(drill.phase, BackingOff)
    assert isinstance(drill.waits().phase, Verifying)
    drill.verifies("undecided", reason="world_lost")
    assert isinstance(drill.phase, Opening)


@pytest.mark.parametrize("found", ["by verification", "on the screen"])
def test_a_world_that_claimed_wrongly_is_not_believed_again(found: str) -> None:
    drill = Drill().to_acting(ORDER, a_step("pay", "irreversible")).decides("approved").sees("f1")
    assert drill.pending(Act).believe_claim
    if found == "by verification":
        drill.acts("no_effect", **CLAIM).verifies("happened", evidence="probe")
    else:
        drill.acts("ok", evidence="expectation", reason="disputed")
    assert drill.run.disbelieved
    assert drill.run.finished_irreversible == ("i-order",)
    assert drill.run.counts.completed == 1
    assert not drill.pending(Act).believe_claim


def test_what_a_world_claimed_before_it_was_found_out_may_have_been_sent() -> None:
    pay = a_step("pay", "irreversible")
    drill = unasked().to_acting(ORDER).acts("no_effect", **CLAIM).verifies("did_not_happen", evidence="rule")
    assert drill.run.claimed == ("i-order",)
    drill.plans(pay, REPLAN_STEP).acts("no_effect", **CLAIM).verifies("happened", evidence="probe")
    assert set(drill.run.finished_irreversible) == {"i-order", "i-pay"}
    assert drill.run.claimed == ()


def test_an_approval_survives_a_claim_and_is_used_up_if_the_claim_is_wrong() -> None:
    approved = Drill().to_acting(ORDER, REPLAN_STEP).decides("approved").sees("f1").acts("no_effect", **CLAIM)
    assert len(approved.run.grants) == 1
    assert approved.verifies("happened", evidence="probe").run.grants == ()


def test_only_an_irreversible_step_that_was_dispatched_can_be_claimed() -> None:
    drill = unasked().to_acting(UNDO).acts("no_effect", **CLAIM)
    assert drill.pending(MakePlan).cause == "error"
    unsent = unasked().to_acting(ORDER).acts("no_effect", dispatched=False, looked=False, **CLAIM)
    assert unsent.pending(MakePlan).cause == "error"


def test_the_outcome_of_a_reversible_step_needs_no_evidence() -> None:
    drill = Drill().to_acting(UNDO).acts("ok")
    assert drill.ended[0] == "plan_complete"
    assert drill.run.finished_irreversible == ()


# --- doubt


def in_doubt(step: Any = ORDER, **limits: Any) -> Drill:
    return unasked(**limits).to_acting(step, REPLAN_STEP).acts("unknown", reason="timeout", fingerprint="f2")


def test_a_doubted_step_verified_as_happened_is_done() -> None:
    drill = in_doubt().verifies("happened", evidence="probe")
    assert drill.run.counts.completed == 1
    assert drill.run.finished_irreversible == ("i-order",)
    assert isinstance(drill.phase, Looking)


def test_a_doubted_step_verified_as_absent_may_be_done_again() -> None:
    drill = in_doubt().verifies("did_not_happen", evidence="probe")
    assert drill.run.finished_irreversible == ()
    assert isinstance(drill.phase, BackingOff)
    drill.waits()
    assert drill.pending(Act).index == 0
    assert drill.run.counts.executions == 1


def test_a_step_that_was_never_sent_is_retried_at_once() -> None:
    drill = in_doubt().verifies("did_not_happen", evidence="not_dispatched")
    assert isinstance(drill.phase, Acting)


def test_a_probe_that_has_not_settled_is_asked_again_later() -> None:
    drill = in_doubt().verifies("too_early", seconds=7.0)
    assert isinstance(drill.phase, BackingOff)
    before = drill.now
    drill.waits()
    assert drill.now - before == 7.0
    assert isinstance(drill.phase, Verifying)
    assert drill.run.finished_irreversible == ("i-order",)


@pytest.mark.parametrize("effect", ["read", "set_state"])
def test_an_undecided_harmless_step_is_done_again(effect: Any) -> None:
    drill = in_doubt(a_step("one", effect)).verifies("undecided").waits()
    assert drill.pending(Act).index == 0


def test_an_undecided_reversible_step_is_planned_around() -> None:
    drill = in_doubt(UNDO).verifies("undecided", detail="who knows")
    assert drill.pending(MakePlan).why == "undo failed: undecided — who knows"


def test_an_undecided_irreversible_step_goes_to_a_person() -> None:
    drill = in_doubt().verifies("undecided", detail="the page is blank")
    assert isinstance(drill.phase, Asking)
    question = drill.pending(AskPerson)
    assert (question.about, question.detail) == ("happened", "the page is blank")
    assert question.steps[0].consequence == "c-order"
    assert drill.run.finished_irreversible == ("i-order",)


@pytest.mark.parametrize("reason", sorted(UNASKED))
def test_a_refused_request_and_a_sign_in_are_planned_around_without_asking_and_count_as_sent(reason: str) -> None:
    drill = unasked().to_acting(ORDER, REPLAN_STEP).acts("unknown", reason=reason, detail="POST: 422")
    drill.verifies("undecided", detail="no probe")
    assert drill.pending(MakePlan).why == f"order failed: {reason} — POST: 422"
    assert drill.run.finished_irreversible == ("i-order",)
    assert drill.run.counts.completed == 0


def test_a_person_says_that_it_happened() -> None:
    drill = in_doubt().verifies("undecided").decides("happened")
    assert drill.run.counts.completed == 1
    assert drill.run.finished_irreversible == ("i-order",)
    assert [(t.version, t.index, t.happened) for t in drill.run.outcome_answers] == [(1, 0, True)]


def test_a_person_says_that_it_did_not_happen() -> None:
    drill = in_doubt().verifies("undecided").decides("did_not_happen").verifies("undecided")
    assert drill.run.finished_irreversible == ()
    assert isinstance(drill.sees("f2").phase, BackingOff)
    assert isinstance(drill.waits().phase, Acting)


def test_a_person_stops_the_run() -> None:
    drill = in_doubt().verifies("undecided").decides("stop")
    assert drill.ended[0] == "needs_human"
    assert drill.run.finished_irreversible == ("i-order",)


def test_an_unanswered_question_about_a_doubt_ends_the_run() -> None:
    drill = in_doubt().verifies("undecided").waits()
    assert drill.ended == ("needs_human", "no answer whether order happened")


def test_a_doubt_is_asked_about_although_approvals_are_off() -> None:
    """`approvals=never` is about permission. What is unknown is still asked."""
    assert isinstance(in_doubt().verifies("undecided").phase, Asking)


def test_a_world_lost_in_doubt_is_opened_and_then_asked() -> None:
    drill = unasked().to_acting(ORDER).acts("unknown", reason="world_lost", fingerprint=None)
    assert isinstance(drill.phase, Opening)
    assert drill.run.finished_irreversible == ("i-order",)
    assert isinstance(drill.opens().phase, Verifying)
    drill.verifies("undecided", reason="world_lost", fingerprint=None)
    assert isinstance(drill.phase, Opening)
    assert drill.run.counts.reopenings == 2


@pytest.mark.parametrize("status", ["failed", "no_effect", "ok"])
def test_a_world_lost_after_a_step_with_an_outcome_is_opened_and_planned_for(status: str) -> None:
    drill = Drill().to_acting(UNDO, ONE).acts(status, reason="world_lost", fingerprint=None).opens()
    assert isinstance(drill.phase, Looking)
    drill.sees("f0")
    assert isinstance(drill.phase, Planning)
    assert drill.pending(MakePlan).seen == "o-f0"
    assert drill.run.counts.executions == 1


def test_a_world_lost_before_a_step_was_sent_is_looked_at_before_it_is_planned_for() -> None:
    drill = unasked().to_acting(ORDER).acts("unknown", reason="world_lost", fingerprint=None).opens()
    drill.verifies("did_not_happen", evidence="not_dispatched", fingerprint=None)
    assert isinstance(drill.phase, Looking)
    drill.sees("f0")
    assert (drill.pending(MakePlan).cause, drill.pending(MakePlan).seen) == ("reopened", "o-f0")


def test_a_step_that_was_sent_into_a_lost_world_is_not_taken_for_unsent() -> None:
    drill = Drill().to_acting(UNDO).acts("failed", reason="world_lost", fingerprint=None).opens()
    assert drill.run.attempts[0].reason == "world_lost"


# --- held: the consequence would be another one


def test_a_changed_consequence_voids_the_approval_and_is_asked_again_with_the_difference() -> None:
    drill = Drill().to_acting(ORDER).decides("approved").sees("f1")
    drill.acts_held("other")
    question = drill.pending(AskPerson)
    assert question.changed_from == "c-order"
    assert question.steps[0].consequence == "c-other"
    assert drill.run.grants == ()
    assert drill.run.counts.executions == 0
    drill.decides("approved").sees("f1")
    assert drill.pending(Act).consequence == "c-other"
    drill.acts("ok", **SEEN, identity="i-other")
    assert drill.run.finished_irreversible == ("i-other",)
    assert drill.run.grants == ()


def test_a_commit_set_that_was_unknown_is_asked_about_at_the_gate() -> None:
    drill = Drill().to_acting(replace(ORDER, identity="", consequence=""))
    assert drill.pending(Act).consequence == ""
    drill.acts_held("order")
    assert drill.pending(AskPerson).changed_from == ""
    drill.decides("approved").sees("f1")
    assert drill.pending(Act).consequence == "c-order"


def test_a_held_step_that_is_already_finished_is_refused() -> None:
    drill = unasked().to_acting(ORDER, REPLAN_STEP).acts("ok", **SEEN).sees("f2")
    drill.plans(replace(ORDER, identity="", consequence="")).acts_held("order")
    assert drill.pending(MakePlan).cause == "error"
    assert drill.run.counts.refusals == 1


def test_a_consequence_that_changes_each_time_is_a_failure() -> None:
    drill = unasked().to_acting(ORDER)
    for n in range(4):
        drill.acts_held(f"v{n}")
    assert drill.pending(MakePlan).why.startswith("order failed: consequence_unstable")
    assert drill.run.counts.executions == 0


def test_a_step_that_turns_out_to_be_irreversible_needs_approval() -> None:
    drill = Drill().to_acting(a_step("click")).acts_held("pay")
    assert drill.pending(AskPerson).steps[0].consequence == "c-pay"
    drill.decides("approved").sees("f1").acts("ok", identity="i-pay")
    assert isinstance(drill.phase, Verifying), "irreversible by now: a word is not enough"


def test_what_the_plan_did_not_mean_to_send_waits_where_a_person_would_be_asked() -> None:
    drill = Drill().to_acting(a_step("click"), final=True).acts_held("pay", unsent=("PUT /layout",))
    act = drill.pending(Act)
    assert (act.leaves, act.effect, act.consequence) == (("PUT /layout",), "set_state", "")
    drill.acts("ok", unmet="not sent: click would send PUT /layout; it waits as request1")
    assert drill.pending(MakePlan).why == "not sent: click would send PUT /layout; it waits as request1"
    assert (drill.run.counts.executions, drill.run.finished_irreversible, drill.run.attempts) == (1, (), ())


def test_what_needs_no_question_does_not_wait() -> None:
    drill = unasked().to_acting(a_step("click")).acts_held("pay", unsent=("PUT /layout",))
    assert (drill.pending(Act).leaves, drill.pending(Act).consequence) == ((), "c-pay")


def test_what_was_allowed_for_the_run_does_not_wait() -> None:
    drill = Drill().to_acting(a_step("click"), a_step("click")).acts_held("pay", covers="layouts")
    drill.decides("approved", once=False).sees("f1").acts("ok", **SEEN, identity="i-pay")
    drill.acts_held("other", covers="layouts", unsent=("PUT /layout",))
    assert (drill.pending(Act).leaves, drill.pending(Act).consequence) == ((), "c-other")


def test_a_retry_sends_the_consequence_that_was_approved_last() -> None:
    """Else a person is asked about what would no longer be sent."""
    drill = Drill().to_acting(ORDER).decides("approved").sees("f1").acts_held("other").decides("approved").sees("f1")
    drill.acts("no_effect", **GONE, identity="i-other").waits()
    assert drill.pending(Act).consequence == "c-other"


def test_only_what_was_not_sent_can_be_held() -> None:
    """`held` is our word. A world that says it of something it did must not be believed."""
    drill = unasked().to_acting(ORDER).acts("failed", reason="held", identity="i-order")
    assert isinstance(drill.phase, Verifying)
    assert drill.run.finished_irreversible == ("i-order",)


# --- approvals at the gate


def test_nothing_irreversible_is_done_without_approval() -> None:
    drill = Drill().to_acting(ORDER)
    assert drill.sent(Act) == []
    assert drill.pending(AskPerson).about == "approve"


def test_an_approval_is_used_up_by_its_effect() -> None:
    drill = Drill().to_acting(ORDER, REPLAN_STEP).decides("approved").sees("f1")
    assert len(drill.run.grants) == 1
    drill.acts("unknown")
    assert drill.run.grants == ()


def test_an_approval_survives_an_act_without_effect() -> None:
    drill = Drill().to_acting(ORDER).decides("approved").sees("f1").acts("no_effect", **GONE).waits()
    assert isinstance(drill.phase, Acting)


def test_an_approval_for_the_run_is_not_used_up_by_a_doubt() -> None:
    drill = Drill().to_acting(ORDER).decides("approved", once=False).sees("f1").acts("unknown")
    drill.verifies("did_not_happen", evidence="probe").waits()
    assert isinstance(drill.phase, Acting)
    once = Drill().to_acting(ORDER).decides("approved").sees("f1").acts("unknown")
    once.verifies("did_not_happen", evidence="probe").waits()
    assert isinstance(once.phase, Asking)


def test_an_approval_survives_an_act_that_was_never_sent() -> None:
    """Its performer died before sending it: no second approval is needed."""
    drill = Drill().to_acting(ORDER).decides("approved").sees("f1").acts("unknown", reason="lost")
    assert drill.run.grants == ()
    drill.verifies("did_not_happen", evidence="not_dispatched")
    assert isinstance(drill.phase, Acting)
    assert len(drill.sent(AskPerson)) == 1
    assert drill.acts("unknown").run.grants == ()


def test_an_approval_for_the_run_ends_with_the_certain_effect() -> None:
    """Nothing is done twice, so it could never be used again, and a run has to stay small."""
    drill = Drill().to_acting(ORDER, REPLAN_STEP).decides("approved", once=False).sees("f1").acts("ok", **SEEN)
    assert drill.run.grants == ()
    doubted = Drill().to_acting(ORDER, REPLAN_STEP).decides("approved", once=False).sees("f1").acts("unknown")
    assert len(doubted.run.grants) == 1
    assert doubted.verifies("happened", evidence="probe").run.grants == ()


def test_an_approval_expires() -> None:
    drill = Drill(approval_seconds=50.0).to_acting(ONE, ORDER)
    drill.decides("approved").sees("f1").acts("ok", after=60.0)
    assert isinstance(drill.phase, Asking)
    assert len(drill.sent(AskPerson)) == 2


def test_an_approval_survives_a_replan_that_keeps_the_consequence() -> None:
    drill = Drill().to_acting(ONE, ORDER).decides("approved").sees("f1").acts("failed", reason="rejected")
    drill.plans(a_step("two"), ORDER).acts("ok")
    assert drill.pending(Act).consequence == "c-order"
    assert len(drill.sent(AskPerson)) == 1


def test_a_decision_for_another_question_approves_nothing() -> None:
    drill = Drill().to_acting(ORDER)
    drill.tell(ApprovalDecided(question=1, verdict="approved", shown=("c-order",)))
    assert isinstance(drill.phase, Asking)
    assert drill.run.grants == ()


def test_an_act_names_the_only_consequence_that_may_be_sent() -> None:
    drill = unasked().to_acting(ORDER)
    assert drill.pending(Act).consequence == "c-order"


def test_grants_are_for_exactly_what_was_asked() -> None:
    drill = Drill(approval_seconds=100.0).to_acting(ORDER, a_step("two", "irreversible")).decides("approved")
    expires = drill.run.now + 100.0
    assert drill.run.grants == (
        Grant(consequence="c-order", expires_at=expires),
        Grant(consequence="c-two", expires_at=expires),
    )
