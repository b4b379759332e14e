"""While a person is asked whether something happened, it is checked again; and once more before a denial is believed."""

from dataclasses import replace
from typing import Any

import pytest

from midcourse.director.asking import MOST_CHECKS
from midcourse.director.decide import why_no_effect
from midcourse.domain.budget import FREE
from midcourse.domain.commands import Act, AskPerson, Finish, Verify, Wait
from midcourse.domain.events import ApprovalDecided, CancelAsked, PauseAsked, ResumeAsked, Resumed, Verified
from midcourse.domain.phases import Asking, BackingOff, Looking, Opening, Paused, Verifying
from tests.harness import REPLAN_STEP, Drill, a_step

ORDER = a_step("order", "irreversible")
BY_ADA: dict[str, Any] = {"by": "ada"}


def asked(**limits: Any) -> Drill:
    drill = Drill(approvals="never", **limits).to_acting(ORDER, REPLAN_STEP)
    return drill.acts("unknown", reason="timeout").verifies("undecided", detail="the probe cannot tell")


def question(drill: Drill) -> int:
    assert isinstance(drill.phase, Asking)
    return drill.phase.question


def answer(number: int, verdict: Any = "did_not_happen") -> ApprovalDecided:
    return ApprovalDecided(question=number, verdict=verdict, by="ada")


def acts_sent(drill: Drill) -> int:
    return len(drill.sent(Act))


# --- at growing intervals


def test_the_doubt_is_checked_at_growing_intervals_and_a_limited_number_of_times() -> None:
    drill, waits = asked(approval_seconds=1e9), []
    for _ in range(MOST_CHECKS):
        before = drill.now
        drill.looks_again()
        waits.append(drill.now - before - 1.0)  # a drill's events are a second apart
    assert waits[:4] == [2.0, 4.0, 8.0, 16.0]
    assert (max(waits), waits[-1]) == (300.0, 300.0)
    assert 3600.0 < sum(waits) < 4200.0
    assert isinstance(drill.phase, Asking)
    assert (drill.phase.timer, [issued.command.kind for issued in drill.run.pending]) == (0, ["ask_person", "wait"])


def test_a_check_costs_nothing_and_no_working_time() -> None:
    drill = asked(max_calls=2)  # both are used: for the plan, and set aside
    before = drill.run.budget
    assert drill.looks_again().run.budget == before
    check = drill.sent(Verify)[-1]
    assert (check.free, check.question, check.doubted) == (True, question(drill), drill.sent(Verify)[0].doubted)
    assert all(issued.reserved == FREE for issued in drill.run.pending)


def test_what_was_seen_by_a_check_is_not_used_otherwise() -> None:
    """Nothing read its picture."""
    drill = asked()
    seen = drill.run.seen
    assert drill.looks_again(fingerprint="later").run.seen == seen


def test_a_check_that_comes_too_early_is_repeated_when_it_has_settled() -> None:
    drill = asked().looks_again("too_early", seconds=40.0)
    assert drill.sent(Wait)[-1].seconds == 40.0
    assert isinstance(drill.phase, Asking)


# --- the question is withdrawn


def test_evidence_that_it_happened_withdraws_the_question() -> None:
    drill = asked()
    number = question(drill)
    drill.looks_again("happened", evidence="expectation", detail="the expectation says that it happened")
    assert isinstance(drill.phase, Looking)
    assert drill.run.counts.completed == 1
    assert drill.run.finished_irreversible == ("i-order",)
    assert [issued.command.kind for issued in drill.run.pending] == ["observe"]
    assert (acts_sent(drill), drill.run.outcome_answers) == (1, ())
    why = why_no_effect(drill.run, answer(number))
    assert why == f"question {number} was withdrawn: the expectation says that it happened"


def test_an_answer_after_the_withdrawal_changes_nothing() -> None:
    drill = asked()
    late = answer(question(drill))
    drill.looks_again("happened", evidence="probe")
    phase = drill.phase
    drill.tell(late)
    assert (drill.phase, drill.run.counts.late, drill.run.finished_irreversible) == (phase, 1, ("i-order",))


