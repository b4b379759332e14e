"""Seed 000, section 8: error-based and adaptive replanning side by side. Both are shown everything; only the trigger
differs.
"""

from midcourse.domain.expectation import Expectation, SurfaceMatches
from midcourse.testing import Scripted
from midcourse.worlds.simulated import Fault
from tests.scenarios.stage import AGAIN, Played, click, example, plan, press, type_text

START = Expectation(checks=(SurfaceMatches(pattern="Start"),))
TROUBLE = [Fault(kind="popup", skill="click")]
"""A pop-up takes the focus from the editor in the second segment."""


async def troubled() -> Played:
    return await example("notepad", faults=TROUBLE).play()


async def test_an_error_replan_is_triggered_by_a_failed_step() -> None:
    played = await troubled()
    causes = [(plan.cause, plan.why) for plan in played.plans]
    assert causes == [
        ("initial", ""),
        ("adaptive", "a transition was due"),
        ("error", "click failed: target_not_visible — document 'Text editor' is not on 'Update available'"),
        ("adaptive", "a transition was due"),
        ("adaptive", "a transition was due"),
    ]


async def test_both_kinds_of_replan_pass_on_completed_steps() -> None:
    played = await troubled()
    completed = [len(context.completed) for context in played.contexts]
    assert completed == [0, 3, 3, 3 + 1, 3 + 1 + 3]
    assert played.ended == (True, True, "goal_reached")
    assert played.completed.count("Press Enter to start Notepad") == 1


async def test_both_kinds_of_replan_pass_on_failed_attempts() -> None:
    """The seed passes on completed steps only; what failed is passed on as well, until its screen was left."""
    played = await troubled()
    reasons = [[attempt.reason for attempt in context.attempts] for context in played.contexts]
    failed = ["target_not_visible"] * 2
    assert reasons == [[], [], failed, failed, []]


async def test_an_adaptive_replan_always_recaptures() -> None:
    played = await example("notepad").play()
    looks = [turn for turn in played.turns if turn.event.kind == "observed"]
    assert len(looks) == 1 + 2


async def test_an_error_replan_recaptures_only_what_it_has_not_just_seen() -> None:
    """The look after the failed step is fresh: a second one would only cost."""
    wrong = plan(press("Escape", expect=START), AGAIN)
    played = await example("notepad", planner=Scripted(wrong, plan())).play()
    assert [plan.cause for plan in played.plans] == ["initial", "error"]
    assert [turn.event.kind for turn in played.turns].count("observed") == 1


async def test_each_kind_of_replan_has_its_ceiling_and_both_share_that_of_the_seed() -> None:
    played = await troubled()
    assert (played.result.extensions, played.result.budget.replans, played.result.budget.error_replans) == (3, 1, 1)
    shared = await example("notepad", faults=TROUBLE, count_extensions=True, max_replans=3).play()
    assert shared.ended == (False, False, "replan_exhausted")
    assert shared.result.replans == 3


async def test_an_expectation_that_is_not_met_ends_the_plan_and_is_no_failure_if_another_screen_came() -> None:
    """The planner named a screen that it had not seen. What it planned for after it is not done."""
    hello = Expectation(checks=(SurfaceMatches(pattern="Hello*"),))
    first = plan(press("Win", expect=hello), type_text("notepad"))
    stage = example("notepad", planner=Scripted(first, plan(press("Escape"), final=True)))
    played = await stage.play()
    assert (played.result.attempts, played.completed[0]) == ((), "Press Win")
    assert played.plans[1].why == "led elsewhere: press expected the screen 'Hello*'; the screen is 'Start'"
    assert not any("notepad" in each for each in played.completed)


async def test_a_step_without_effect_is_retried_and_only_then_replanned() -> None:
    """3 retries are 4 executions; the wait doubles each time."""
    never = plan(click("icon_browser", expect=START), AGAIN)
    stage = example("notepad", planner=Scripted(never, plan()))
    played = await stage.play()
    assert [attempt.reason for attempt in played.result.attempts] == ["no_effect"] * 4
    assert (played.result.executions, played.result.steps) == (4, 1)
    assert played.result.wall_seconds == 2 + 4 + 8
