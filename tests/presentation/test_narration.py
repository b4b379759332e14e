"""Every kind of event in words."""

from dataclasses import replace

import pytest

from midcourse.domain.approval import Verdict
from midcourse.domain.commands import (
    Act,
    AskedStep,
    AskPerson,
    Command,
    Finish,
    JudgeCloseness,
    MakePlan,
    OpenWorld,
    PlanRevert,
    PlanTry,
    Record,
    Verify,
    Wait,
)
from midcourse.domain.detour import Option, Tried
from midcourse.domain.events import (
    Acted,
    Advised,
    ApprovalDecided,
    CancelAsked,
    ClosenessJudged,
    DoneChecked,
    Event,
    Finished,
    Guided,
    Observed,
    PauseAsked,
    Planned,
    Recorded,
    ResumeAsked,
    Resumed,
    RevertPlanned,
    Started,
    TakenOver,
    TimerFired,
    TryPlanned,
    Verified,
    WorldOpened,
)
from midcourse.domain.monitor import Advice
from midcourse.domain.plan import PlanVersion
from midcourse.presentation.narration import Narrator
from tests.cli.samples import SEEN, make_plan, shorten_steps

PLAN = make_plan()
ACT = Act(id=4, timeout=30.0, version=2, index=3, seen="o1")
VERIFY = Verify(id=5, timeout=30.0, version=2, index=3, doubted=4)
ERROR = MakePlan(id=6, timeout=120.0, version=2, cause="error", why="it failed", seen="o1")
WAIT = Wait(id=7, seconds=2.0)
ASK = AskPerson(id=8, about="approve", steps=(AskedStep(version=2, index=3, consequence="c"),), expires_at=60.0)


def describe(event: Event, *commands: Command) -> str:
    narrator = Narrator()
    narrator.add_plan(PLAN)
    narrator.describe(Started(), (ACT, VERIFY, ERROR))
    line = narrator.describe(event, commands)
    return line.text if line else ""