def test_an_answer_after_the_end_of_the_run_is_told_of_the_withdrawal() -> None:
    drill = Drill(approvals="never").to_acting(ORDER).acts("unknown").verifies("undecided")
    late = answer(question(drill))
    drill.looks_again("happened", evidence="probe", detail="the probe says so").sees("f2")
    assert drill.ended[0] == "plan_complete"
    assert why_no_effect(drill.run, late).endswith("was withdrawn: the probe says so")


def test_the_answer_was_first_and_the_check_under_way_is_given_up() -> None:
    drill = asked()
    check = drill.begins_to_look_again().pending(Verify)
    drill.decides("happened")
    assert isinstance(drill.phase, Looking)
    late = drill.run.counts.late
    drill.tell(Verified(answers=check.id, verdict="did_not_happen", evidence="probe"))
    assert (drill.run.counts.late, drill.run.finished_irreversible) == (late + 1, ("i-order",))


def test_evidence_that_it_did_not_happen_counts_as_it_did_before_the_question() -> None:
    drill = asked().looks_again("did_not_happen", evidence="probe", sent_at=5.0).sees("f2")
    assert (drill.run.finished_irreversible, len(drill.run.absences)) == ((), 1)
    assert isinstance(drill.phase, BackingOff)


def test_a_probe_that_was_wrong_once_does_not_withdraw_a_question() -> None:
    drill = Drill(approvals="never").to_acting(ORDER, REPLAN_STEP).acts("unknown")
    drill.verifies("did_not_happen", evidence="probe").waits().acts("unknown").verifies("undecided")
    drill.looks_again("did_not_happen", evidence="probe")
    assert isinstance(drill.phase, Asking)
    assert drill.run.finished_irreversible == ("i-order",)


def test_a_lost_world_keeps_the_question_and_ends_the_checks() -> None:
    drill = asked()
    number = question(drill)
    drill.looks_again(reason="world_lost", fingerprint=None)
    assert (question(drill), drill.run.counts.reopenings) == (number, 0)
    assert [issued.command.kind for issued in drill.run.pending] == ["ask_person", "wait"]
    assert drill.waits().ended[0] == "needs_human"


def test_a_question_expires_when_it_did_although_checks_are_due() -> None:
    drill = asked(approval_seconds=60.0)
    before = drill.now
    drill.looks_again().looks_again().waits()
    assert (drill.now - before, drill.ended[0]) == (60.0, "needs_human")


def test_only_questions_about_a_doubt_are_checked() -> None:
    drill = Drill().to_acting(ORDER)
    assert [issued.command.kind for issued in drill.run.pending] == ["ask_person", "wait"]


# --- a denial


def test_a_denial_is_believed_after_another_check_that_costs_nothing() -> None:
    drill = asked().decides("did_not_happen", **BY_ADA)
    assert isinstance(drill.phase, Verifying)
    check = drill.pending(Verify)
    assert (check.free, check.question, drill.run.outcome_answers) == (True, 0, ())
    drill.verifies("undecided")
    assert drill.run.finished_irreversible == ()
    assert [(t.happened, t.command, t.against) for t in drill.run.outcome_answers] == [(False, check.doubted, "")]


def test_a_denial_is_checked_and_recorded_although_the_time_to_work_is_used_up() -> None:
    drill = asked()
    drill.run = replace(drill.run, budget=replace(drill.run.budget, active_seconds=drill.run.limits.max_wall_seconds))
    drill.decides("did_not_happen").verifies("undecided")
    assert drill.ended[0] == "budget_exhausted"
    assert [told.happened for told in drill.sent(Finish)[-1].outcome_answers] == [False]


