"""Seed 003's own examples: to a dialog to which the way is not known, with a wrong menu or a dead end on the way."""

from dataclasses import replace

import pytest

from midcourse.domain.commands import PlanRevert, PlanTry
from midcourse.domain.detour import Option, Tried
from midcourse.domain.expectation import Expectation, SurfaceMatches
from midcourse.domain.observation import Observation
from midcourse.domain.plan import REACH, Draft
from midcourse.ports.detour import DetourContext, TryDraft
from midcourse.testing import JudgedBy, Scripted, ScriptedTries
from midcourse.worlds.simulated import Fault
from midcourse.worlds.simulated.application import MAIN, Application, Control, View, Windows
from tests.scenarios.stage import AGAIN, Played, Stage, click, plan, press


def opens(title: str) -> Draft:
    """A step that only says what has to be true after it."""
    return Draft(zone=REACH, expect=Expectation(checks=(SurfaceMatches(pattern=title),)), says=f"Open '{title}'")


def tries(played: Played) -> tuple[Tried, ...]:
    """All tries of the detour, as they stood before the last one reached the goal; and that one."""
    detour = [turn.run.detour for turn in played.turns if turn.run.detour][-1]
    return (*detour.tries, *((detour.trying,) if detour.trying else ()))


def closeness(played: Played) -> list[tuple[float, float]]:
    return [(one.closeness_before, one.closeness_after) for one in tries(played)[:-1]]


# --- 'Add Files'

BATCH = Application(
    views=(
        View(
            name=MAIN,
            title="Batch",
            kind="window",
            controls=(Control(label="Add Files", opens="wrong"), Control(label="List", role="row")),
        ),
        View(name="wrong", title="", kind="menu", controls=(Control(label="Sort by Name", role="menuitem"),)),
        View(name="right", title="Add Files", controls=(Control(label="Cancel", closes="discard"),)),
    ),
    shortcuts=(("Ctrl+O", "right"),),
)


def nearer_with_a_menu(seen: Observation) -> float:
    return 3.5 if seen.zone("wrong/Sort by Name") else 2.0


def adding_files(**settings: object) -> Stage:
    options = (Option(name="try_different_menu"), Option(name="try_keyboard_shortcut"))
    return Stage(
        world=Windows(BATCH),
        planner=Scripted(plan(opens("Add Files"), final=True)),
        detour_planner=ScriptedTries(
            TryDraft(step=click("main/Add Files"), options=options),
            TryDraft(step=click("main/List")),
            TryDraft(step=press("Ctrl+O")),
        ),
        closeness_judge=JudgedBy(nearer_with_a_menu),
        settings=settings,
    )


async def test_the_file_dialog_is_reached_in_three_iterations() -> None:
    played = await adding_files().play()
    assert played.ended == (True, False, "plan_complete")
    assert closeness(played) == [(2.0, 3.5), (3.5, 2.0)]
    assert [(one.label, one.choice) for one in tries(played)] == [("1.1", "retain"), ("1.2", "explore"), ("1.3", None)]
    assert tries(played)[0].explored == 1
    assert (played.final_run.counts.tries, played.final_run.counts.reverts) == (3, 0)
    assert played.completed == ["Open 'Add Files'"]


async def test_the_planner_is_told_of_the_menu_that_did_not_help_and_what_else_to_try() -> None:
    stage = adding_files()
    await stage.play()
    assert isinstance(stage.detour_planner, ScriptedTries)
    contexts: list[DetourContext] = stage.detour_planner.contexts
    assert [(context.label, context.closeness) for context in contexts] == [("1.1", 2.0), ("1.2", 3.5), ("1.3", 2.0)]
    assert [context.hint.name if context.hint else "" for context in contexts] == ["", "", "try_different_menu"]
    past = contexts[2].tries[1]
    assert past.step is not None
    assert (past.step.says, past.closeness_before, past.closeness_after, past.choice) == (
        "Click main/List",
        3.5,
        2.0,
        "explore",
    )


# --- 'Settings', with a dead end

EXPORTER = Application(
    views=(
        View(
            name=MAIN,
            title="Editor",
            kind="window",
            controls=(Control(label="Tools", role="menu", opens="tools"), Control(label="Help", role="menu")),
        ),
        View(
            name="tools",
            title="Tools",
            kind="menu",
            controls=(
                Control(label="Export", role="menuitem", opens="export"),
                Control(label="Settings", role="menuitem", opens="settings"),
            ),
        ),
        View(
            name="export",
            title="Export",
            controls=(Control(label="As PDF", role="checkbox"), Control(label="Cancel", closes="discard")),
        ),
        View(name="settings", title="Settings", controls=(Control(label="OK", closes="keep"),)),
    )
)
TOOLS, EXPORT, SETTINGS = click("main/Tools"), click("tools/Export"), click("tools/Settings")
AS_PDF, CANCEL = click("export/As PDF"), click("export/Cancel")
EXPORT_OPTIONS = (Option(name="try_different_export_type"), Option(name="click_cancel"))


def nearer_in_tools(seen: Observation) -> float:
    return 3.0 if seen.surface.title == "Export" else 4.0 if seen.zone("tools/Settings") else 1.0


def opening_settings(*drafts: TryDraft, **settings: object) -> Stage:
    return Stage(
        world=Windows(EXPORTER),
        planner=Scripted(plan(opens("Settings"), final=True)),
        detour_planner=ScriptedTries(*drafts),
        closeness_judge=JudgedBy(nearer_in_tools),
        settings=settings,
    )


