"""The monitor: when it reviews the path, which plans get its advice, and that it never prevents a plan."""

from dataclasses import replace
from typing import Any

import pytest

from midcourse.domain.approval import Change
from midcourse.domain.budget import FREE, Cost
from midcourse.domain.commands import Act, MakePlan
from midcourse.domain.events import CancelAsked, PauseAsked, ResumeAsked, Resumed
from midcourse.domain.monitor import Advice
from midcourse.domain.outline import CoarseGoal
from midcourse.policy.advice.monitor import ADVICE_LASTS
from tests.harness import REPLAN_STEP, Drill, a_step

GOALS = ("Explore the shop", "Find the basket", "Locate the total")
ROUND = "It goes round"


def drill(**limits: Any) -> Drill:
    return Drill(monitor="path", **limits)


def walking(**limits: Any) -> Drill:
    """A first plan, up to the next transition."""
    return drill(**limits).to_acting(a_step(), REPLAN_STEP).acts().sees("f2")


def advice_to_planner(run: Drill) -> Advice | None:
    return run.pending(MakePlan).advice


def test_the_path_is_reviewed_before_every_plan_but_the_first() -> None:
    assert drill().to_planning().phase.kind == "planning"
    run = walking()
    assert run.pending_advice("monitor").seen == "o-f2"
    assert run.reviews().phase.kind == "planning"
    assert run.plans(a_step("next"), REPLAN_STEP).acts(fingerprint="f3").sees("f3").pending_advice("monitor")


def test_by_default_nothing_is_reviewed() -> None:
    assert Drill().to_acting(a_step(), REPLAN_STEP).acts().sees("f2").phase.kind == "planning"


def test_advice_that_is_not_taken_back_reaches_as_many_plans_as_a_loop_may_have() -> None:
    run = walking().reviews(ROUND)
    for number in range(ADVICE_LASTS):
        assert advice_to_planner(run) == Advice(problem="repetition", says=ROUND)
        assert run.pending(MakePlan).guidance == (), "it does not come from a person"
        run.plans(a_step(f"s{number}"), REPLAN_STEP).acts(fingerprint=f"s{number}").sees(f"s{number}").reviews(
            verdict="transport"
        )
    assert advice_to_planner(run) is None


def rounds(*words: str) -> int:
    """How often the same plan is adopted on the same screen, with these words from round to round, before that is too often."""
    run, adopted = drill(max_replans=20).to_planning("a"), 0
    for word in words:
        if run.phase.kind == "advising":
            run.reviews(word)
        run.plans(a_step("go"), REPLAN_STEP)
        if run.phase.kind == "ended":
            assert run.ended[0] == "replan_no_change"
            return adopted
        adopted += 1
        run.acts(fingerprint="a").sees("a")
    return adopted


def test_a_looping_planner_gets_one_more_plan_after_advice() -> None:
    assert rounds(*[""] * 9) == 2
    assert rounds("", "", ROUND, *[""] * 9) == 3


def test_a_planner_that_is_asked_again_gets_the_advice_again() -> None:
    run = walking().reviews(ROUND).plans(verdict="garbage")
    assert advice_to_planner(run) == Advice(problem="repetition", says=ROUND)


def test_a_path_with_advice_is_not_reviewed_again() -> None:
    run = walking().reviews(ROUND).plans(a_step("next"), REPLAN_STEP).acts(fingerprint="f3").sees("f3")
    review = run.pending_advice("monitor")
    assert review.since > run.advice_requests("monitor")[0].id
    quiet = walking().reviews().plans(a_step("next"), REPLAN_STEP).acts(fingerprint="f3").sees("f3")
    assert quiet.pending_advice("monitor").since == 0


def test_a_review_after_a_failure_fits_into_the_replan_timeout() -> None:
    run = drill(replan_timeout_seconds=40.0).to_acting(a_step()).acts("failed", reason="broken", fingerprint="f2")
    assert run.pending_advice("monitor").timeout == 10.0


def test_a_stale_observation_is_not_reviewed() -> None:
    run = drill().to_acting(a_step(), REPLAN_STEP).acts().sees_nothing()
    assert run.phase.kind == "planning"


# --- and the outline


def outlined(mode: str = "on", **limits: Any) -> Drill:
    run = Drill(has_outliner=True, monitor="path", outline=mode, **limits).to_planning()
    return run.outlines(*GOALS).plans(a_step(), REPLAN_STEP).acts().sees("f2")


def test_a_finished_goal_never_changes_on_guidance_of_a_monitor() -> None:
    run = outlined().reviews(ROUND).judges(2, "Basket")
    rewriting = run.pending_advice("outliner")
    assert rewriting.advice == Advice(problem="repetition", says=ROUND)
    run.outlines("Explore the cellar", "Find the lamp", "Locate the door")
    assert run.run.outline is not None
    assert run.run.outline.goals == (
        CoarseGoal(says=GOALS[0], evidence="Basket"),
        CoarseGoal(says="Explore the cellar"),
        CoarseGoal(says="Find the lamp"),
        CoarseGoal(says="Locate the door"),
    )
    assert run.pending(MakePlan).outline == run.run.outline
    assert advice_to_planner(run) is not None


