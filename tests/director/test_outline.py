"""The outline: when it is made, judged and rewritten, and that it never prevents a plan."""

from typing import Any

import pytest

from midcourse.domain.budget import Cost
from midcourse.domain.commands import Advise, MakePlan
from midcourse.domain.events import CancelAsked, Guided, PauseAsked, ResumeAsked
from midcourse.domain.outline import CoarseGoal
from tests.harness import REPLAN_STEP, Drill, a_step

GOALS = ("Explore the shop", "Find the basket", "Locate the total")


def drill(**limits: Any) -> Drill:
    given: dict[str, Any] = {"outline": "on"} | limits
    return Drill(has_outliner=True, **given)


def drawn(**limits: Any) -> Drill:
    """A first plan with an outline behind it, up to the next transition."""
    return drill(**limits).to_planning().outlines(*GOALS).plans(a_step(), REPLAN_STEP)


def current_goal(run: Drill) -> int:
    """The current goal, in the request for the plan under way."""
    outline = run.pending(MakePlan).outline
    assert outline is not None
    return outline.current


def test_the_outline_is_made_before_the_first_plan() -> None:
    run = drill().to_planning()
    assert run.pending_advice("outliner")
    assert run.outlines(*GOALS).pending(MakePlan).outline == run.run.outline
    assert current_goal(run) == 1


@pytest.mark.parametrize("limits", [{"outline": "off"}, {}], ids=["off", "by default"])
def test_no_outline_is_made_if_it_is_off(limits: dict[str, Any]) -> None:
    run = Drill(has_outliner=True, **limits).to_planning()
    assert run.pending(MakePlan).outline is None


def test_no_outline_is_made_without_an_outliner() -> None:
    assert Drill(outline="on").to_planning().phase.kind == "planning"


def test_progress_is_judged_before_each_later_plan_and_once_for_each_look() -> None:
    run = drawn().acts().sees("f2")
    assert run.pending_advice("judge").seen == "o-f2"
    run.judges(2)
    assert current_goal(run) == 2
    run.plans(a_step("next"), REPLAN_STEP).acts(fingerprint="f2").sees("f2")
    assert run.phase.kind == "planning"


def test_progress_is_not_judged_from_a_stale_observation() -> None:
    assert drawn().acts().sees_nothing().phase.kind == "planning"


def test_progress_is_not_judged_once_all_goals_are_finished() -> None:
    run = drawn().acts().sees("f2").judges(4).plans(a_step("next"), REPLAN_STEP).acts().sees("f3")
    assert run.phase.kind == "planning"
    assert current_goal(run) == 4


@pytest.mark.parametrize("verdict", ["gave_up", "refused", "garbage", "transport"])
def test_an_outliner_that_failed_is_asked_again_only_with_guidance(verdict: str) -> None:
    run = drill().to_planning().outlines(verdict=verdict).plans(a_step(), REPLAN_STEP).acts().sees("f2")
    assert run.pending(MakePlan).outline is None
    run.tell(Guided(text="to the left")).plans(a_step("next"), REPLAN_STEP).acts(fingerprint="f3").sees("f3")
    assert run.pending_advice("outliner").guidance == ("to the left",)


def test_a_judge_that_is_away_changes_nothing() -> None:
    run = drawn().acts().sees("f2").judges(3, verdict="transport")
    assert current_goal(run) == 1


def test_guidance_rewrites_the_outline_but_finished_goals_stay() -> None:
    run = drawn().tell(Guided(text="look below")).acts().sees("f2").judges(2, "Basket")
    rewriting = run.pending_advice("outliner")
    assert rewriting.outline is not None
    assert rewriting.outline.current == 2
    run.outlines("Explore the cellar", "Find the lamp")
    assert run.run.outline is not None
    assert run.run.outline.goals == (
        CoarseGoal(says=GOALS[0], evidence="Basket"),
        CoarseGoal(says="Explore the cellar"),
        CoarseGoal(says="Find the lamp"),
    )


# --- automatic


