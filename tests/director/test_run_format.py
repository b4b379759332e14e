"""Stored runs: every earlier format is still read, and the current one is written exactly as in its fixture.

The fixture has a run in every phase and, between them, every kind of command under way and of move to come. If this fails,
either undo the change or give it a new `FORMAT`. `python -m tests.director.test_run_format` rewrites the present fixture, which
is right only before a release has written runs of that format.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest

from midcourse.codec import decode, decode_any, encode
from midcourse.domain.approval import Grant, OutcomeAnswer, Raise, Withdrawn
from midcourse.domain.budget import Budget, Cost, Limits
from midcourse.domain.commands import (
    Act,
    Advise,
    AskedStep,
    AskPerson,
    CheckDone,
    Command,
    Finish,
    JudgeCloseness,
    MakePlan,
    Observe,
    OpenWorld,
    PlanRevert,
    PlanTry,
    Record,
    Verify,
    Wait,
)
from midcourse.domain.detour import Detour, Option, Reverting, Tried
from midcourse.domain.events import Advised, Event, Guided
from midcourse.domain.failure import Attempt, Classification, Failure, Track
from midcourse.domain.monitor import Advice, Watch
from midcourse.domain.moves import (
    Advance,
    Ask,
    AskPlanner,
    BackOff,
    Begin,
    CheckOutcome,
    Conclude,
    Consult,
    Do,
    End,
    Look,
    Move,
    Open,
    Plan,
    Propose,
    Reach,
    Recover,
    Report,
    Revert,
    Try,
    Weigh,
)
from midcourse.domain.observation import ObservationRef
from midcourse.domain.outline import CoarseGoal, Outline, Regression
from midcourse.domain.phases import (
    Acting,
    Advising,
    Asking,
    BackingOff,
    Concluding,
    Ended,
    Looking,
    New,
    Opening,
    Paused,
    Phase,
    Planning,
    Trying,
    Undoing,
    Verifying,
    Weighing,
)
from midcourse.domain.plan import PlannedStep, Segment
from midcourse.domain.reflection import Analysis, Fix, Reflection
from midcourse.domain.run import FORMAT, READABLE, Counts, Issued, Origin, Progress, Run

FIXTURES = Path(__file__).parent.parent / "fixtures"
FIXTURE = FIXTURES / f"run-format-{FORMAT}.json"

FILL = PlannedStep(version=2, index=0, place="zone", skill="fill", effect="set_state", call="0123456789abcdef")
PAY = PlannedStep(
    version=2,
    index=1,
    place="global",
    skill="pay",
    effect="irreversible",
    transition=True,
    call="1123456789abcdef",
    identity="2123456789abcdef",
    consequence="3123456789abcdef",
)
REST = PlannedStep(version=2, index=2, place="replan")
COST, WRITTEN = Cost(calls=1, tokens=200, microusd=3000), Limits(outline="off")
KNOWN = Track(lesson="4123456789abcdef", fixed=2, not_fixed=5, sample=0.25)

FULL = Run(
    id="20260802-113000-ab12",
    limits=replace(
        WRITTEN, max_tokens=9000, max_cost_usd=0.5, deadline_seconds=864e2, count_extensions=True, approvals="never"
    ),
    has_done_when=True,
    has_detours=True,
    requested="pause",
    budget=Budget(spent=Cost(calls=3, tokens=600, microusd=9000), reserved=COST, active_seconds=12.25),
    counts=Counts(
        versions=2,
        extensions=1,
        replans=2,
        error_replans=1,
        refusals=1,
        planner_calls=4,
        steps=7,
        executions=9,
        completed=6,
        reopenings=1,
        late=1,
        asides=1,
        detours=1,
        tries=2,
        reverts=1,
    ),
    now=1800000100.5,
    started_at=1800000000.0,
    seq=41,
    next_id=24,
    seen=ObservationRef(id="o21", fingerprint="f00dfacef00dface", zones=12, surface="Kasse – “Übersicht”", stale=True),
    segment=Segment(
        version=2,
        cause="adaptive",
        made_under="f00dfacef00dfacd",
        final=False,
        steps=(FILL, PAY, REST),
        cursor=1,
        tries=2,
    ),
    look_first=True,
    reopened=True,
    verified=True,
    finished_irreversible=("4123456789abcdef", "5123456789abcdef"),
    attempts=(
        Attempt(call=FILL.call, before="f1", after="f2", reason="busy", at=1800000090.0, count=2),
        Attempt(call=PAY.call, before="f1", after="f1", reason="target_not_visible", at=1800000091.0),
    ),
    grants=(
        Grant(consequence=PAY.consequence, expires_at=1800003600.0),
        Grant(consequence="6123456789abcdef", expires_at=1800003600.0, once=False),
    ),
    guidance=("take the blue ones",),
    outcome_answers=(OutcomeAnswer(version=1, index=3, happened=False),),
    overrun=Cost(tokens=5),
    forked_from=Origin(run="20260801-090000-cd34", event=17),
)

DO = Do(step=PAY, purpose="segment", retry=True, look=False, looked=True, holds=1, changed_from="7123456789abcdef")
DOUBT = CheckOutcome(step=PAY, purpose="segment", command=19, before="f1")
DENIAL = Report(
    step=PAY, purpose="segment", status="no_effect", reason="no_effect", detail="a person says so", before="f1"
)


TOOLS = Tried(
    label="2.1",
    version=3,
    call="8123456789abcdef",
    before="f1",
    seen="o18",
    after="f2",
    closeness_before=1.0,
    closeness_after=4.0,
    options=(Option(name="another menu", says="Try another menu"),),
    explored=1,
    choice="retain",
)
ON_A_DETOUR = Detour(
    step=PAY,
    number=2,
    began_under="f1",
    states=2,
    closeness=4.0,
    under="f2",
    tries=(TOOLS, replace(TOOLS, label="2.2", explores="2.1", failed="busy", reverted=True)),
    trying=TOOLS,
    hint=Option(name="another menu"),
    explores="2.1",
    reverting=Reverting(to="2.1", strategies=("close", "key"), acts=2),
    refused="not visible",
)


FAILURE = Failure(reason="broken", detail="no way", found=Classification(), version=2, index=1, tries=1)
AFTER_FAILURE = AskPlanner(cause="error", why="broken", failure=FAILURE, due=1900.0)
REFLECTION = Reflection(
    analysis=Analysis(
        error_type="permission",
        severity="LOW",
        root_cause="It is protected",
        contributing_factors=("nobody looked",),
        preventable=True,
    ),
    fix=Fix(message="Write elsewhere", changes=("take /home",)),
    by="model",
)
ORIENT = Consult(role="outliner", then=AskPlanner(cause="adaptive", why="due"))
GOING_ROUND = Advice(problem="repetition", says="It goes round")
OUTLINE = Outline(
    goals=(CoarseGoal(says="Explore the shop", evidence="Catalogue"), CoarseGoal(says="Find the basket")),
    heard="9123456789abcdef",
    advice_seen=1,
    judged="o18",
    idle=2,
    setbacks=(1,),
    regressions=(Regression(before=3, after=2, evidence="Catalogue", seen="o18"),),
    regressed=1,
)


def in_phase(phase: Phase, *commands: Command, **more: Any) -> Run:
    pending = tuple(Issued(command=command, reserved=COST, at=1800000100.0) for command in commands)
    return replace(FULL, phase=phase, pending=pending, **more)


RUNS: tuple[Run, ...] = (
    Run(id="new", limits=WRITTEN),
    in_phase(Opening(then=Look(then=Plan(cause="initial"), free=True)), OpenWorld(id=20, timeout=60.0)),
    in_phase(Looking(then=Plan(cause="adaptive", why="due"), failures=1), Observe(id=20, timeout=60.0, free=True)),
    in_phase(
        Planning(asked=AskPlanner(cause="error", why="it failed", refused="not again", turn=1)),
        MakePlan(
            id=20,
            timeout=120.0,
            version=3,
            cause="error",
            why="it failed",
            seen="o21",
            stale=True,
            refused="not again",
            guidance=("take the blue ones",),
            outcome_answers=(OutcomeAnswer(version=1, index=3, happened=True),),
            left=Cost(calls=26, tokens=8000),
            wrap_up=True,
            beyond=True,
        ),
    ),
    in_phase(
        Acting(doing=DO, before="f1"),
        Act(id=20, timeout=90.0, version=2, index=1, seen="o21", consequence=PAY.consequence, look=False),
    ),
    in_phase(Verifying(doubt=DOUBT), Verify(id=20, timeout=90.0, version=2, index=1, doubted=19)),
    in_phase(
        Asking(about="happened", steps=(PAY,), purpose="segment", question=20, then=DENIAL),
        AskPerson(
            id=20,
            about="approve",
            steps=(AskedStep(version=2, index=1, consequence=PAY.consequence),),
            expires_at=1800003700.0,
            changed_from="7123456789abcdef",
            detail="look twice",
        ),
        Wait(id=21, seconds=3600.0),
    ),
    in_phase(BackingOff(then=Open(then=DOUBT)), Wait(id=20, seconds=2.5)),
    in_phase(
        Trying(asked=Try(undo=True, tries=1)),
        PlanTry(
            id=20,
            timeout=120.0,
            version=4,
            goal=(2, 1),
            label="2.3",
            seen="o21",
            closeness=4.0,
            tries=(TOOLS,),
            hint=Option(name="another menu"),
            undo=3,
            refused="not visible",
            guidance=("take the blue ones",),
            left=Cost(calls=26),
        ),
        detour=ON_A_DETOUR,
    ),
    in_phase(
        Weighing(asked=Weigh(looked=True, tries=2)),
        JudgeCloseness(id=20, timeout=120.0, goal=(2, 1), seen="o21"),
        detour=ON_A_DETOUR,
    ),
    in_phase(
        Undoing(),
        PlanRevert(
            id=20, timeout=60.0, version=4, undo=3, label="2.3", before="o18", seen="o21", tried=("toggle", "undo")
        ),
        detour=ON_A_DETOUR,
    ),
    in_phase(Paused(then=Look(then=Revert(looked=True))), detour=ON_A_DETOUR),
    in_phase(Paused(then=Reach(step=PAY))),
    in_phase(
        Advising(role="reflector", then=Consult(role="monitor", then=AFTER_FAILURE)),
        Advise(
            id=20,
            role="reflector",
            timeout=30.0,
            version=3,
            failure=FAILURE,
            seen="o21",
            outcome_answers=(OutcomeAnswer(version=1, index=3, happened=True),),
            left=Cost(calls=26),
        ),
        has_reflector=True,
    ),
    in_phase(Paused(then=Consult(role="reflector", then=replace(AFTER_FAILURE, reflection=REFLECTION)))),
    in_phase(
        Advising(role="monitor", then=ORIENT),
        Advise(id=20, role="monitor", timeout=30.0, seen="o21", since=12, outline=OUTLINE, left=Cost(calls=26)),
        watch=Watch(version=2, advice=GOING_ROUND, said_at=1, since=12, spoken=1),
    ),
    in_phase(Paused(then=Consult(role="monitor", then=ORIENT.then))),
    in_phase(
        Advising(role="monitor", then=ORIENT, drafted=True),
        Advise(id=20, role="monitor", timeout=30.0, seen="o21", version=2, made_by=19, left=Cost(calls=26)),
    ),
    in_phase(Paused(then=Propose(asked=ORIENT.then))),
    in_phase(Paused(then=Begin())),
    in_phase(
        Advising(role="outliner", then=ORIENT),
        Advise(
            id=20,
            role="outliner",
            timeout=120.0,
            seen="o21",
            outline=OUTLINE,
            guidance=("take the blue ones",),
            advice=GOING_ROUND,
            left=Cost(calls=26),
        ),
        has_outliner=True,
        outline=OUTLINE,
    ),
    in_phase(
        Advising(role="judge", then=ORIENT),
        Advise(id=20, role="judge", timeout=120.0, outline=OUTLINE, seen="o21"),
        has_outliner=True,
        outline=OUTLINE,
    ),
    in_phase(Concluding(detail="so it says"), CheckDone(id=20, timeout=60.0, seen="o21", look=True)),
    in_phase(
        Paused(
            then=Look(
                then=Ask(
                    about="approve",
                    steps=(PAY,),
                    purpose="segment",
                    then=BackOff(seconds=1.0, then=Recover(step=FILL, reason="busy", detail="later", track=KNOWN)),
                    changed_from="7123456789abcdef",
                    detail="look twice",
                ),
                failures=2,
            )
        ),
        Record(id=20),
    ),
    in_phase(Paused(then=Conclude(detail="all done"))),
    in_phase(Paused(then=End(reason="needs_human", detail="who knows"))),
    in_phase(Paused(then=Advance())),
    in_phase(
        Ended(reason="goal_reached", detail="seen: it"),
        Finish(
            id=20,
            reason="goal_reached",
            detail="seen: it",
            verified=True,
            outcome_answers=(OutcomeAnswer(version=1, index=3, happened=True),),
        ),
        requested="cancel",
    ),
    in_phase(
        Asking(
            about="happened",
            steps=(PAY,),
            purpose="segment",
            question=20,
            then=DENIAL,
            doubt=replace(DOUBT, denied_by="ada"),
            against="probe",
            looks=3,
            timer=22,
        ),
        AskPerson(
            id=20,
            about="happened",
            steps=(AskedStep(version=2, index=1, consequence=PAY.consequence),),
            expires_at=1800003700.0,
            doubted=19,
            seen="o21",
        ),
        Wait(id=22, seconds=16.0),
        Verify(id=23, timeout=90.0, version=2, index=1, doubted=19, free=True, question=20),
        outcome_answers=(OutcomeAnswer(version=1, index=3, happened=False, command=12, against="expectation"),),
        withdrawn=Withdrawn(question=14, why="the probe says that it happened"),
    ),
    in_phase(
        Paused(
            then=Ask(about="happened", steps=(PAY,), purpose="segment", then=DENIAL, doubt=DOUBT, against="expectation")
        )
    ),
    in_phase(
        Verifying(doubt=replace(DOUBT, reads=True)),
        Verify(id=20, timeout=210.0, version=2, index=1, doubted=19, reads=True),
    ),
    in_phase(Paused(then=Advance()), progress=Progress(known=("01234567", "11234567"), fresh=True, idle=1)),
    replace(
        in_phase(
            Asking(
                about="more",
                steps=(),
                purpose="segment",
                question=20,
                then=Advance(),
                more=COST,
                otherwise=End(reason="budget_exhausted", detail="30 of 30 calls are used"),
            ),
            AskPerson(
                id=20, about="more", steps=(), expires_at=1800003700.0, detail="30 of 30 calls are used", more=COST
            ),
        ),
        raises=(Raise(question=5, more=Cost(microusd=500_000), by="ada"),),
    ),
)
"""New runs are added at the end, so that those before them are compared with the fixtures of earlier formats."""


def written() -> str:
    return "[\n" + ",\n".join(encode(run) for run in RUNS) + "\n]\n"


def lines(fixture: Path = FIXTURE) -> list[str]:
    return [line.removesuffix(",") for line in fixture.read_text(encoding="utf-8").splitlines()[1:-1]]


def test_the_fixture_is_of_this_format() -> None:
    assert tuple(range(1, FORMAT + 1)) == READABLE, "a new format needs a fixture, and old ones still have to be read"
    assert len(lines()) == len(RUNS)


@pytest.mark.parametrize("number", range(len(RUNS)))
def test_a_stored_run_is_read_as_what_it_was_and_written_as_it_stood(number: int) -> None:
    stored = lines()[number]
    assert decode(Run, stored) == RUNS[number]
    assert encode(decode(Run, stored)) == stored


EARLIER = {
    "run-format-1.json": (28, 2),
    "run-format-2-without-counters.json": (28, 2),
    "run-format-2.json": (28, 2),
    "run-format-3.json": (30, 3),
}
"""The number of runs in a fixture, and the format that they are read as. All lack fields with defaults."""


@pytest.mark.parametrize("name", EARLIER)
def test_runs_of_earlier_formats_are_read_and_keep_their_rules(name: str) -> None:
    stored, (count, kept) = lines(FIXTURES / name), EARLIER[name]
    assert len(stored) == count
    for line, run in zip(stored, RUNS, strict=False):
        assert decode(Run, line) == decode(Run, line.encode()) == replace(run, format=kept)
        assert decode(Run, line).rechecks == (kept >= 3)
        assert not decode(Run, line).reads_before_asking


EVENTS_OF_FORMAT_1: dict[str, Event] = {
    '{"answers":7,"kind":"path_reviewed"}': Advised(answers=7, role="monitor"),
    '{"answers":7,"verdict":"goals","goals":["Find it"],"kind":"outlined"}': Advised(
        answers=7, role="outliner", goals=("Find it",)
    ),
    '{"answers":7,"verdict":"garbage","kind":"outlined"}': Advised(answers=7, role="outliner", verdict="garbage"),
    '{"answers":7,"verdict":"judged","current":2,"evidence":"Catalogue","kind":"progress_judged"}': Advised(
        answers=7, role="judge", current=2, evidence="Catalogue"
    ),
    '{"kind": "reflected", "answers": 7, "verdict": "transport"}': Advised(
        answers=7, role="reflector", verdict="transport"
    ),
}


@pytest.mark.parametrize("stored", EVENTS_OF_FORMAT_1)
def test_an_event_of_format_1_is_read(stored: str) -> None:
    assert decode_any(Event, stored) == EVENTS_OF_FORMAT_1[stored]


def test_page_content_is_not_mistaken_for_an_old_record() -> None:
    said = Guided(text='{"kind":"reflected","verdict":"judged"}')
    assert decode_any(Event, encode(said)) == said


def test_the_fixture_has_every_phase_command_and_move() -> None:
    text = FIXTURE.read_text(encoding="utf-8")
    for union in (Phase, Command, Move):
        for kind in get_args(get_args(union)[0]):
            assert f'"kind":"{kind.kind}"' in text, kind.__name__
    assert isinstance(decode(Run, lines()[0]).phase, New)


if __name__ == "__main__":
    FIXTURE.write_text(written(), encoding="utf-8")
