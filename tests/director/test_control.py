"""Pause, resume, cancel and guidance; the check whether the task is done; and the end of a run."""

from dataclasses import replace
from typing import Any

import pytest

from midcourse.domain.commands import Act, CheckDone, Finish, MakePlan, Observe, Record, Wait
from midcourse.domain.events import Acted, CancelAsked, PauseAsked, Planned, ResumeAsked, Resumed
from midcourse.domain.phases import Acting, BackingOff, Concluding, Ended, Looking, Opening, Paused, Planning, Verifying
from tests.harness import REPLAN_STEP, Drill, a_step, ref

ONE, TWO = a_step("one"), a_step("two")
ORDER = a_step("order", "irreversible")


# --- cancel


def test_cancel_ends_a_run_that_only_waits_and_charges_what_was_under_way() -> None:
    drill = Drill().to_planning().tell(CancelAsked())
    assert drill.ended == ("cancelled", "cancelled on request")
    assert drill.run.budget.spent.calls == 1
    assert drill.run.budget.reserved.calls == 0
    assert [issued.command.kind for issued in drill.run.pending] == ["finish"]
    drill.finishes()
    assert drill.run.pending == ()


def test_cancel_waits_for_the_act_under_way() -> None:
    drill = Drill().to_acting(ONE, TWO).tell(CancelAsked())
    assert isinstance(drill.phase, Acting)
    assert drill.pending(Act)
    drill.acts()
    assert drill.ended[0] == "cancelled"
    assert drill.run.counts.completed == 1
    assert len(drill.sent(Act)) == 1


def test_cancel_waits_until_a_doubt_is_verified() -> None:
    drill = Drill(approvals="never").to_acting(ORDER).tell(CancelAsked()).acts("unknown")
    assert isinstance(drill.phase, Verifying)
    drill.verifies("happened", evidence="probe")
    assert drill.ended[0] == "cancelled"
    assert drill.run.finished_irreversible == ("i-order",)


def test_cancel_in_doubt_asks_no_question() -> None:
    drill = Drill(approvals="never").to_acting(ORDER).acts("unknown").tell(CancelAsked()).verifies("undecided")
    assert drill.ended[0] == "cancelled"
    assert drill.run.finished_irreversible == ("i-order",)


def test_cancel_ends_a_pause_and_a_question() -> None:
    assert Drill().to_acting(ORDER).tell(CancelAsked()).ended[0] == "cancelled"
    paused = Drill().to_acting(ONE, TWO).tell(PauseAsked()).acts()
    assert paused.tell(CancelAsked()).ended[0] == "cancelled"


def test_cancel_overrides_pause_and_cannot_be_undone() -> None:
    drill = Drill().to_acting(ONE, TWO).tell(CancelAsked()).tell(PauseAsked()).tell(ResumeAsked()).acts()
    assert drill.ended[0] == "cancelled"


def test_cancel_while_finishing_changes_nothing() -> None:
    drill = Drill().to_acting(ONE).acts().tell(CancelAsked())
    assert drill.ended[0] == "plan_complete"
    drill.finishes()
    assert drill.run.pending == ()


# --- pause


def test_pause_waits_for_the_act_and_then_holds_everything() -> None:
    drill = Drill().to_acting(ONE, TWO).tell(PauseAsked())
    assert isinstance(drill.phase, Acting)
    drill.acts()
    assert isinstance(drill.phase, Paused)
    assert [issued.command.kind for issued in drill.run.pending] == ["record"]
    drill.records()
    assert isinstance(drill.phase, Paused)
    assert drill.run.pending == ()


def test_after_a_pause_the_world_is_looked_at_before_anything_else() -> None:
    drill = Drill().to_acting(ONE, TWO).tell(PauseAsked()).acts().records().tell(ResumeAsked())
    assert isinstance(drill.phase, Looking)
    drill.sees("f7")
    assert drill.pending(Act).index == 1
    assert drill.pending(Act).seen == "o-f7"


def test_a_failed_step_is_recovered_after_the_pause() -> None:
    drill = Drill().to_acting(ONE).tell(PauseAsked()).acts("failed", reason="rejected").tell(ResumeAsked()).sees("f2")
    assert drill.pending(MakePlan).cause == "error"


def test_a_pause_resumed_before_it_begins_does_not_happen() -> None:
    drill = Drill().to_acting(ONE, TWO).tell(PauseAsked()).tell(ResumeAsked()).acts()
    assert isinstance(drill.phase, Acting)