def test_automatic_makes_no_outline_while_the_run_progresses() -> None:
    run = drill(outline="auto").to_planning()
    for screen in ("f2", "f3", "f4"):
        run.plans(a_step(screen), REPLAN_STEP).acts(fingerprint=screen).sees(screen)
    assert not run.advice_requests("outliner")


def test_an_answer_to_a_question_and_six_healthy_plans_need_no_adviser() -> None:
    run = Drill(has_outliner=True, has_reflector=True, outline="auto").to_planning()
    run.plans(verdict="ask", detail="Which lamp?").decides("go_on", guidance="the blue one").sees("f1")
    for screen in ("f2", "f3", "f4", "f1", "f5", "f6"):
        run.plans(a_step(screen), REPLAN_STEP).acts(fingerprint=screen).sees(screen)
    assert run.phase.kind == "planning"
    assert not run.sent(Advise)


def test_two_failures_on_the_way_are_not_being_stuck_if_each_plan_reaches_something() -> None:
    run = Drill(has_outliner=True, outline="auto").to_planning()
    for screen in ("f2", "f3", "f4"):
        run.plans(a_step(screen), a_step("broken", transition=False)).acts(fingerprint=screen)
        run.acts("failed", reason="not_found", fingerprint=screen)
    assert run.run.counts.error_replans == 3
    assert not run.sent(Advise)


def in_vain(run: Drill, *steps: str) -> Drill:
    for step in steps:
        run.plans(a_step(step), REPLAN_STEP).acts().sees()
    return run


def test_automatic_makes_an_outline_after_two_plans_without_progress() -> None:
    run = in_vain(drill(outline="auto").to_planning(), "vain")
    assert run.phase.kind == "planning"
    assert in_vain(run, "again").pending_advice("outliner")


def test_automatic_makes_an_outline_in_a_long_run_after_one_plan_without_progress() -> None:
    run = drill(outline="auto").to_planning()
    for screen in range(2, 7):
        run.plans(a_step(f"to {screen}"), REPLAN_STEP).acts(fingerprint=f"f{screen}").sees(f"f{screen}")
    assert run.phase.kind == "planning"
    assert run.plans(a_step("vain"), REPLAN_STEP).acts(fingerprint="f6").sees("f6").pending_advice("outliner")


def test_automatic_hides_an_outline_that_does_not_progress() -> None:
    run = in_vain(drill(outline="auto", max_replans=50).to_planning(), "vain", "again")
    run.outlines(*GOALS)
    judged = 0
    for number in range(12):
        run.plans(a_step(f"s{number}"), REPLAN_STEP).acts(fingerprint=f"s{number}").sees(f"s{number}")
        if run.phase.kind == "advising":
            judged += 1
            run.judges(1, "")
    assert 0 < judged < 12
    assert run.pending(MakePlan).outline is None


# --- nothing stands in a plan's way


def test_an_outline_never_spends_the_budget_of_a_plan() -> None:
    assert drill(max_calls=1).to_planning().phase.kind == "planning"
    assert drill(max_calls=2).to_planning().outlines(*GOALS).phase.kind == "planning"


def test_the_cost_of_an_outline_is_reserved() -> None:
    run = drill(plan_tokens=500).to_planning()
    assert run.run.budget.reserved == Cost(calls=1, tokens=500)


def test_an_outline_may_take_only_a_share_of_the_replan_timeout() -> None:
    run = drill(replan_timeout_seconds=40.0, structural_stop=False).to_planning().outlines(*GOALS)
    run.plans(a_step("a")).acts("failed", reason="broken", fingerprint="f2")
    assert run.pending_advice("judge").timeout == 10.0


def test_pause_and_cancel_work_during_outlining() -> None:
    paused = drill().to_planning().tell(PauseAsked()).outlines(*GOALS)
    assert paused.phase.kind == "paused"
    assert paused.records().tell(ResumeAsked()).sees("f2").judges(2).phase.kind == "planning"
    assert drill().to_planning().tell(CancelAsked()).ended[0] == "cancelled"
