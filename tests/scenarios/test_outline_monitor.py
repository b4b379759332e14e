"""The monitor is silent while a run progresses, and advises a run that loops."""

from collections import Counter
from dataclasses import replace
from itertools import product

from midcourse.domain.commands import Advise
from midcourse.domain.monitor import Advice
from midcourse.domain.outline import CoarseGoal
from midcourse.policy.advice.outline import format_outline
from midcourse.ports.monitor import Finding, MonitorContext
from midcourse.ports.planner import PlanDraft, PlanningContext
from midcourse.testing import ScriptedMonitor, ScriptedOutlines, ScriptedProgress
from tests.scenarios.stage import AGAIN, FunctionPlanner, Played, Stage, click, plan
from tests.scenarios.test_outline import FAVORITES, GOALS, NEW_GOALS, WAY, bookmarks


class Circling:
    """Opens the manager and closes it again, forever, unless it is told that it goes round. It remembers nothing."""

    async def plan(self, context: PlanningContext) -> PlanDraft:
        seen = context.observation
        if seen.zone("folder/Folder Name"):
            return plan(FAVORITES, final=True)
        way = {"manager/Close": "manager/Add Folder" if context.advice else "manager/Close", "bookmarks/Manager": ""}
        zone = next((to or there for there, to in way.items() if seen.zone(there)), "main/Bookmarks")
        return plan(click(zone, transition=True), AGAIN)


def circling(**more: object) -> Stage:
    settings = {"monitor": "path", "max_calls": 60}
    return bookmarks(**({"planner": Circling(), "outliner": None, "progress_judge": None, "settings": settings} | more))


def advice(played: Played) -> list[Advice | None]:
    """What the planner was told by a monitor, plan by plan."""
    return [context.advice for context in played.contexts]


def reviews(played: Played) -> int:
    return sum(
        isinstance(command, Advise) and command.role == "monitor" for turn in played.turns for command in turn.commands
    )


# --- without a model


async def test_a_looping_planner_is_advised_in_time() -> None:
    alone = await circling(settings={"monitor": "off", "max_calls": 60}).play()
    assert alone.ended == (False, False, "replan_no_change")
    watched = await circling().play()
    assert watched.ended == (True, False, "plan_complete")
    said = advice(watched)
    assert [one.problem if one else "" for one in said] == [""] * 6 + ["repetition"] * 4
    assert said[6] is not None
    assert said[6].says == (
        "Twice in a row this led back to the same screen: Click main/Bookmarks, then Click bookmarks/Manager, then Click manager/Close. "
        "Try something else."
    )


async def test_the_monitor_is_silent_while_a_run_progresses_and_changes_nothing() -> None:
    watched = await bookmarks(settings={"outline": "on", "monitor": "path"}).play()
    alone = await bookmarks().play()
    assert advice(watched) == [None] * 4
    assert watched.completed == alone.completed
    assert reviews(watched) == 3
    assert reviews(alone) == 0


async def test_advice_of_the_monitor_is_not_recorded_as_guidance() -> None:
    played = await circling().play()
    assert all(context.guidance == () for context in played.contexts)
    assert not played.final_run.guidance


# --- a plan before its first step


PROPOSALS = {"monitor": "proposals", "max_calls": 60}


async def test_a_monitor_objects_to_the_step_that_would_close_the_round() -> None:
    watched = await circling(settings=PROPOSALS).play()
    assert watched.ended == (True, False, "plan_complete")
    said = advice(watched)
    assert [one.problem if one else "" for one in said] == [""] * 6 + ["repetition"] * 2
    assert said[6] is not None
    assert said[6].says == (
        "This is the same round as the one before: Click main/Bookmarks, then Click bookmarks/Manager, then Click manager/Close."
    )
    sixth, seventh = watched.plans[5:7]
    assert (sixth.steps[0].target.label, seventh.steps[0].target.label) == ("Close", "Add Folder")
    assert (seventh.parent, seventh.observation, seventh.cause) == (6, sixth.observation, "adaptive")
    assert not [act for act in watched.sent if act.version == 6], "nothing of it was done"


async def test_a_monitor_sees_what_is_proposed_and_is_silent_on_what_is_new() -> None:
    monitor = ScriptedMonitor()
    watched = await bookmarks(outliner=None, monitor=monitor, settings={"monitor": "proposals"}).play()
    assert watched.ended == (True, False, "plan_complete")
    proposed = [[one.says for one in context.proposed] for context in monitor.contexts if context.proposed]
    assert proposed == [
        ["Click main/Bookmarks"],
        ["Click bookmarks/Manager"],
        ["Click manager/Add Folder"],
        ["Name the folder"],
    ]
    alone = await bookmarks(outliner=None, settings={"monitor": "proposals"}).play()
    assert advice(alone) == [None] * 4, "rules are silent"
    assert alone.completed == watched.completed


