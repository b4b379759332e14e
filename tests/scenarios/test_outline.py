"""Seed 002's own example: a folder on the bookmarks bar, with coarse goals as a suggestion, and progress that does not bounce."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from midcourse.domain.commands import Advise
from midcourse.domain.outline import CoarseGoal, Outline
from midcourse.domain.plan import Draft
from midcourse.domain.task import Task
from midcourse.policy.advice.outline import format_outline
from midcourse.ports.judge import Judgement, ProgressContext
from midcourse.ports.planner import PlanDraft, Planner, PlanningContext
from midcourse.testing import Scripted, ScriptedOutlines, ScriptedProgress
from midcourse.worlds.simulated.application import MAIN, Application, Control, View, Windows
from tests.scenarios.stage import AGAIN, Played, Stage, click, plan

GOALS = (
    "Explore the browser interface",
    "Navigate to the bookmarks area",
    "Find the folder creation option",
    "Locate the folder naming input",
)
BROWSER = Application(
    views=(
        View(
            name=MAIN,
            title="Browser",
            kind="window",
            controls=(
                Control(label="Bookmarks", role="menu", opens="bookmarks"),
                Control(label="History", role="menu"),
                Control(label="Reload", counts=True),
            ),
        ),
        View(
            name="bookmarks",
            title="Bookmarks",
            kind="menu",
            controls=(Control(label="Manager", role="menuitem", opens="manager"),),
        ),
        View(
            name="manager",
            title="Bookmarks Manager",
            controls=(Control(label="Add Folder", opens="folder"), Control(label="Close", closes="discard")),
        ),
        View(
            name="folder",
            title="New Folder",
            controls=(Control(label="Folder Name", role="textbox"), Control(label="OK", closes="keep")),
        ),
    )
)
FAVORITES = Draft(
    zone="folder/Folder Name", skill="type_text", arguments=(("text", "Favorites"),), says="Name the folder"
)
WAY = (
    plan(click("main/Bookmarks", transition=True), AGAIN),
    plan(click("bookmarks/Manager", transition=True), AGAIN),
    plan(click("manager/Add Folder", transition=True), AGAIN),
    plan(FAVORITES, final=True),
)


def bookmarks(**more: Any) -> Stage:
    made: dict[str, Any] = {
        "world": Windows(BROWSER),
        "planner": Scripted(*WAY),
        "task": Task(goal="Create a folder named 'Favorites' on bookmarks bar"),
        "outliner": ScriptedOutlines(GOALS),
        "progress_judge": ScriptedProgress(2, 3, 4),
        "settings": {"outline": "on"},
    }
    return Stage(**(made | more))


def outlines(played: Played) -> list[Outline | None]:
    """What the planner was told of the outline, plan by plan."""
    return [context.outline for context in played.contexts]


def states(played: Played) -> list[Outline]:
    """The outline after every turn in which it changed."""
    found: list[Outline] = []
    for turn in played.turns:
        if turn.run.outline and turn.run.outline.goals and (not found or found[-1] != turn.run.outline):
            found.append(turn.run.outline)
    return found


# --- the example


async def test_the_planner_is_told_the_outline_with_its_progress_before_every_plan() -> None:
    played = await bookmarks().play()
    assert played.ended == (True, False, "plan_complete")
    assert [outline.current for outline in outlines(played) if outline] == [1, 2, 3, 4]
    first, second = outlines(played)[:2]
    assert first is not None
    assert second is not None
    assert format_outline(first).splitlines() == [
        *(f"{number}. {goal}" for number, goal in enumerate(GOALS, 1)),
        "None is finished; goal 1 of 4 is next.",
    ]
    assert "1. Explore the browser interface [finished]" in format_outline(second)
    assert format_outline(second).endswith("Goal 1 is finished; goal 2 of 4 is next.")


async def test_every_finished_goal_says_what_was_seen() -> None:
    last = states(await bookmarks().play())[-1]
    assert [goal.evidence for goal in last.goals] == ["Browser", "Bookmarks Manager", "New Folder", ""]


async def test_without_a_judge_progress_is_read_from_the_screen() -> None:
    goals = ("Explore the bookmarks", "Find the manager", "Locate the folder name")
    played = await bookmarks(outliner=ScriptedOutlines(goals), progress_judge=None).play()
    assert [outline.current for outline in outlines(played) if outline] == [1, 3, 3, 4]


async def test_an_outline_is_not_binding() -> None:
    elsewhere = ("Explore the history", "Find the printer", "Locate the moon")
    played = await bookmarks(outliner=ScriptedOutlines(elsewhere), progress_judge=ScriptedProgress(1)).play()
    assert played.ended == (True, False, "plan_complete")
    without = await bookmarks(outliner=None).play()
    assert played.completed == without.completed
    assert outlines(without) == [None] * 4


async def test_goals_that_say_how_are_dropped() -> None:
    drawn = ("Click the bookmarks menu", GOALS[1], "Find the folder at (120, 40)", "Press Ctrl+D", GOALS[3])
    played = await bookmarks(outliner=ScriptedOutlines(drawn), progress_judge=ScriptedProgress(1)).play()
    assert [goal.says for goal in states(played)[0].goals] == [GOALS[1], GOALS[3]]


# --- progress

SEED = (1, 4, 3, 2, 4, 3, 4)
"""As the progress of the seed's own runs bounced."""