def test_a_denial_against_newer_evidence_is_asked_about_again() -> None:
    drill = asked().decides("did_not_happen", **BY_ADA)
    drill.verifies("happened", evidence="expectation", detail="the expectation says that it happened").sees("f3")
    assert isinstance(drill.phase, Asking)
    again = drill.pending(AskPerson)
    assert again.detail == "ada said that it did not happen, but the expectation says that it happened"
    assert (again.about, again.seen) == ("happened", "o-f3")
    assert (drill.run.finished_irreversible, drill.run.outcome_answers, acts_sent(drill)) == (("i-order",), (), 1)
    assert drill.phase.timer == 0, "the evidence is there, and is not looked for again"


def test_the_second_denial_is_believed_and_recorded_as_one_against_evidence() -> None:
    drill = asked().decides("did_not_happen").verifies("happened", evidence="probe").sees("f3")
    drill.decides("did_not_happen").sees("f4")
    assert drill.run.finished_irreversible == ()
    assert [(t.happened, t.against) for t in drill.run.outcome_answers] == [(False, "probe")]
    assert isinstance(drill.phase, BackingOff)


def test_the_contradicted_person_may_see_that_it_happened() -> None:
    drill = asked().decides("did_not_happen").verifies("happened", evidence="probe").sees("f3")
    drill.decides("happened")
    assert (drill.run.counts.completed, drill.run.finished_irreversible) == (1, ("i-order",))


@pytest.mark.parametrize("verdict", ["too_early", "did_not_happen"])
def test_a_denial_that_nothing_contradicts_is_believed(verdict: str) -> None:
    drill = asked().decides("did_not_happen").verifies(verdict, evidence="probe")
    assert drill.run.finished_irreversible == ()
    assert [t.happened for t in drill.run.outcome_answers] == [False]


def test_a_denial_in_a_lost_world_is_checked_in_the_next_session() -> None:
    drill = asked().decides("did_not_happen").verifies("undecided", reason="world_lost", fingerprint=None)
    assert isinstance(drill.phase, Opening)
    assert isinstance(drill.opens().phase, Verifying)
    drill.verifies("undecided")
    assert drill.run.finished_irreversible == ()


# --- pauses, cancels and crashes


def test_a_pause_takes_effect_after_the_question_is_withdrawn() -> None:
    drill = asked().tell(PauseAsked()).looks_again("happened", evidence="probe")
    assert isinstance(drill.phase, Paused)
    assert drill.tell(ResumeAsked()).sees("f2").run.counts.completed == 1


def test_a_pause_before_a_denial_is_checked() -> None:
    drill = asked().tell(PauseAsked()).decides("did_not_happen")
    assert isinstance(drill.phase, Paused)
    drill.tell(ResumeAsked())
    assert isinstance(drill.phase, Verifying)
    assert drill.verifies("undecided").run.finished_irreversible == ()


def test_a_cancel_ends_the_checks() -> None:
    drill = asked().looks_again().tell(CancelAsked())
    assert drill.ended[0] == "cancelled"
    assert drill.pending(Finish)


def test_a_cancel_before_a_denial_is_checked_ends_the_run_without_another_question() -> None:
    drill = asked().decides("did_not_happen").tell(CancelAsked())
    assert isinstance(drill.phase, Verifying)
    assert drill.verifies("happened", evidence="probe").ended[0] == "cancelled"


@pytest.mark.parametrize("world", ["kept", "reopened"])
def test_a_run_that_is_resumed_at_its_question_checks_on(world: Any) -> None:
    drill = asked().tell(Resumed(world=world)).looks_again().looks_again("happened", evidence="probe")
    assert isinstance(drill.phase, Looking)
    assert drill.run.finished_irreversible == ("i-order",)


# --- runs of earlier formats


def test_a_run_of_an_earlier_format_is_asked_as_its_journal_says() -> None:
    drill = Drill(approvals="never")
    drill.run = replace(drill.run, format=2)
    drill.to_acting(ORDER, REPLAN_STEP).acts("unknown").verifies("undecided")
    assert [issued.command.kind for issued in drill.run.pending] == ["ask_person", "wait"]
    assert (drill.pending(AskPerson).seen, drill.pending(AskPerson).doubted) == ("", 0)
    assert drill.decides("did_not_happen").run.finished_irreversible == ()