def test_paused_time_counts_against_nothing_but_the_deadline() -> None:
    drill = Drill().to_acting(ONE, TWO).tell(PauseAsked()).acts()
    before = drill.run.budget.active_seconds
    drill.tell(ResumeAsked(), 90_000.0)
    assert drill.run.budget.active_seconds == before
    tight = Drill(deadline_seconds=1000.0).to_acting(ONE, TWO).tell(PauseAsked()).acts()
    assert tight.pending(Wait).seconds == 995.0
    assert tight.waits().ended == ("deadline_exceeded", "the deadline came while the run was paused")


def test_resume_in_a_paused_run_past_its_deadline() -> None:
    drill = Drill(deadline_seconds=1000.0).to_acting(ONE, TWO).tell(PauseAsked()).acts()
    assert drill.tell(ResumeAsked(), 2000.0).ended[0] == "deadline_exceeded"


def test_a_run_can_be_paused_before_it_began_and_again_after() -> None:
    drill = Drill().starts().tell(PauseAsked()).opens()
    assert isinstance(drill.phase, Paused)
    drill.tell(ResumeAsked()).tell(PauseAsked()).sees("f1")
    assert isinstance(drill.phase, Paused)
    drill.tell(ResumeAsked()).sees("f1")
    assert isinstance(drill.phase, Planning)


def test_pausing_in_doubt_holds_the_doubt() -> None:
    drill = Drill(approvals="never").to_acting(ORDER).tell(PauseAsked()).acts("unknown")
    assert isinstance(drill.phase, Paused)
    assert drill.run.finished_irreversible == ("i-order",)
    assert isinstance(drill.tell(ResumeAsked()).phase, Verifying)


def test_every_pause_is_written_down() -> None:
    drill = Drill().to_acting(ONE, TWO).tell(PauseAsked()).acts()
    assert len(drill.sent(Record)) == 1


# --- a process that goes on


def test_after_a_restart_the_world_is_looked_at_first() -> None:
    drill = Drill().to_acting(ONE, TWO).acts("failed", reason="busy").tell(Resumed())
    assert isinstance(drill.phase, BackingOff)
    drill.waits()
    assert isinstance(drill.phase, Looking)


def test_time_without_a_process_does_not_count_as_working_time() -> None:
    drill = Drill().to_planning()
    before = drill.run.budget.active_seconds
    drill.tell(Resumed(), 50_000.0)
    assert drill.run.budget.active_seconds == before
    assert drill.run.now - drill.run.started_at > 50_000.0


def test_a_session_that_was_lost_with_the_process_makes_a_new_plan() -> None:
    drill = Drill().to_acting(ONE, TWO).tell(Resumed(world="reopened")).acts()
    assert drill.pending(MakePlan).cause == "reopened"
    drill.plans(TWO).acts()
    assert drill.ended[0] == "plan_complete"


def test_a_run_continues_in_a_kept_session() -> None:
    drill = Drill().to_acting(ONE, TWO).tell(Resumed()).acts()
    assert drill.pending(Act).index == 1


# --- is it done?


def concluding(**limits: Any) -> Drill:
    return Drill(has_done_when=True, **limits).to_acting(ONE).acts()


def test_a_goal_that_is_seen_is_reached_and_verified() -> None:
    drill = concluding()
    assert isinstance(drill.phase, Concluding)
    assert (drill.pending(CheckDone).seen, drill.pending(CheckDone).look) == ("o-f1", False)
    assert drill.checks("met", detail="seen: it").ended == ("goal_reached", "seen: it")
    assert drill.pending(Finish).verified


def test_a_goal_that_is_not_met_is_an_error() -> None:
    drill = concluding().checks("unmet", detail="no order").sees()
    command = drill.pending(MakePlan)
    assert (command.cause, command.why) == ("error", "done_when is not met: no order")
    assert drill.run.counts.error_replans == 1


def test_a_goal_that_cannot_be_checked_is_not_verified() -> None:
    drill = concluding().checks("undecided", detail="in words")
    assert drill.ended == ("plan_complete", "in words")
    assert not drill.pending(Finish).verified


def test_a_goal_that_needs_time_is_checked_again() -> None:
    drill = concluding().checks("too_early", seconds=4.0)
    assert isinstance(drill.phase, BackingOff)
    assert isinstance(drill.waits().phase, Concluding)


def test_a_goal_whose_world_is_gone_is_checked_in_the_next_session() -> None:
    drill = concluding().checks("world_lost")
    assert isinstance(drill.phase, Opening)
    away = drill.opens(False, away=True)
    assert isinstance(away.phase, BackingOff), "its host is waited for"
    drill = away.waits().opens().sees()
    assert isinstance(drill.phase, Concluding)
    assert drill.checks("met", detail="found").ended == ("goal_reached", "found")


