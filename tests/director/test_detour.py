"""Detours in the director: started, tried, judged, reverted, finished or given up."""

from typing import Any

import pytest

from midcourse.domain.budget import Cost
from midcourse.domain.commands import Act, AskPerson, JudgeCloseness, MakePlan, PlanRevert, PlanTry
from midcourse.domain.detour import Detour
from midcourse.domain.events import ClosenessJudged, Guided, PauseAsked, ResumeAsked
from midcourse.domain.phases import Looking, Planning, Trying, Weighing
from midcourse.domain.plan import REACH
from tests.harness import MISSING, REPLAN_STEP, Drill, a_step

FAR = a_step("far")


def on_a_detour(closeness: float = 1.0, **limits: Any) -> Drill:
    return Drill(has_detours=True, **limits).to_detour(closeness)


def detour(drill: Drill) -> Detour:
    assert drill.run.detour is not None
    return drill.run.detour


# --- in and out


def test_a_target_missing_after_a_second_look_begins_a_detour() -> None:
    drill = Drill(has_detours=True).to_acting(FAR).acts(**MISSING)
    assert isinstance(drill.phase, Looking)
    drill.sees().acts(**MISSING)
    assert isinstance(drill.phase, Weighing)
    assert (drill.pending(JudgeCloseness).goal, drill.run.counts.detours) == ((1, 0), 1)
    drill.judges_closeness(1.0)
    command = drill.pending(PlanTry)
    assert (command.version, command.label, command.closeness, command.tries) == (2, "1.1", 1.0, ())


def test_without_a_detour_planner_there_are_no_detours() -> None:
    drill = Drill().to_acting(FAR).acts(**MISSING).sees().acts(**MISSING)
    assert drill.pending(MakePlan).cause == "error"


def test_a_target_that_is_visible_needs_no_try() -> None:
    """Under another id, for example: the page was redrawn."""
    drill = Drill(has_detours=True).to_acting(FAR, a_step("next")).acts(**MISSING).sees().acts(**MISSING)
    drill.judges_closeness(10.0, found="z9")
    assert (drill.pending(Act).found, drill.pending(Act).index, drill.run.detour) == ("z9", 0, None)
    drill.acts()
    assert (drill.pending(Act).found, drill.pending(Act).index) == ("", 1)


def test_a_step_is_done_once_its_target_is_there() -> None:
    drill = on_a_detour().plans_try("menu").acts(fingerprint="f2").judges_closeness(10.0, found="z9")
    act = drill.pending(Act)
    assert (act.version, act.index, act.found, act.made_by) == (1, 0, "z9", drill.sent(MakePlan)[0].id)
    assert drill.acts().ended[0] == "plan_complete"


def test_an_irreversible_step_is_asked_about_once_its_target_is_visible() -> None:
    """The one that was given before the detour has lapsed meanwhile."""
    drill = Drill(has_detours=True, approval_seconds=30.0).to_acting(a_step("pay", effect="irreversible"))
    drill.decides("approved").sees().acts(**MISSING).sees().acts(**MISSING)
    drill.tell(ClosenessJudged(answers=drill.pending(JudgeCloseness).id, closeness=10.0, found="z9"), after=60.0)
    assert drill.pending(AskPerson).about == "approve"


def test_a_step_is_done_if_its_expectation_holds_already() -> None:
    drill = on_a_detour().plans_try("menu").acts(fingerprint="f2").judges_closeness(10.0, found=REACH)
    assert drill.pending(Act).found == REACH


def test_a_target_missing_after_a_detour_leads_to_a_new_plan() -> None:
    drill = on_a_detour().plans_try("menu").acts(fingerprint="f2").judges_closeness(10.0, found="z9")
    drill.acts(**MISSING)
    assert drill.pending(MakePlan).cause == "error"


def test_a_detour_inside_a_detour_is_a_failed_try() -> None:
    drill = on_a_detour().plans_try("menu", "another").acts(**MISSING)
    assert isinstance(drill.phase, Trying)
    (only,) = detour(drill).tries
    assert (only.failed, only.choice, drill.run.counts.detours) == ("target_not_visible", "explore", 1)


# --- trying


def test_a_try_names_the_command_that_made_it() -> None:
    drill = on_a_detour()
    made_by = drill.pending(PlanTry).id
    act = drill.plans_try("menu").pending(Act)
    assert (act.version, act.index, act.made_by, act.look) == (2, 0, made_by, True)


def test_a_state_is_judged_once() -> None:
    drill = (
        on_a_detour(2.0)
        .plans_try("menu")
        .acts(fingerprint="f2")
        .judges_closeness(3.5)
        .plans_try("item")
        .acts(fingerprint="f3")
    )
    drill.judges_closeness(5.0)
    first, second = detour(drill).tries
    assert (first.closeness_before, first.closeness_after) == (2.0, 3.5)
    assert (second.closeness_before, second.closeness_after) == (3.5, 5.0)
    assert len(drill.sent(JudgeCloseness)) == 3