class Objecting:
    """To every plan, and to nothing else."""

    async def review(self, context: MonitorContext) -> Finding:
        return Finding(advice=Advice(problem="unreasonable", says="No") if context.proposed else None)


class Stubborn(Circling):
    """Whatever anybody says."""

    async def plan(self, context: PlanningContext) -> PlanDraft:
        return await super().plan(replace(context, advice=None))


async def test_a_planner_that_ignores_the_monitor_continues_as_without_one() -> None:
    alone = await circling(planner=Stubborn(), settings={"max_calls": 60}).play()
    for monitor in (None, Objecting()):
        watched = await circling(planner=Stubborn(), monitor=monitor, settings=PROPOSALS).play()
        assert watched.ended == alone.ended
        asked = Counter(plan.seen for plan in watched.asked_planner)
        assert max(asked.values()) == 2, "once more for what was seen, and no more often"


# --- one of your own


async def test_a_finished_goal_never_changes_on_guidance() -> None:
    """Of a monitor, as of a person: what is not finished is rewritten, in the same language, and goals may be added."""
    outliner, monitor = ScriptedOutlines(GOALS, NEW_GOALS), ScriptedMonitor("", "The manager is the place to look")
    played = await bookmarks(outliner=outliner, monitor=monitor, settings={"outline": "on", "monitor": "path"}).play()
    assert played.ended == (True, False, "plan_complete")
    second, third = played.contexts[1].outline, played.contexts[2].outline
    assert second is not None
    assert third is not None
    assert third.goals[:2] == (second.goals[0], CoarseGoal(says=GOALS[1], evidence="Bookmarks Manager"))
    assert [goal.says for goal in third.goals[2:]] == list(NEW_GOALS)
    assert format_outline(third).endswith("Goals 1 to 2 are finished; goal 3 of 6 is next.")
    assert outliner.contexts[1].advice == Advice(problem="no_progress", says="The manager is the place to look")
    assert advice(played) == [None, None, *[outliner.contexts[1].advice] * 2]


async def test_goals_of_a_rewritten_outline_say_no_more_how_than_those_of_the_first() -> None:
    outliner = ScriptedOutlines(GOALS, ("Click the manager", "Press Ctrl+D", "Find the manager"))
    played = await bookmarks(
        outliner=outliner,
        progress_judge=ScriptedProgress(1),
        monitor=ScriptedMonitor("Nothing moves"),
        settings={"outline": "on", "monitor": "path"},
    ).play()
    outline = played.contexts[1].outline
    assert outline is not None
    assert [goal.says for goal in outline.goals] == ["Find the manager"]


async def test_the_monitor_gets_the_path_since_its_last_advice_and_the_screen() -> None:
    monitor = ScriptedMonitor("", "The manager is the place to look")
    await bookmarks(outliner=None, monitor=monitor, settings={"monitor": "path"}).play()
    first, second, third = monitor.contexts
    assert [one.says for one in first.path] == ["Click main/Bookmarks"]
    assert [one.says for one in second.path] == ["Click main/Bookmarks", "Click bookmarks/Manager"]
    assert [one.says for one in third.path] == ["Click manager/Add Folder"]
    assert (second.path[0].before, second.path[0].surface) == (first.path[0].before, "Browser")
    assert second.path[1].before == first.observation.fingerprint


class Broken:
    """A monitor that does not work."""

    def __init__(self, how: str) -> None:
        self._how = how

    async def review(self, context: MonitorContext) -> Finding:
        if self._how == "raises":
            raise RuntimeError("no idea")
        return "nonsense"  # pyrefly: ignore[bad-return]


async def test_a_broken_monitor_does_no_harm() -> None:
    for how, watched in product(("raises", "talks nonsense"), ("path", "proposals")):
        played = await bookmarks(outliner=None, monitor=Broken(how), settings={"monitor": watched}).play()
        assert played.ended == (True, False, "plan_complete")
        assert advice(played) == [None] * 4


def on_the_way(context: PlanningContext) -> PlanDraft:
    """As the script has it for the window there is, however often it is asked."""
    return next(draft for draft in reversed(WAY) if context.observation.zone(draft.steps[0].zone))


async def test_a_review_never_prevents_a_plan() -> None:
    for calls, watched in ((4, "path"), (5, "path"), (6, "path"), (5, "proposals"), (6, "proposals")):
        played = await bookmarks(
            planner=FunctionPlanner(on_the_way),
            outliner=None,
            monitor=ScriptedMonitor(*["Go on"] * 9),
            settings={"monitor": watched, "max_calls": calls},
        ).play()
        assert played.ended == (True, False, "plan_complete")
        assert played.most_committed.calls <= calls


async def test_advice_does_not_rewrite_a_missing_outline() -> None:
    played = await circling().play()
    assert not [
        command
        for turn in played.turns
        for command in turn.commands
        if isinstance(command, Advise) and command.role == "outliner"
    ]
