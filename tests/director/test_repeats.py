"""Steps that look like an effect sent before are asked about or not sent; a probe that reports absence is believed once."""

from dataclasses import replace
from typing import Any

import pytest

from midcourse.director.decide import why_no_effect
from midcourse.domain.commands import Act, AskPerson, MakePlan, Verify
from midcourse.domain.events import ApprovalDecided
from midcourse.domain.phases import Asking, BackingOff, Looking
from midcourse.domain.records.ledger import Alike
from tests.harness import REPLAN_STEP, Drill, a_step

UNREAD = a_step("order", "irreversible", identity="", consequence="")


def alike(command: int, identity: str = "i-first", *, certain: bool = True) -> Alike:
    return Alike(command=command, identity=identity, version=1, index=0, at=1000.0, certain=certain)


def ordered(**limits: Any) -> tuple[Drill, int]:
    """One order has been sent and happened; the next plan has the same step, not read yet."""
    drill = Drill(**limits).to_acting(UNREAD, REPLAN_STEP).acts_held("first")
    if drill.run.limits.approvals != "never":
        drill.decides("approved").sees("f1")
    command = drill.pending(Act).id
    drill.acts(evidence="expectation", identity="i-first", fingerprint="f2").sees("f2").plans(UNREAD, REPLAN_STEP)
    return drill, command


def asked(**limits: Any) -> Drill:
    drill, command = ordered(**limits)
    return drill.acts_held("second", alike=(alike(command),), likeness="l")


def test_a_possible_repeat_is_asked_about_with_the_earlier_effect() -> None:
    drill = asked()
    question = drill.pending(AskPerson)
    assert question.about == "repeat"
    assert question.repeats > 0
    assert [(one.at, one.finding) for one in question.earlier] == [(1000.0, "exists")]
    assert "exists" in question.detail


def test_a_doubtful_effect_counts_as_sent() -> None:
    drill, command = ordered()
    drill.acts_held("second", alike=(alike(command, certain=False),))
    assert drill.pending(AskPerson).earlier[0].finding == "may_exist"


@pytest.mark.parametrize("verdict", ["approved", "changed", "take_over", "happened", "go_on"])
def test_only_answers_about_repeats_are_accepted(verdict: str) -> None:
    drill = asked()
    phase = drill.phase
    assert isinstance(phase, Asking)
    shown = tuple(step.consequence for step in phase.steps)
    decision = ApprovalDecided(question=phase.question, verdict=verdict, shown=shown)  # pyrefly: ignore[bad-argument-type]
    assert "send_again" in why_no_effect(drill.run, decision)
    drill.tell(decision)
    assert isinstance(drill.phase, Asking)


def test_send_again_sends_exactly_this_once() -> None:
    drill = asked().decides("send_again", once=False).sees("f2")
    assert drill.pending(Act).consequence == "c-second"
    assert len(drill.pending(Act).weighed) == 1
    drill.acts(evidence="expectation", identity="i-second", fingerprint="f3")
    assert drill.run.grants == ()
    assert drill.run.finished_irreversible == ("i-first", "i-second")


def test_the_answer_binds_the_consequence_that_was_shown() -> None:
    drill = asked().decides("send_again", shown=("c-other",))
    assert isinstance(drill.phase, Asking)


def test_a_no_means_that_the_step_is_already_finished() -> None:
    drill = asked().decides("rejected").sees("f2")
    assert drill.pending(MakePlan).cause == "error"
    assert "looks like what was sent before" in drill.pending(MakePlan).why
    assert len(drill.sent(Act)) == 3, "held, sent, held"


def test_no_with_guidance_plans_again() -> None:
    drill = asked().decides("rejected", guidance="It is there: read its number").sees("f2")
    assert drill.pending(MakePlan).cause == "guided"


def test_stop_and_silence_end_the_run() -> None:
    assert asked().decides("stop").ended[0] == "needs_human"
    assert asked().posts_question().waits().ended == ("needs_human", "no answer whether to send order again")


def test_without_approvals_a_possible_repeat_is_not_sent() -> None:
    drill = asked(approvals="never")
    assert drill.sent(AskPerson) == []
    assert "looks like what was sent before" in drill.pending(MakePlan).why