@pytest.mark.parametrize(
    ("event", "commands", "words"),
    [
        (WorldOpened(answers=1, opened=True), (), "the world is open"),
        (WorldOpened(answers=1, opened=False, detail="no"), (), "the world cannot be opened (no)"),
        (Observed(answers=2, seen=SEEN), (), "looked: 'Save As', 35 zones"),
        (Observed(answers=2, reason="timeout"), (), "the look failed: timeout"),
        (
            Observed(answers=2, reason="world_lost"),
            (OpenWorld(id=9, timeout=1.0),),
            "the world was lost; opening it again",
        ),
        (Acted(answers=4), (), "done: Click Save"),
        (
            Acted(answers=4, status="failed", reason="busy", detail="hm"),
            (WAIT,),
            "failed: Click Save, busy; trying again in 2.0 s (hm)",
        ),
        (Acted(answers=4, status="failed", reason="gone"), (ERROR,), "failed: Click Save, gone; planning again"),
        (
            Acted(answers=4, status="unknown", reason="timeout"),
            (VERIFY,),
            "outcome unknown: Click Save; checking (timeout)",
        ),
        (
            Acted(answers=4, status="no_effect", reason="held", dispatched=False),
            (ASK, WAIT),
            "held: Click Save; a person is asked (not approved as it would be sent)",
        ),
        (Acted(answers=4, status="no_effect", reason="held", dispatched=False), (ACT,), ""),
        (Acted(answers=4), (Record(id=9), WAIT), "done: Click Save; paused"),
        (Acted(answers=77), (), "done: a step"),
        (
            Acted(answers=4, dropped=("the page's own POST http://shop/beat was not sent",)),
            (),
            "done: Click Save (the page's own POST http://shop/beat was not sent)",
        ),
        (
            Acted(
                answers=4, status="failed", reason="busy", detail="hm", dropped=("this was not sent", "nor was this")
            ),
            (),
            "failed: Click Save, busy (hm; this was not sent; nor was this)",
        ),
        (Verified(answers=5, verdict="happened", evidence="probe"), (), "it did happen: Click Save (probe)"),
        (
            Verified(answers=5, verdict="did_not_happen", evidence="absent_when"),
            (),
            "it did not happen: Click Save (absent_when)",
        ),
        (
            Verified(answers=5, verdict="too_early"),
            (WAIT,),
            "too early to tell whether it happened: Click Save; trying again in 2.0 s",
        ),
        (Verified(answers=5, verdict="undecided"), (ASK,), "still unknown: Click Save; a person is asked"),
        (
            Planned(answers=6, steps=shorten_steps(PLAN), repairs=1),
            (),
            (
                "plan 2 (after a failure): 4 steps, 1 repair "
                "(Click the folder Documents, Click the file name, Type the name of the file, Click Save)"
            ),
        ),
        (
            Planned(answers=6, steps=shorten_steps(PLAN), reused=True, detail="kept from run r1"),
            (),
            "plan 2 (after a failure): 4 steps (kept from run r1)",
        ),
        (
            Planned(answers=6, verdict="done", reused=True, detail="kept from run r1"),
            (),
            "here the task was done before (kept from run r1)",
        ),
        (Planned(answers=6, verdict="done"), (), "the planner says that the task is done"),
        (Planned(answers=6, verdict="gave_up", detail="hm"), (), "the planner's answer: gave up (hm)"),
        (Planned(answers=6), (), "the planner sent no steps"),
        (
            Planned(answers=6, verdict="transport", detail="no route"),
            (WAIT,),
            "the planner could not be reached; trying again in 2.0 s (no route)",
        ),
        (
            Planned(answers=6, steps=shorten_steps(PLAN)),
            (
                MakePlan(
                    id=9, timeout=1.0, version=2, cause="error", why="", seen="o1", refused="Click Save failed here"
                ),
            ),
            "the plan was refused; asking the planner once more (Click Save failed here)",
        ),
        (
            Planned(answers=6, steps=shorten_steps(PLAN)),
            (Finish(id=9, reason="replan_no_change", detail="Click Save failed here", verified=False),),
            "the plan was refused (Click Save failed here)",
        ),
        (Advised(answers=6, role="monitor"), (), ""),
        (
            Advised(answers=6, role="monitor", verdict="transport", detail="hm"),
            (),
            "the path could not be reviewed (hm)",
        ),
        (
            Advised(answers=6, role="monitor", advice=Advice(problem="no_progress", says="It leads nowhere")),
            (ERROR,),
            "the monitor: It leads nowhere; planning again (no progress)",
        ),
        (DoneChecked(answers=6, verdict="met", detail="seen"), (), "verified: seen"),
        (DoneChecked(answers=6, verdict="unmet", detail="hm"), (ERROR,), "not done yet; planning again (hm)"),
        (DoneChecked(answers=6, verdict="undecided", detail="hm"), (), "not verified (hm)"),
        (
            DoneChecked(answers=6, verdict="too_early"),
            (WAIT,),
            "too early to tell whether the task is done; trying again in 2.0 s",
        ),
        (TimerFired(answers=7), (ACT,), ""),
        (
            TimerFired(answers=7),
            (Finish(id=9, reason="rejected", detail="", verified=False),),
            "no answer in time",
        ),
        (Resumed(), (), "picked up again while plan 2 was made; the world is as it was"),
        (Resumed(world="reopened"), (), "picked up again while plan 2 was made; the world had to be opened again"),
        (PauseAsked(), (), "a pause was asked for"),
        (ResumeAsked(), (), "continuing"),
        (CancelAsked(), (), "a cancel was asked for"),
        (Guided(text="use the menu"), (), "guidance: use the menu"),
        (TakenOver(by="ada"), (), "ada took over the world of the run"),
        (
            TakenOver(by="ada", did=("clicked button 'Save'", "sent POST /x")),
            (),
            "ada acted in place of the run: clicked button 'Save'; sent POST /x",
        ),
        (Started(), (OpenWorld(id=1, timeout=1.0),), ""),
        (Recorded(answers=9), (), ""),
        (Finished(answers=9), (), ""),
    ],
)
def test_each_event_has_its_words(event: Event, commands: tuple[Command, ...], words: str) -> None:
    assert describe(event, *commands) == words


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        ("approved", "approved once (ada)"),
        ("rejected", "rejected (ada)"),
        ("happened", "a person says that it happened (ada)"),
        ("did_not_happen", "a person says that it did not happen (ada)"),
        ("stop", "stopped (ada)"),
    ],
)
def test_each_decision_has_its_words_and_its_author(verdict: Verdict, words: str) -> None:
    assert describe(ApprovalDecided(question=8, verdict=verdict, by="ada")) == words