def test_advice_rewrites_the_goals_once() -> None:
    run = outlined().reviews(ROUND).judges(1).outlines("Explore the cellar")
    run.plans(a_step("next"), REPLAN_STEP).acts(fingerprint="f3").sees("f3").reviews().judges(1)
    assert run.phase.kind == "planning"
    run.plans(a_step("more"), REPLAN_STEP).acts(fingerprint="f4").sees("f4").reviews("Still").judges(1)
    assert run.pending_advice("outliner")


def test_without_advice_the_goals_stay() -> None:
    assert outlined().reviews().judges(2).phase.kind == "planning"


def test_advice_triggers_an_automatic_outline() -> None:
    run = Drill(has_outliner=True, monitor="path", outline="auto").to_acting(a_step(), REPLAN_STEP).acts().sees("f2")
    assert run.reviews(ROUND).pending_advice("outliner")


# --- nothing stands in a plan's way


@pytest.mark.parametrize("answer", [{"verdict": "transport"}, {"verdict": "transport", "says": ROUND}, {"says": "  "}])
def test_a_monitor_that_is_away_or_silent_is_not_asked_again(answer: dict[str, Any]) -> None:
    run = walking().reviews(**answer)
    assert advice_to_planner(run) is None
    assert len(run.advice_requests("monitor")) == 1


def test_a_review_never_spends_the_budget_of_a_plan() -> None:
    assert walking(max_calls=2).phase.kind == "planning"
    assert walking(max_calls=3).pending_advice("monitor")
    assert walking(max_calls=3).reviews(cost=Cost(calls=1)).phase.kind == "planning"


def test_the_cost_of_a_review_is_reserved() -> None:
    assert walking(plan_tokens=500).run.budget.reserved == Cost(calls=1, tokens=500)


def test_pause_and_cancel_work_during_a_review() -> None:
    paused = walking().tell(PauseAsked()).reviews(ROUND)
    assert paused.phase.kind == "paused"
    assert paused.records().tell(ResumeAsked()).sees("f2").phase.kind == "planning"
    assert advice_to_planner(paused) is not None
    assert walking().tell(CancelAsked()).ended[0] == "cancelled"


# --- a plan before its first step


def proposing(**limits: Any) -> Drill:
    return Drill(monitor="proposals", **limits).to_acting(a_step("draft"), REPLAN_STEP)


def test_a_plan_is_reviewed_before_its_first_step_from_what_it_was_made_for() -> None:
    run = proposing()
    review = run.pending_advice("monitor")
    assert (review.version, review.made_by, review.seen) == (1, run.sent(MakePlan)[0].id, "o-f1")
    run.reviews()
    assert run.pending(Act).version == 1


def test_there_is_one_review_for_each_plan_which_covers_the_path() -> None:
    run = proposing().reviews().acts(fingerprint="f2").sees("f2")
    assert run.phase.kind == "planning"
    assert run.plans(a_step("next")).pending_advice("monitor").version == 2


@pytest.mark.parametrize("mode", ["path", "proposals"])
def test_advice_ends_with_the_next_review_that_finds_nothing(mode: str) -> None:
    run = proposing() if mode == "proposals" else walking()
    run.reviews(ROUND).plans(a_step("other"), REPLAN_STEP).acts(fingerprint="f3").sees("f3")
    run = run.plans(a_step("more"), REPLAN_STEP).reviews() if mode == "proposals" else run.reviews(cost=Cost(calls=1))
    assert run.run.watch.advice is None
    away = (proposing() if mode == "proposals" else walking()).reviews(ROUND).plans(a_step("other"), REPLAN_STEP)
    away.acts(fingerprint="f3").sees("f3")
    away = away.plans(a_step("more"), REPLAN_STEP) if mode == "proposals" else away
    assert away.reviews(verdict="transport").run.watch.advice is not None, "a monitor that is away takes nothing back"


def test_with_path_plans_are_not_reviewed() -> None:
    assert drill().to_acting(a_step()).phase.kind == "acting"


def test_after_an_objection_the_planner_makes_another_version_with_the_advice() -> None:
    run = proposing().reviews(ROUND)
    first, again = run.sent(MakePlan)
    assert again == replace(
        first,
        id=again.id,
        version=2,
        advice=Advice(problem="repetition", says=ROUND),
        left=again.left,
        objected=first.id,
    )
    assert run.run.budget.reserved == Cost(calls=1), "set aside for itself"
    run.plans(a_step("other"))
    assert run.pending(Act).version == 2
    assert run.run.counts.segments == 1, "none of those that a run may have is lost"
    assert run.run.counts.planner_calls == 2


def test_there_is_only_one_objection_to_a_plan() -> None:
    run = proposing().reviews(ROUND).plans(a_step("draft"), REPLAN_STEP)
    assert run.phase.kind == "acting", "who insists may know better"
    assert len(run.advice_requests("monitor")) == 1