def test_a_rule_not_to_ask_does_not_send_a_possible_repeat() -> None:
    drill, command = ordered()
    drill.acts_held("second", alike=(alike(command),), ruled="never")
    assert isinstance(drill.phase, Asking) is False
    assert len(drill.sent(AskPerson)) == 1


def test_an_effect_that_did_not_happen_is_not_repeated() -> None:
    drill, _ = ordered()
    drill.acts_held("second", alike=(alike(7, "i-absent"),))
    assert drill.pending(AskPerson).about == "approve"


def test_a_planned_repetition_is_not_among_what_is_approved_beforehand() -> None:
    drill, command = ordered()
    known = a_step("order", "irreversible", identity="i-second", consequence="c-second", alike=(alike(command),))
    drill.acts_held("second").decides("rejected", guidance="Otherwise").sees("f2").plans(known, REPLAN_STEP)
    assert drill.pending(AskPerson).about == "repeat"


def test_an_approval_stands_if_only_the_resemblance_is_new() -> None:
    """Held because it looks like something that was not known of: if that does not count, no person is asked again."""
    drill = Drill().to_acting(UNREAD).acts_held("order").decides("approved").sees("f1")
    drill.acts_held("order", alike=(alike(7, "i-absent"),))
    assert drill.pending(Act).weighed == (7,)
    assert len(drill.sent(AskPerson)) == 1


# --- probes


def doubted(drill: Drill) -> Drill:
    return drill.acts("unknown", reason="timeout", fingerprint="f2")


def test_a_probe_is_believed_once() -> None:
    drill = doubted(Drill(approvals="never").to_acting(a_step("order", "irreversible", likeness="l"), REPLAN_STEP))
    assert drill.pending(Verify).believe_absence
    drill.verifies("did_not_happen", evidence="probe", sent_at=10.0)
    assert isinstance(drill.phase, BackingOff)
    doubted(drill.waits())
    assert not drill.pending(Verify).believe_absence
    drill.verifies("undecided", evidence="probe", sent_at=20.0)
    question = drill.pending(AskPerson)
    assert question.about == "happened"
    assert [(one.at, one.finding) for one in question.earlier] == [(10.0, "reported_absent"), (20.0, "reported_absent")]


def test_a_second_report_of_absence_is_not_believed() -> None:
    drill = doubted(Drill(approvals="never").to_acting(a_step("order", "irreversible", likeness="l"), REPLAN_STEP))
    doubted(drill.verifies("did_not_happen", evidence="probe", sent_at=10.0).waits())
    drill.verifies("did_not_happen", evidence="probe", sent_at=20.0)
    assert drill.pending(AskPerson).about == "happened"
    assert drill.run.finished_irreversible == ("i-order",)


@pytest.mark.parametrize("evidence", ["not_dispatched", "absent_when"])
def test_other_evidence_is_not_limited(evidence: str) -> None:
    drill = doubted(Drill(approvals="never").to_acting(a_step("order", "irreversible"), REPLAN_STEP))
    drill.verifies("did_not_happen", evidence=evidence)
    assert drill.run.absences == ()


def test_another_effect_has_a_probe_of_its_own() -> None:
    drill = doubted(Drill(approvals="never").to_acting(a_step("order", "irreversible", likeness="l"), REPLAN_STEP))
    drill.verifies("did_not_happen", evidence="probe", sent_at=10.0).waits()
    drill.acts("failed", reason="rejected", dispatched=False, fingerprint="f3")
    doubted(drill.plans(a_step("pay", "irreversible", likeness="m"), REPLAN_STEP))
    assert drill.pending(Verify).believe_absence


def test_a_run_that_remembers_too_many_believes_none() -> None:
    drill = Drill(approvals="never").to_acting(a_step("order", "irreversible", likeness="l"), REPLAN_STEP)
    from midcourse.domain.records.ledger import Absence

    many = tuple(Absence(likeness=f"l{n}", at=float(n)) for n in range(100))
    drill.run = replace(drill.run, absences=many)
    assert not doubted(drill).pending(Verify).believe_absence
    assert not isinstance(drill.phase, Looking)