def test_an_approval_for_the_run_and_the_guidance_of_a_rejection_are_named() -> None:
    assert describe(ApprovalDecided(question=8, verdict="approved", once=False)) == "approved for this run"
    guided = ApprovalDecided(question=8, verdict="rejected", guidance="ask Bob first")
    assert describe(guided, ERROR) == "rejected, with guidance: ask Bob first; planning again"


# --- detours


def test_a_detour_is_told_state_by_state() -> None:
    """As `show` and the live view have it: what was tried, how near it led, and what was decided."""
    narrator, texts = Narrator(), list[str]()
    tries = [
        PlanVersion(
            version=3 + n,
            parent=2,
            cause="detour",
            why=why,
            observation="o1",
            final=False,
            steps=(replace(PLAN.steps[0], version=3 + n, index=0, says=says),),
        )
        for n, (why, says) in enumerate((("8.1: a try", "Click Tools"), ("8.2: back, close", "Click Cancel")))
    ]
    for plan in tries:
        narrator.add_plan(plan)
    asked = PlanTry(id=20, timeout=1.0, version=3, goal=(2, 7), label="8.1", seen="o1", closeness=2.0)
    hinted = replace(asked, id=26, tries=(TRIED,), hint=Option(name="another menu"))
    back = PlanRevert(id=24, timeout=1.0, version=4, undo=3, label="8.2", before="o1", seen="o2")
    judge = JudgeCloseness(id=22, timeout=1.0, goal=(2, 7), seen="o2")
    turns: list[tuple[Event, tuple[Command, ...]]] = [
        (ClosenessJudged(answers=19, closeness=2.0), (asked,)),
        (
            TryPlanned(answers=20, step=shorten_steps(tries[0])[0]),
            (Act(id=21, timeout=1.0, version=3, index=0, seen="o1"),),
        ),
        (Acted(answers=21), (judge,)),
        (ClosenessJudged(answers=22, closeness=1.5, detail="wrong dialog"), (back,)),
        (RevertPlanned(answers=24, strategy="close"), (Act(id=25, timeout=1.0, version=4, index=0, seen="o2"),)),
        (Acted(answers=25), (hinted,)),
        (TryPlanned(answers=26, verdict="gave_up", detail="no idea"), ()),
        (ClosenessJudged(answers=27, found="z1", closeness=10.0, detail="'Settings' is open"), ()),
    ]
    for event, commands in turns:
        line = narrator.describe(event, commands)
        if line is not None:
            texts.append(line.text)
    assert texts == [
        "closeness 2.0 of 10; looking for a way",
        "done: 8.1: a try, Click Tools",
        "closeness 1.5 of 10; a dead end, stepping back (wrong dialog)",
        "done: 8.2: back, close, Click Cancel; exploring: another menu",
        "no try was planned: gave up (no idea)",
        "in reach now ('Settings' is open)",
    ]
    assert narrator.new_plan_version(turns[1][0]) == 3, "viewers can fetch its words"


TRIED = Tried(label="8.1", version=3, call="c", before="f1", seen="o1")


@pytest.mark.parametrize(
    ("under_way", "words"),
    [
        ((ACT,), " in step 4 of plan 2 (Click Save)"),
        ((ACT, WAIT), " in step 4 of plan 2 (Click Save)"),
        ((VERIFY,), " in step 4 of plan 2 (Click Save)"),
        ((ERROR,), " while plan 2 was made"),
        ((), ""),
    ],
)
def test_a_resumed_run_names_the_step_it_was_in(under_way: tuple[Command, ...], words: str) -> None:
    narrator = Narrator()
    narrator.add_plan(PLAN)
    narrator.add_commands(under_way)
    line = narrator.describe(Resumed(), ())
    assert line is not None
    assert line.text == f"picked up again{words}; the world is as it was"