@pytest.mark.parametrize(
    "answer",
    [
        {"verdict": "transport"},
        {"verdict": "transport", "wait": 60.0},
        {"verdict": "garbage"},
        {"verdict": "refused"},
        {"verdict": "impossible"},
        {"verdict": "gave_up"},
        {"verdict": "steps"},
    ],
    ids=lambda answer: "-".join(map(str, answer.values())),
)
def test_without_another_plan_the_run_continues_with_the_first_one(answer: dict[str, Any]) -> None:
    run = proposing(structural_stop=True).reviews(ROUND).plans(**answer)
    assert run.pending(Act).version == 1
    assert (run.run.counts.refusals, run.run.counts.segments) == (0, 1)
    run.acts(fingerprint="f2").sees("f2")
    assert run.pending(MakePlan).version == 2
    assert not run.pending(MakePlan).objected


def test_a_planner_may_answer_an_objection_with_done() -> None:
    twice = proposing().reviews(ROUND).plans(verdict="done").plans(verdict="done")
    assert twice.ended[0] == "plan_complete"


def test_a_second_plan_that_is_refused_does_not_replace_the_first() -> None:
    broken = a_step("broken")
    run = Drill(monitor="proposals").to_acting(broken).reviews().acts("failed", reason="broken")
    run.plans(a_step("draft"), REPLAN_STEP).reviews(ROUND).plans(broken)
    assert (run.pending(Act).version, run.run.counts.refusals) == (2, 0)


@pytest.mark.parametrize("answer", [{"verdict": "transport", "says": ROUND}, {"says": "  "}])
def test_a_monitor_that_is_away_has_no_objection(answer: dict[str, Any]) -> None:
    assert proposing().reviews(**answer).phase.kind == "acting"


def test_the_approver_is_asked_after_the_review_of_a_plan() -> None:
    run = Drill(monitor="proposals").to_acting(a_step("pay", "irreversible"))
    assert run.pending_advice("monitor")
    assert run.reviews().phase.kind == "asking"


def test_a_plan_changed_by_an_approver_is_not_objected_to() -> None:
    run = Drill(monitor="proposals").to_acting(a_step("pay", "irreversible")).reviews()
    run.decides("changed", changes=(Change(arguments=(("to", "Grace"),)),)).sees()
    assert run.plans(a_step("pay", "irreversible"), cost=FREE).phase.kind == "asking"


def test_a_plan_that_worked_before_is_not_reviewed() -> None:
    run = Drill(monitor="proposals").to_planning().plans(a_step(), reused=True)
    assert run.phase.kind == "acting"


def test_an_objection_never_spends_the_budget_of_the_next_plan() -> None:
    """A review, the plan made again, and the next one."""
    assert proposing(max_calls=3).phase.kind == "acting"
    assert proposing(max_calls=4).pending_advice("monitor")


def test_the_time_for_a_new_plan_after_a_failure_ends_no_run_that_has_one() -> None:
    run = Drill(monitor="proposals", replan_timeout_seconds=10.0).to_acting(a_step("broken")).reviews()
    run.acts("failed", reason="broken").plans(a_step("other"))
    assert run.pending_advice("monitor").timeout < 2.5
    run.advises("monitor", advice=Advice(problem="error", says=ROUND), after=2.0)
    assert run.pending(MakePlan).timeout < 8.0
    run.plans(verdict="transport", after=8.0)
    assert run.pending(Act).version == 2


def test_an_objection_does_not_excuse_a_loop() -> None:
    """A plan that was not carried out is nothing new."""
    run = Drill(monitor="proposals", max_replans=20).to_planning("a")
    for number in range(2):
        run.plans(a_step(f"new{number}"), REPLAN_STEP).reviews(ROUND).plans(a_step("go"), REPLAN_STEP)
        run.acts(fingerprint="a").sees("a")
    assert run.plans(a_step("go"), REPLAN_STEP).ended[0] == "replan_no_change"


def test_a_pause_between_the_plan_and_its_first_step_is_kept() -> None:
    run = proposing().tell(PauseAsked()).reviews()
    assert run.phase.kind == "paused"
    run.records().tell(ResumeAsked()).sees()
    assert run.pending(Act).version == 1


def test_a_plan_for_a_world_that_is_gone_is_not_begun() -> None:
    run = Drill(monitor="proposals").to_acting(a_step("pay", "irreversible"))
    run.tell(Resumed(world="reopened")).reviews().sees()
    assert run.pending(MakePlan).cause == "reopened", "nor is anybody asked about it"


def test_goals_are_rewritten_for_an_objection_before_the_next_plan() -> None:
    run = Drill(has_outliner=True, monitor="proposals", outline="on").to_planning().outlines(*GOALS)
    run.plans(a_step("draft"), REPLAN_STEP).reviews(ROUND).plans(a_step("other"), REPLAN_STEP)
    run.acts(fingerprint="f2").sees("f2").judges(1)
    assert run.pending_advice("outliner").advice == Advice(problem="repetition", says=ROUND)
