"""The live view as text, at the sizes that people have."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from midcourse.cli.view.run import RunView
from midcourse.domain.commands import Wait
from midcourse.domain.events import TimerFired
from midcourse.domain.moves import Advance, AskPlanner, CheckOutcome, Consult, Plan
from midcourse.domain.phases import Advising, BackingOff, Looking, Paused, Planning, Verifying
from midcourse.domain.plan import PlanVersion
from midcourse.domain.run import Issued, Run
from midcourse.drive import Progress
from midcourse.terminal.output import ASCII, UNICODE, Marks
from tests.cli.samples import make_plan, make_run, make_turns

GOAL = "Open Notepad, write a note and save it in Documents"


def make_view(plan: PlanVersion, cursor: int = 1, marks: Marks = UNICODE, goal: str = GOAL) -> RunView:
    view = RunView(name="notepad", goal=goal, run_id="20260802-113000-ab12", marks=marks)
    for turn in make_turns(plan, cursor):
        view.add_turn(turn, plan if view.narrator.new_plan_version(turn.event) else None)
    return view


def draw(view: RunView, width: int, height: int) -> list[str]:
    console = Console(record=True, width=width, height=height, file=io.StringIO())
    console.print(view.render(width=width, height=height, now=1013.0, hint="Ctrl-C pauses"))
    return console.export_text().splitlines()


def draw_second_step(run: Run, plan: PlanVersion) -> str:
    """The line of the second step."""
    view = RunView(name="notepad", goal=GOAL, run_id="r")
    for turn in make_turns(plan):
        view.add_turn(turn, plan if view.narrator.new_plan_version(turn.event) else None)
    view.add_turn(Progress(event=TimerFired(answers=99, at=1012.0), run=run, commands=()))
    return next(line for line in draw(view, 80, 23) if "click 'name'" in line)


NARROW = """
╭─ midcourse notepad ──────────────────────────────────────────────────────────╮
│ Open Notepad, write a note and save it in Documents                          │
│ ⠴ doing: Click the file name                                                 │
│                                                                              │
│ Plan 2  after a failure: click failed: busy — the dialog did not answer      │
│ repaired: __replan__ was put after step 4, which may change the screen       │
│   ✓ Click the folder Documents  click 'Documents'                            │
│   ▸ Click the file name         click 'name'                                 │
│   · Type the name of the file   click 'file'                                 │
│   · Click Save                  click 'Save' irreversible                    │
│   ↻ look again, then plan on                                                 │
│                                                                              │
│ sees      Save As · 35 zones                                                 │
│ calls     ━━──────────── 4/30          segments  ━───────────── 2/20         │
│ replans   ━━━─────────── 1/5           time      ━───────────── 13 s/60 min  │
│                                                                              │
│  0:01  looked: 'Save As', 35 zones                                           │
│  0:03  failed: step 1 of plan 1, busy; trying again in 2.0 s (the dialog di… │
│  0:08  failed: step 1 of plan 1, busy; planning again (the dialog did not a… │
│  0:10  plan 2 (after a failure): 4 steps, 1 repair (Click the folder Docume… │
│  0:12  done: Click the folder Documents                                      │
│                                                                              │
╰─────────────────────────────────────── 20260802-113000-ab12 · Ctrl-C pauses ─╯
"""

WIDE = """
╭─ midcourse notepad ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────╮
│ Open Notepad, write a note and save it in Documents                                                                                      │
│ ⠴ doing: Click the file name                                                                                                             │
│                                                                                                                                          │
│ Plan 2  after a failure: click failed: busy — the dialog did not answer                     sees      Save As · 35 zones                 │
│ repaired: __replan__ was put after step 4, which may change the screen                                                                   │
│   ✓ Click the folder Documents  click 'Documents'                                           calls     ━━━─────────────────── 4/30        │
│   ▸ Click the file name         click 'name'                                                segments  ━━──────────────────── 2/20        │
│   · Type the name of the file   click 'file'                                                replans   ━━━━────────────────── 1/5         │
│   · Click Save                  click 'Save' irreversible                                   time      ━───────────────────── 13 s/60 min │
│   ↻ look again, then plan on                                                                                                             │
│                                                                                                                                          │
│  0:01  looked: 'Save As', 35 zones                                                                                                       │
│  0:03  failed: step 1 of plan 1, busy; trying again in 2.0 s (the dialog did not answer)                                                 │
│  0:08  failed: step 1 of plan 1, busy; planning again (the dialog did not answer)                                                        │
│  0:10  plan 2 (after a failure): 4 steps, 1 repair (Click the folder Documents, Click the file name, Type the name of the file, Click S… │
│  0:12  done: Click the folder Documents                                                                                                  │
"""


def test_a_run_is_drawn_at_80_by_24() -> None:
    assert draw(make_view(make_plan()), 80, 23) == NARROW.strip().splitlines()


def test_a_run_is_drawn_at_140_by_40() -> None:
    lines = draw(make_view(make_plan()), 140, 39)
    shown = WIDE.strip().splitlines()
    assert lines[: len(shown)] == shown
    assert len(lines) <= 39


def test_the_ascii_view_is_ascii_only() -> None:
    view = make_view(make_plan(40), 12, ASCII, goal="Schließe die Tür — schnell…")
    text = "\n".join(draw(view, 80, 23))
    assert text.isascii()
    assert "Schlie?e die Tur - schnell..." in text
    assert "  > Click the folder Documents" in text


@pytest.mark.parametrize("steps", [1, 5, 60])
@pytest.mark.parametrize("width", [30, 80, 110, 140])
def test_the_view_never_exceeds_the_terminal(width: int, steps: int) -> None:
    plan = replace(make_plan(steps), repairs=("one", "two", "three"), why="why " * 100)
    for cursor in {0, steps // 2, steps - 1}:
        view = make_view(plan, cursor, goal="A goal that is long enough to be cut " * 10)
        for height in (5, 8, 12, 14, 20, 23, 49):
            lines = draw(view, width, height)
            assert len(lines) <= height
            assert all(len(line) <= width for line in lines)


@pytest.mark.parametrize("cursor", [0, 1, 12, 38, 39])
def test_a_long_plan_is_shown_around_its_current_step(cursor: int) -> None:
    text = "\n".join(draw(make_view(make_plan(40), cursor), 80, 23))
    assert "▸" in text or "↻ look again" in text
    assert (" before" in text) == (cursor > 5)
    assert (" more" in text) == (cursor < 35)


def test_controls_in_what_a_page_says_never_reach_the_terminal() -> None:
    view = make_view(make_plan(), goal="Save \x1b[2J\x1b]0;owned\x07 it\u202e now")
    text = "\n".join(draw(view, 100, 23))
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "\u202e" not in text
    assert "\\x1b[2J" in text


def test_before_anything_is_known_it_can_be_drawn() -> None:
    text = "\n".join(draw(RunView(name="notepad", goal=GOAL, run_id="r"), 80, 23))
    assert "starting" in text
    assert "No plan yet" in text


def test_a_stale_look_is_marked() -> None:
    plan = make_plan()
    run = make_run(plan)
    assert run.seen is not None
    view = make_view(plan)
    stale = replace(run, seen=replace(run.seen, stale=True))
    view.add_turn(Progress(event=TimerFired(answers=99, at=1012.0), run=stale, commands=()))
    assert any("Save As · 35 zones (stale)" in line for line in draw(view, 80, 23))


# --- the marks of a step


def test_a_step_whose_outcome_is_unknown_has_a_question_mark() -> None:
    plan = make_plan()
    run = make_run(plan)
    assert run.segment is not None
    doubt = CheckOutcome(step=run.segment.steps[1], purpose="segment", command=20, before="f2")
    assert "? Click the file name" in draw_second_step(replace(run, phase=Verifying(doubt=doubt)), plan)


def test_a_step_that_led_to_a_new_plan_has_a_cross() -> None:
    plan = make_plan()
    looking = Looking(then=Plan(cause="error", why="click failed: busy"))
    assert "✗ Click the file name" in draw_second_step(replace(make_run(plan), phase=looking), plan)


def test_a_step_that_led_to_a_new_plan_keeps_its_cross_in_a_pause() -> None:
    plan = make_plan()
    paused = Paused(then=Plan(cause="error", why="click failed: busy"))
    assert "✗ Click the file name" in draw_second_step(replace(make_run(plan), phase=paused), plan)


def test_a_new_plan_that_a_monitor_looks_at_has_no_cross() -> None:
    """Whatever failed in the one before it."""
    plan = make_plan()
    again = AskPlanner(cause="error", why="click failed: busy", objected=True)
    review = Advising(role="monitor", then=Consult(role="outliner", then=again), drafted=True)
    for phase in (review, Planning(asked=again)):
        assert "▸ Click the file name" in draw_second_step(replace(make_run(plan), phase=phase), plan)
    view = make_view(plan)
    reviewing = replace(make_run(plan), phase=review)
    view.add_turn(Progress(event=TimerFired(answers=99, at=1012.0), run=reviewing, commands=()))
    assert any("reviewing the plan" in line for line in draw(view, 80, 23))


def test_a_step_to_be_tried_again_is_still_current() -> None:
    plan = make_plan()
    wait = Issued(command=Wait(id=21, seconds=4.0), at=1011.0)
    run = replace(make_run(plan), phase=BackingOff(then=Advance()), pending=(wait,))
    assert "▸ Click the file name" in draw_second_step(run, plan)
    view = make_view(plan)
    view.add_turn(Progress(event=TimerFired(answers=99, at=1012.0), run=run, commands=()))
    assert any("waiting 2.0 s, then trying again" in line for line in draw(view, 80, 23))


def test_a_pause_that_was_asked_for_is_shown_until_it_begins() -> None:
    plan = make_plan()
    view = make_view(plan)
    asked = replace(make_run(plan), requested="pause")
    view.add_turn(Progress(event=TimerFired(answers=99, at=1012.0), run=asked, commands=()))
    assert any("pausing after this: doing: Click the file name" in line for line in draw(view, 80, 23))