def test_a_state_that_did_not_change_is_not_judged_again() -> None:
    drill = on_a_detour(2.0).plans_try("menu", "another").acts(fingerprint="f1")
    assert isinstance(drill.phase, Trying)
    assert len(drill.sent(JudgeCloseness)) == 1
    assert drill.pending(PlanTry).hint is not None


def test_states_are_numbered_below_the_step() -> None:
    drill = Drill(has_detours=True).to_acting(a_step("one"), FAR).acts()
    drill.acts(**MISSING).sees().acts(**MISSING).judges_closeness(1.0).plans_try().acts(
        fingerprint="f2"
    ).judges_closeness(2.0)
    assert [one.label for one in detour(drill).tries] == ["2.1"]
    assert drill.pending(PlanTry).label == "2.2"


def test_an_option_is_passed_on_as_a_hint_once() -> None:
    drill = on_a_detour(5.0).plans_try("export", "type", "cancel").acts(fingerprint="f2").judges_closeness(4.0)
    hint = drill.pending(PlanTry).hint
    assert hint is not None
    assert hint.name == "type"
    drill.plans_try("type").acts(fingerprint="f3").judges_closeness(4.0)
    hint = drill.pending(PlanTry).hint
    assert hint is not None
    assert hint.name == "cancel"
    assert [one.explored for one in detour(drill).tries] == [2, 0]


@pytest.mark.parametrize("verdict", ["refused", "garbage"])
def test_a_refused_draft_costs_a_try_and_its_reason_is_passed_on(verdict: str) -> None:
    drill = on_a_detour().plans_try(verdict=verdict, step=None, detail="no such zone")
    assert (drill.pending(PlanTry).refused, drill.run.counts.tries) == ("no such zone", 1)
    drill.plans_try(verdict=verdict, step=None).plans_try(verdict=verdict, step=None)
    assert "looping" in drill.pending(MakePlan).why


def test_a_detour_planner_without_an_idea_gives_up() -> None:
    drill = on_a_detour().plans_try(verdict="gave_up", step=None, detail="no idea")
    assert drill.pending(MakePlan).why == (
        "far failed: detour_cancelled — the detour was given up (no_way) after 0 tries: no idea"
    )


def test_a_detour_planner_that_is_away_is_waited_for() -> None:
    lost = {"verdict": "transport", "step": None}
    drill = on_a_detour(max_outage_seconds=5.0).plans_try(**lost).waits()
    assert isinstance(drill.phase, Trying)
    assert drill.plans_try(**lost).waits().plans_try(**lost).ended[0] == "outage"
    judge = (
        on_a_detour(max_outage_seconds=2.0)
        .plans_try()
        .acts(fingerprint="f2")
        .judges_closeness(0.0, verdict="transport")
        .waits()
    )
    assert judge.judges_closeness(0.0, verdict="transport").ended[0] == "outage"


def test_a_judge_without_an_answer_is_asked_once_more() -> None:
    judge = (
        on_a_detour(max_step_retries=1)
        .plans_try()
        .acts(fingerprint="f2")
        .judges_closeness(0.0, verdict="garbage")
        .waits()
    )
    assert "could not be judged" in judge.judges_closeness(0.0, verdict="garbage").pending(MakePlan).why


# --- nothing irreversible


def test_an_irreversible_try_is_not_dispatched() -> None:
    drill = on_a_detour()
    order = a_step("order", "irreversible", version=drill.pending(PlanTry).version)
    acts = len(drill.sent(Act))
    drill.plans_try(step=order)
    assert len(drill.sent(Act)) == acts
    assert detour(drill).tries[0].failed == "not_harmless"


def test_a_try_that_would_send_something_fails_without_a_question() -> None:
    drill = on_a_detour().plans_try("publish").acts_held("publish")
    assert drill.sent(AskPerson) == []
    assert detour(drill).tries[0].failed == "not_harmless"


# --- taking back


def reverting() -> Drill:
    return on_a_detour(5.0).plans_try("wrong").acts(fingerprint="f2").judges_closeness(4.0)


def test_a_dead_end_is_taken_back_and_verified_by_the_fingerprint() -> None:
    drill = reverting()
    command = drill.pending(PlanRevert)
    assert (command.undo, command.before, command.seen, command.label) == (2, "o-f1", "o-f2", "1.2")
    drill.plans_revert("close").acts(fingerprint="f1")
    assert (drill.pending(PlanTry).closeness, drill.pending(PlanTry).label) == (5.0, "1.3")
    (only,) = detour(drill).tries
    assert (only.choice, only.reverted, drill.run.counts.reverts) == ("revert", True, 1)
    assert len(drill.sent(JudgeCloseness)) == 2, "how near it is there is known"


def test_the_next_way_back_is_tried_where_one_did_not_lead_there() -> None:
    drill = reverting().plans_revert("close").acts(fingerprint="f3")
    assert drill.pending(PlanRevert).tried == ("close",)
    drill.plans_revert("key").acts(fingerprint="f1")
    assert isinstance(drill.phase, Trying)