def test_a_world_that_is_lost_at_every_check_ends_the_run() -> None:
    drill = concluding(max_reopenings=1).checks("world_lost").opens().sees().checks("world_lost")
    assert drill.ended[0] == "world_lost"


def test_a_stale_screen_is_looked_at_to_conclude() -> None:
    drill = Drill(has_done_when=True, look_calls=1).to_acting(ONE).acts("ok", fingerprint=None)
    assert drill.pending(CheckDone).look
    assert drill.run.budget.reserved.calls == 1
    free = Drill(has_done_when=True, look_calls=1).to_acting(ONE).acts("ok")
    assert free.run.budget.reserved.calls == 0


def test_nothing_is_verified_without_done_when() -> None:
    drill = Drill().to_acting(ONE).acts()
    assert drill.ended == ("plan_complete", "every step of the plan was carried out")
    assert not drill.pending(Finish).verified


@pytest.mark.parametrize("detail", ["x" * 9000, ""])
def test_every_end_has_a_short_detail(detail: str) -> None:
    for drill in (
        Drill().to_planning().plans(verdict="impossible", detail=detail),
        Drill().starts().opens(False, invalid=True, detail=detail),
        Drill(max_outage_seconds=0).to_planning().plans(verdict="transport", detail=detail),
        Drill(max_error_replans=0).to_planning().plans(verdict="refused", detail=detail),
        Drill().to_planning().plans(verdict="done").plans(verdict="done", detail=detail),
        concluding().checks("met", detail=detail),
        concluding().checks("undecided", detail=detail),
    ):
        assert 0 < len(drill.ended[1]) <= 2000


def test_a_late_plan_after_a_cancel_is_recorded_as_late() -> None:
    drill = Drill().to_planning()
    number = drill.pending(MakePlan).id
    drill.tell(CancelAsked()).tell(Planned(answers=number, steps=(ONE,)))
    assert drill.run.counts.late == 1
    assert isinstance(drill.phase, Ended)


def test_an_act_is_never_given_up() -> None:
    """Whatever is said while it is under way, its answer is still awaited."""
    drill = Drill().to_acting(ONE, REPLAN_STEP)
    number = drill.pending(Act).id
    for control in (PauseAsked(), CancelAsked(), ResumeAsked(), Resumed(world="reopened")):
        drill.tell(control)
        assert drill.pending(Act).id == number
    drill.tell(Acted(answers=number, seen=ref("f1")))
    assert drill.run.counts.late == 0
    assert drill.sent(Observe)[1:] == []
    assert not isinstance(drill.phase, Opening)


# --- before it ends for want of a plan


def test_a_reached_goal_counts_although_replans_are_used_up() -> None:
    drill = Drill(max_error_replans=0, has_done_when=True).to_planning().plans(verdict="refused", detail="?")
    assert isinstance(drill.phase, Concluding)
    assert drill.checks("met").ended[0] == "goal_reached"
    assert drill.run.verified


@pytest.mark.parametrize("verdict", ["unmet", "undecided"])
def test_a_goal_that_is_not_reached_leaves_the_end_as_it_was(verdict: str) -> None:
    drill = Drill(max_error_replans=0, has_done_when=True).to_planning().plans(verdict="refused", detail="?")
    assert drill.checks(verdict).ended == ("replan_exhausted", "the planner's answer was refused: ?")
    assert len(drill.sent(CheckDone)) == 1


def test_the_goal_is_not_tested_twice_on_the_same_look() -> None:
    drill = Drill(max_error_replans=0, has_done_when=True).to_planning().plans(verdict="done")
    drill.checks("unmet", detail="no").sees().checks("unmet", detail="no")
    assert drill.ended == ("replan_exhausted", "done_when is not met: no")
    assert len(drill.sent(CheckDone)) == 2


def test_what_the_goal_check_observed_is_planned_from() -> None:
    drill = Drill(has_done_when=True).to_acting(ONE).acts("ok", fingerprint=None).checks("unmet", seen=ref("f2"))
    assert isinstance(drill.phase, Planning)


def test_a_goal_check_beyond_the_budget_leaves_the_end_as_it_was() -> None:
    drill = Drill(max_calls=1, look_calls=1, max_error_replans=0, has_done_when=True).to_planning()
    drill.run = replace(drill.run, seen=None)
    assert drill.plans(verdict="refused", detail="?").ended[0] == "replan_exhausted"


# --- another session


def test_a_call_that_failed_in_a_lost_session_may_be_tried_in_the_next() -> None:
    drill = Drill().to_acting(ONE, REPLAN_STEP)
    drill.acts("failed", reason="rejected")
    assert drill.run.attempts
    drill.tell(Resumed())
    assert drill.run.attempts
    drill.tell(Resumed(world="reopened"))
    assert drill.run.attempts == ()