SIX = (
    TryDraft(step=TOOLS),
    TryDraft(step=EXPORT, options=EXPORT_OPTIONS),
    TryDraft(step=AS_PDF),
    TryDraft(step=CANCEL),
    TryDraft(step=TOOLS),
    TryDraft(step=SETTINGS),
)


async def test_settings_are_reached_in_six_iterations_with_one_revert_that_was_done_already() -> None:
    played = await opening_settings(*SIX).play()
    assert played.ended == (True, False, "plan_complete")
    assert closeness(played) == [(1.0, 4.0), (4.0, 3.0), (3.0, 3.0), (3.0, 1.0), (1.0, 4.0)]
    choices = [one.choice for one in tries(played)]
    assert choices == ["retain", "explore", "explore", "revert", "retain", None]
    counts = played.final_run.counts
    assert (counts.detours, counts.tries, counts.reverts) == (1, 6, 1)
    assert not [command for turn in played.turns for command in turn.commands if isinstance(command, PlanRevert)]
    assert [one.reverted for one in tries(played)] == [True, True, True, True, False, False], "back to the main window"


async def test_the_wrong_dialog_is_closed_where_nothing_else_is_left_to_try() -> None:
    """Without options there is nothing to explore: the export dialog is taken back by its Cancel button."""
    stage = opening_settings(*[TryDraft(step=step) for step in (TOOLS, EXPORT, TOOLS, SETTINGS)])
    played = await stage.play()
    assert played.ended[0]
    counts = played.final_run.counts
    assert (counts.tries, counts.reverts, counts.executions) == (4, 1, 5)
    assert [plan.why for plan in played.plans if plan.cause == "detour"] == [
        "1.1: a try",
        "1.2: a try",
        "1.3: back, close",
        "1.4: a try",
        "1.5: a try",
    ]


# --- a step of the plan that is not there


async def test_a_step_whose_target_is_gone_is_done_once_a_detour_has_found_it() -> None:
    """The menu was open when it was planned, and something closed it right before the click."""
    stage = Stage(
        world=Windows(EXPORTER, faults=[Fault(kind="dismissed")]),
        planner=Scripted(plan(TOOLS, AGAIN), plan(SETTINGS, final=True)),
        detour_planner=ScriptedTries(TryDraft(step=TOOLS)),
    )
    played = await stage.play()
    assert played.ended[0]
    assert played.completed == ["Click main/Tools", "Click tools/Settings"]
    assert (played.final_run.counts.detours, played.final_run.counts.tries, played.final_run.counts.replans) == (
        1,
        1,
        0,
    )


async def test_without_a_planner_for_it_a_step_that_only_says_what_for_is_dropped() -> None:
    stage = Stage(world=Windows(BATCH), planner=Scripted(plan(opens("Add Files"), final=True)))
    played = await stage.play()
    assert played.result.final_reason == "empty_plan" or not played.result.success
    assert "detours are off" in played.result.final_detail


# --- giving up


async def test_the_planner_hears_of_a_detour_that_was_given_up() -> None:
    stage = opening_settings(TryDraft(step=TOOLS), TryDraft(step=EXPORT, options=EXPORT_OPTIONS))
    played = await stage.play()
    assert not played.result.success
    again = played.contexts[1]
    assert again.cause == "error"
    assert "detour_cancelled — the detour was given up (no_way) after 2 tries" in again.why
    assert [attempt.reason for attempt in again.attempts] == ["out_of_reach", "out_of_reach"]
    assert again.completed == (), "what was only tried is not reported as done"


@pytest.mark.parametrize("iterations", [1, 3])
async def test_the_last_iteration_without_the_goal_gives_up(iterations: int) -> None:
    played = await opening_settings(*SIX, detour_iterations=iterations).play()
    assert sum(isinstance(command, PlanTry) for turn in played.turns for command in turn.commands) == iterations


async def test_a_goal_in_words_is_reached_when_the_judge_says_so() -> None:
    words = Draft(zone=REACH, expect=Expectation(says="the settings are open"), says="Open the settings")
    stage = Stage(
        world=Windows(EXPORTER),
        planner=Scripted(plan(words, final=True)),
        detour_planner=ScriptedTries(TryDraft(step=TOOLS), TryDraft(step=SETTINGS)),
        closeness_judge=JudgedBy(lambda seen: 10.0 if seen.surface.title == "Settings" else nearer_in_tools(seen)),
    )
    played = await stage.play()
    assert (played.result.success, played.final_run.counts.tries) == (True, 2)


async def test_a_goal_that_can_be_checked_is_not_reached_by_a_judges_word() -> None:
    stage = opening_settings(TryDraft(step=TOOLS))
    played = await replace(stage, closeness_judge=JudgedBy(lambda seen: 10.0)).play()
    assert not played.result.success
    assert played.final_run.counts.tries == 1


async def test_nothing_that_sends_is_tried() -> None:
    mailer = Application(
        views=(View(name=MAIN, title="Mail", kind="window", controls=(Control(label="Send", sends=True),)),)
    )
    send = Draft(zone="main/Send", skill="send", says="Send it")
    stage = Stage(
        world=Windows(mailer),
        planner=Scripted(plan(opens("Sent"), final=True)),
        detour_planner=ScriptedTries(TryDraft(step=send), TryDraft(step=send), TryDraft(step=send)),
    )
    played = await stage.play()
    assert stage.effects == ()
    assert [act.version for act in played.sent] == [1, 1], "only the step itself, twice"
    assert "looping" in played.contexts[1].why