def test_the_planner_is_asked_for_a_way_back_where_none_is_known() -> None:
    drill = reverting().plans_revert(None)
    assert drill.pending(PlanTry).undo == 2
    drill.plans_try("undo").acts(fingerprint="f1")
    assert detour(drill).tries[0].reverted
    assert drill.run.counts.tries == 1, "that was not a try"


def test_a_state_that_cannot_be_returned_to_is_not_passed_over() -> None:
    drill = (
        reverting()
        .plans_revert("close")
        .acts(fingerprint="f3")
        .plans_revert(None)
        .plans_try("undo")
        .acts(fingerprint="f4")
    )
    assert drill.pending(PlanRevert).tried == ("close", "ask")
    drill.plans_revert(None)
    assert isinstance(drill.phase, Planning)
    assert "revert_unverified" in drill.pending(MakePlan).why
    assert drill.run.detour is None


def test_no_revert_is_needed_in_the_state_to_return_to() -> None:
    drill = on_a_detour(5.0).plans_try("wrong", "out").acts(fingerprint="f2").judges_closeness(4.0)
    drill.plans_try("cancel").acts(fingerprint="f1").judges_closeness(3.0)
    assert (drill.sent(PlanRevert), drill.run.counts.reverts) == ([], 1)
    assert all(one.reverted for one in detour(drill).tries)
    assert drill.pending(PlanTry).closeness == 5.0


def test_several_tries_are_taken_back_one_after_the_other() -> None:
    drill = on_a_detour(5.0).plans_try("wrong", "deeper").acts(fingerprint="f2").judges_closeness(4.0)
    drill.plans_try("deeper").acts(fingerprint="f3").judges_closeness(4.0)
    assert drill.pending(PlanRevert).undo == 3
    drill.plans_revert("close").acts(fingerprint="f2")
    assert (drill.pending(PlanRevert).undo, drill.pending(PlanRevert).tried) == (2, ())
    drill.plans_revert("close").acts(fingerprint="f1")
    assert detour(drill).path == ()


def test_a_revert_without_an_observation_is_not_verified() -> None:
    drill = reverting().plans_revert("close").acts(fingerprint=None)
    assert isinstance(drill.phase, Looking)
    assert "revert_unverified" in drill.sees_nothing().sees("f9").pending(MakePlan).why


# --- giving up


def test_the_last_try_without_the_goal_hands_a_typed_failure_to_recovery() -> None:
    drill = on_a_detour(detour_iterations=2).plans_try("one").acts(fingerprint="f2").judges_closeness(2.0)
    drill.plans_try("two").acts(fingerprint="f3").judges_closeness(3.0)
    assert drill.pending(MakePlan).why == (
        "far failed: detour_cancelled — the detour was given up (exhausted) after 2 tries: 2 tries did not reach the goal"
    )
    assert drill.run.attempts[-1].reason == "detour_cancelled"
    assert (drill.run.counts.segments, drill.run.counts.versions, drill.pending(MakePlan).parent) == (1, 3, 1)


def test_with_zero_iterations_there_are_no_detours() -> None:
    drill = Drill(has_detours=True, detour_iterations=0).to_acting(FAR).acts(**MISSING).sees().acts(**MISSING)
    assert drill.pending(MakePlan).cause == "error"


def test_every_model_call_of_a_detour_is_reserved_in_advance() -> None:
    drill = Drill(has_detours=True, max_calls=2, ask_for_more=False).to_detour()
    drill.plans_try("one").acts(fingerprint="f2")
    assert drill.ended[0] == "budget_exhausted"
    assert drill.run.budget.spent == Cost(calls=2)


# --- from outside


def test_a_state_that_changed_during_a_pause_is_judged_again() -> None:
    drill = on_a_detour().plans_try("menu").acts(fingerprint="f2").tell(PauseAsked()).judges_closeness(2.0).records()
    drill.tell(ResumeAsked()).sees("f7")
    assert drill.pending(JudgeCloseness).seen == "o-f7"
    assert drill.judges_closeness(3.0).pending(PlanTry).closeness == 3.0


def test_a_try_is_taken_back_to_the_state_it_was_tried_in() -> None:
    drill = on_a_detour(5.0).tell(PauseAsked()).plans_try("menu").records().tell(ResumeAsked()).sees("f7")
    drill.acts(fingerprint="f2").judges_closeness(4.0).plans_revert("close").acts(fingerprint="f7")
    assert detour(drill).tries[0].reverted


def test_guidance_reaches_the_next_try() -> None:
    drill = (
        on_a_detour()
        .tell(Guided(text="it is in the Tools menu"))
        .plans_try("menu")
        .acts(fingerprint="f2")
        .judges_closeness(2.0)
    )
    assert drill.pending(PlanTry).guidance == ("it is in the Tools menu",)


def test_a_lost_world_ends_the_detour_with_a_new_plan() -> None:
    drill = on_a_detour().plans_try("menu").acts("no_effect", reason="world_lost", dispatched=False, looked=False)
    drill.opens().sees("f0")
    assert drill.pending(MakePlan).cause == "reopened"
    drill.plans(a_step("again"), REPLAN_STEP)
    assert drill.run.detour is None