def wandering(judge: ScriptedProgress) -> Stage:
    """Looks at the same window again and again."""
    again = plan(click("main/Reload", transition=True), AGAIN)
    return bookmarks(
        planner=Scripted(*[again] * len(SEED), plan(click("main/History"), final=True)),
        progress_judge=judge,
        settings={"outline": "on", "max_replans": 20, "max_calls": 60},
    )


@pytest.mark.parametrize("shown", [True, False], ids=["with evidence", "without evidence"])
async def test_a_judge_that_bounces_never_moves_progress_back_without_a_recorded_regression(shown: bool) -> None:
    judge = ScriptedProgress(*SEED, shown=shown)
    played = await wandering(judge).play()
    assert len(judge.contexts) == len(SEED)
    course = [Outline(), *states(played)]
    for before, after in pairwise(course):
        if after.current < before.current:
            assert after.regressed == before.regressed + 1
            noted = after.regressions[-1]
            assert (noted.before, noted.after, noted.evidence) == (before.current, after.current, "Browser")
    progress = [outline.current for outline in outlines(played) if outline]
    assert progress == ([1, 1, 4, 4, 3, 4, 4, 4] if shown else [1] * 8)


class Believing:
    """Says what it would like to see."""

    async def judge(self, context: ProgressContext) -> Judgement:
        return Judgement(current=4, evidence="the folder is there")


async def test_what_is_not_on_the_screen_is_no_evidence() -> None:
    played = await bookmarks(progress_judge=Believing()).play()
    assert [outline.current for outline in outlines(played) if outline] == [1, 1, 1, 1]


# --- guidance

NEW_GOALS = ("Explore all again", "Find the manager", "Locate the folder button", "Check the new folder")


class Interrupted:
    """Another planner's answers. While it is at the second, somebody says something."""

    def __init__(self, planner: Planner) -> None:
        self._planner = planner
        self.says: Callable[[], object] = lambda: None
        self._plans = 0

    async def plan(self, context: PlanningContext) -> PlanDraft:
        self._plans += 1
        if self._plans == 2:
            self.says()
        return await self._planner.plan(context)


async def test_guidance_rewrites_unfinished_goals_only_and_may_add_some() -> None:
    planner = Interrupted(Scripted(*WAY))
    outliner = ScriptedOutlines(GOALS, NEW_GOALS)
    stage = bookmarks(planner=planner, outliner=outliner)
    live = stage.start()
    planner.says = lambda: live.guide("Look in the manager")
    third = outlines(await stage.watch_to_end(live))[2]
    assert third is not None
    assert [goal.says for goal in third.goals] == [*GOALS[:2], *NEW_GOALS]
    assert [goal.finished for goal in third.goals] == [True, True, False, False, False, False]
    assert outliner.contexts[1].guidance == ("Look in the manager",)
    assert outliner.contexts[1].outline == replace(third, goals=(*third.goals[:2], *map(goal, GOALS[2:])), heard="")


def goal(says: str) -> CoarseGoal:
    return CoarseGoal(says=says)


# --- what it costs


async def test_an_outline_is_made_once_and_judged_before_each_later_plan_within_the_budget() -> None:
    played = await bookmarks(settings={"outline": "on", "max_calls": 9}).play()
    sent = [command for turn in played.turns for command in turn.commands]
    roles = [one.role for one in sent if isinstance(one, Advise)]
    assert (roles.count("outliner"), roles.count("judge")) == (1, 3)
    assert played.most_committed.calls <= 9


@pytest.mark.parametrize("calls", [4, 5])
async def test_an_outline_never_prevents_a_plan(calls: int) -> None:
    """With just enough for the plans, the outline is what is left out."""
    played = await bookmarks(settings={"outline": "on", "max_calls": calls}).play()
    if calls == 5:
        assert played.ended == (True, False, "plan_complete")
    assert played.most_committed.calls <= calls
