"""The monitor: when the path is reviewed, whom its word reaches, and that nothing of it can stand in a plan's way."""

from typing import Any

import pytest

from midcourse.domain.budget import Cost
from midcourse.domain.command import DrawOutline, MakePlan, ReviewPath
from midcourse.domain.event import CancelAsked, PauseAsked, ResumeAsked
from midcourse.domain.monitor import Advice
from midcourse.domain.outline import CoarseGoal
from midcourse.policy.monitor import LASTS
from tests.harness import REPLAN_STEP, Drill, a_step

GOALS = ("Explore the shop", "Find the basket", "Locate the total")
ROUND = "It goes round"


def drill(**limits: Any) -> Drill:
    return Drill(monitor="path", **limits)


def walking(**limits: Any) -> Drill:
    """A first plan, up to the next transition."""
    return drill(**limits).to_acting(a_step(), REPLAN_STEP).acts().sees("f2")


def told(run: Drill) -> Advice | None:
    return run.pending(MakePlan).advice


def test_the_path_is_reviewed_before_every_plan_but_the_first() -> None:
    assert drill().to_planning().phase.kind == "planning"
    run = walking()
    assert run.pending(ReviewPath).seen == "o-f2"
    assert run.reviews().phase.kind == "planning"
    assert run.plans(a_step("next"), REPLAN_STEP).acts(fingerprint="f3").sees("f3").phase.kind == "reviewing"


def test_by_default_nobody_reviews_anything() -> None:
    assert Drill().to_acting(a_step(), REPLAN_STEP).acts().sees("f2").phase.kind == "planning"


def test_its_word_reaches_as_many_plans_as_a_round_may_have() -> None:
    run = walking().reviews(ROUND)
    for number in range(LASTS):
        assert told(run) == Advice(problem="repetition", says=ROUND)
        assert run.pending(MakePlan).guidance == (), "it is no person's"
        run.plans(a_step(f"s{number}"), REPLAN_STEP).acts(fingerprint=f"s{number}").sees(f"s{number}").reviews()
    assert told(run) is None


def rounds(*words: str) -> int:
    """How often the same plan is adopted on the same screen, with these words from round to round, before that is too often."""
    run, adopted = drill(max_replans=20).to_planning("a"), 0
    for word in words:
        if run.phase.kind == "reviewing":
            run.reviews(word)
        run.plans(a_step("go"), REPLAN_STEP)
        if run.phase.kind == "ended":
            assert run.ended[0] == "replan_no_change"
            return adopted
        adopted += 1
        run.acts(fingerprint="a").sees("a")
    return adopted


def test_who_goes_round_may_set_out_once_more_after_a_word_and_no_more() -> None:
    assert rounds(*[""] * 9) == 2
    assert rounds("", "", ROUND, *[""] * 9) == 3


def test_who_was_asked_again_is_told_again() -> None:
    run = walking().reviews(ROUND).plans(verdict="garbage")
    assert told(run) == Advice(problem="repetition", says=ROUND)


def test_what_it_has_spoken_about_is_not_reviewed_again() -> None:
    run = walking().reviews(ROUND).plans(a_step("next"), REPLAN_STEP).acts(fingerprint="f3").sees("f3")
    review = run.pending(ReviewPath)
    assert review.since > run.sent(ReviewPath)[0].id
    quiet = walking().reviews().plans(a_step("next"), REPLAN_STEP).acts(fingerprint="f3").sees("f3")
    assert quiet.pending(ReviewPath).since == 0


def test_after_a_failure_too_within_the_time_for_a_new_plan() -> None:
    run = drill(replan_timeout_seconds=40.0).to_acting(a_step()).acts("failed", reason="broken", fingerprint="f2")
    assert run.pending(ReviewPath).timeout == 10.0


def test_nothing_is_reviewed_from_what_is_stale() -> None:
    run = drill().to_acting(a_step(), REPLAN_STEP).acts().sees_nothing()
    assert run.phase.kind == "planning"


# --- and the outline


def outlined(mode: str = "on", **limits: Any) -> Drill:
    run = Drill(has_outliner=True, monitor="path", outline=mode, **limits).to_planning()
    return run.outlines(*GOALS).plans(a_step(), REPLAN_STEP).acts().sees("f2")


def test_a_finished_goal_never_changes_on_guidance_of_a_monitor() -> None:
    run = outlined().reviews(ROUND).judges(2, "Basket")
    rewriting = run.pending(DrawOutline)
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
    assert told(run) is not None


def test_goals_are_rewritten_once_for_a_word() -> None:
    run = outlined().reviews(ROUND).judges(1).outlines("Explore the cellar")
    run.plans(a_step("next"), REPLAN_STEP).acts(fingerprint="f3").sees("f3").reviews().judges(1)
    assert run.phase.kind == "planning"
    run.plans(a_step("more"), REPLAN_STEP).acts(fingerprint="f4").sees("f4").reviews("Still").judges(1)
    assert run.phase.kind == "outlining"


def test_silence_rewrites_nothing() -> None:
    assert outlined().reviews().judges(2).phase.kind == "planning"


def test_an_automatic_outline_is_drawn_once_the_monitor_speaks() -> None:
    run = Drill(has_outliner=True, monitor="path", outline="auto").to_acting(a_step(), REPLAN_STEP).acts().sees("f2")
    assert run.reviews(ROUND).phase.kind == "outlining"


# --- nothing stands in a plan's way


@pytest.mark.parametrize("answer", [{"verdict": "transport"}, {"verdict": "transport", "says": ROUND}, {"says": "  "}])
def test_who_cannot_be_reached_or_says_nothing_is_not_asked_again(answer: dict[str, Any]) -> None:
    run = walking().reviews(**answer)
    assert told(run) is None
    assert len(run.sent(ReviewPath)) == 1


def test_what_a_plan_needs_is_never_spent_on_it() -> None:
    assert walking(max_calls=2).phase.kind == "planning"
    assert walking(max_calls=3).phase.kind == "reviewing"
    assert walking(max_calls=3).reviews(cost=Cost(calls=1)).phase.kind == "planning"


def test_what_it_can_cost_is_set_aside() -> None:
    assert walking(plan_tokens=500).run.budget.reserved == Cost(calls=1, tokens=500)


def test_pause_and_cancel_are_heard() -> None:
    paused = walking().tell(PauseAsked()).reviews(ROUND)
    assert paused.phase.kind == "paused"
    assert paused.records().tell(ResumeAsked()).sees("f2").phase.kind == "planning"
    assert told(paused) is not None
    assert walking().tell(CancelAsked()).ended[0] == "cancelled"
