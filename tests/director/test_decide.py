"""The transition table is complete, followed and reachable; late, impossible and control events are handled."""

from dataclasses import replace
from importlib import import_module
from typing import Any, get_args

import pytest

from midcourse.director.decide import ENTER, PHASES, ROWS, TABLE, abort, decide, why_no_effect
from midcourse.domain.approval import Verdict
from midcourse.domain.commands import Command
from midcourse.domain.events import (
    Acted,
    ApprovalDecided,
    CancelAsked,
    Control,
    Event,
    Guided,
    Observed,
    PauseAsked,
    Planned,
    ResumeAsked,
    Resumed,
    Started,
    TimerFired,
)
from midcourse.domain.moves import Move, Report
from midcourse.domain.phases import Ended, Looking, New
from midcourse.domain.run import Run
from midcourse.errors import ImpossibleEvent
from tests.harness import REPLAN_STEP, Drill, a_step, ref

CONTROLS: tuple[Control, ...] = (
    Started(),
    Resumed(),
    Resumed(world="reopened"),
    PauseAsked(),
    ResumeAsked(),
    CancelAsked(),
    Guided(text="try the other door"),
    *(ApprovalDecided(question=n, verdict=verdict) for n in (0, 5) for verdict in get_args(Verdict)),
)
ORDER = a_step("order", "irreversible")
DONE: dict[str, Any] = {"evidence": "expectation"}


def outlined() -> Drill:
    """A run with an outline, and a plan up to the next transition."""
    goals = ("Explore the shop", "Find the basket")
    drill = Drill(has_outliner=True, outline="on").to_planning().outlines(*goals)
    return drill.plans(a_step(), REPLAN_STEP)


def everywhere() -> dict[str, Drill]:
    """A run in every phase, and with every adviser at work."""
    return {
        "new": Drill(),
        "opening": Drill().starts(),
        "looking": Drill().starts().opens(),
        "planning": Drill().to_planning(),
        "acting": Drill().to_acting(a_step()),
        "verifying": Drill().to_acting(a_step(effect="reversible")).acts("unknown"),
        "asking": Drill().to_acting(ORDER),
        "backing_off": Drill().to_acting(a_step()).acts("failed", reason="busy"),
        "trying": Drill(has_detours=True).to_detour(),
        "weighing": Drill(has_detours=True).to_detour().plans_try().acts(fingerprint="f2"),
        "undoing": Drill(has_detours=True).to_detour(5.0).plans_try().acts(fingerprint="f2").judges_closeness(4.0),
        "advising: reflector": Drill(has_reflector=True)
        .to_acting(a_step())
        .acts("failed", reason="broken", fingerprint="f2"),
        "advising: monitor": Drill(monitor="proposals")
        .to_acting(a_step(), REPLAN_STEP)
        .reviews()
        .acts()
        .sees("f2")
        .plans(a_step("next")),
        "advising: outliner": Drill(has_outliner=True, outline="on").to_planning(),
        "advising: judge": outlined().acts().sees("f2"),
        "concluding": Drill(has_done_when=True).to_acting(a_step()).acts(),
        "paused": Drill().starts().tell(PauseAsked()).opens(),
        "ended": Drill().starts().tell(CancelAsked()),
    }


RUNS = {name: drill.run for name, drill in everywhere().items()}


def test_every_phase_is_reached() -> None:
    drills = everywhere()
    assert {drill.phase.kind for drill in drills.values()} == {phase.kind for phase in PHASES}
    assert all(name.startswith(drill.phase.kind) for name, drill in drills.items())


def test_every_pair_of_phase_and_control_event_has_a_row() -> None:
    for phase in PHASES:
        for control in get_args(Control):
            assert (phase, control) in ROWS


@pytest.mark.parametrize("where", RUNS)
@pytest.mark.parametrize("event", CONTROLS, ids=repr)
def test_a_control_event_is_legal_everywhere(where: str, event: Control) -> None:
    run = RUNS[where]
    after, _ = decide(run, event)
    assert after.seq == run.seq + 1
    assert isinstance(why_no_effect(run, event), str)


@pytest.mark.parametrize("event", CONTROLS, ids=repr)
def test_a_run_that_has_ended_only_counts_late_events(event: Control) -> None:
    run = RUNS["ended"]
    after, commands = decide(run, event)
    assert commands == ()
    assert after == replace(run, seq=run.seq + 1, counts=replace(run.counts, late=run.counts.late + 1))
    assert why_no_effect(run, event) == "the run has ended: cancelled"


def test_every_answer_has_the_row_that_awaits_it() -> None:
    awaited = {row.event.__name__ for row in TABLE}
    answers = {kind.__name__ for kind in get_args(get_args(Event)[0])} - {kind.__name__ for kind in get_args(Control)}
    assert answers <= awaited


def test_every_row_says_where_it_leads_or_only_ends_or_pauses() -> None:
    for row in TABLE:
        assert all(phase in PHASES for phase in row.to)


def test_every_move_has_a_handler() -> None:
    assert set(get_args(get_args(Move)[0])) == {*ENTER, Report}


def test_every_move_is_made_somewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    module = import_module("midcourse.director.decide")
    made: set[str] = set()
    enter: Any = module._enter

    def watched(run: Run, move: Any) -> Any:
        made.add(move.kind)
        return enter(run, move)

    monkeypatch.setattr(module, "_enter", watched)
    everywhere()
    assert made == {kind.kind for kind in get_args(get_args(Move)[0])}


def test_a_row_leads_only_to_the_phases_it_names(monkeypatch: pytest.MonkeyPatch) -> None:
    key = (Looking, Observed)
    monkeypatch.setitem(ROWS, key, replace(ROWS[key], to=(Looking,)))
    with pytest.raises(ImpossibleEvent, match="led from Looking to planning, which has no row"):
        Drill().to_planning()


def test_every_kind_of_command_is_issued_somewhere() -> None:
    issued = {command.kind for drill in everywhere().values() for command in drill.commands}
    assert issued == {kind.kind for kind in get_args(get_args(Command)[0])}


# --- late, twice, unknown, impossible


def test_an_unexpected_answer_is_only_counted() -> None:
    drill = Drill().to_planning()
    before = drill.run
    drill.tell(Observed(answers=99, seen=ref("f9")), 0.0)
    assert drill.run == replace(before, seq=before.seq + 1, counts=replace(before.counts, late=1))


def test_the_same_answer_twice_counts_once() -> None:
    drill = Drill().to_acting(a_step("one"), a_step("two"))
    answer = Acted(answers=drill.run.pending[0].command.id, seen=ref("f1"))
    drill.tell(answer).tell(answer)
    assert drill.run.counts.completed == 1
    assert drill.run.counts.late == 1


def test_a_late_act_that_was_sent_is_remembered_as_done() -> None:
    drill = Drill().to_planning()
    drill.tell(Acted(answers=99, status="ok", identity="i-x"))
    assert drill.run.finished_irreversible == ("i-x",)
    drill.tell(Acted(answers=98, status="no_effect", dispatched=False, identity="i-y"))
    assert drill.run.finished_irreversible == ("i-x",)


def test_a_late_act_after_the_end_is_remembered_too() -> None:
    drill = Drill().to_planning().tell(CancelAsked()).finishes()
    drill.tell(Acted(answers=99, status="unknown", identity="i-x"))
    assert drill.run.finished_irreversible == ("i-x",)


def test_a_late_plan_is_not_adopted() -> None:
    drill = Drill().to_planning().tell(Planned(answers=77, steps=(ORDER,)))
    assert drill.run.segment is None


def test_an_answer_of_the_wrong_kind_is_an_internal_error() -> None:
    drill = Drill().to_planning()
    with pytest.raises(ImpossibleEvent, match="timer_fired cannot be answered to a run that is planning"):
        drill.tell(TimerFired(answers=drill.run.pending[0].command.id))


def test_an_internal_error_ends_the_run() -> None:
    run, commands = abort(Drill().to_planning().run, "ImpossibleEvent: what?")
    assert run.phase == Ended(reason="internal_error", detail="ImpossibleEvent: what?")
    assert [command.kind for command in commands] == ["finish"]
    assert [issued.command.kind for issued in run.pending] == ["finish"]
    assert run.budget.reserved == run.budget.reserved.minus(run.budget.reserved)


# --- time


def test_time_never_goes_back() -> None:
    drill = Drill().starts().opens()
    now = drill.run.now
    drill.tell(Guided(text="x"), -500.0)
    assert drill.run.now == now


def test_decide_does_not_touch_its_arguments() -> None:
    drill = Drill().to_acting(a_step("one"), REPLAN_STEP)
    run, event = drill.run, Acted(answers=drill.run.pending[0].command.id, seen=ref("f2"), at=drill.now + 1)
    copy = replace(run)
    assert decide(run, event) == decide(run, event)
    assert run == copy


# --- objections: what the sender of a control event is told


def test_a_decision_needs_a_question() -> None:
    assert (
        why_no_effect(Drill().to_planning().run, ApprovalDecided(question=1, verdict="approved"))
        == "no question is open"
    )


def test_a_decision_has_to_answer_the_question_that_is_open() -> None:
    drill = Drill().to_acting(ORDER)
    number = drill.run.next_id - 2
    fitting = ApprovalDecided(question=number, verdict="approved", shown=("c-order",))
    assert why_no_effect(drill.run, fitting) == ""
    for shown in ((), ("c-pay",), ("c-order", "c-order")):
        assert "what was shown" in why_no_effect(drill.run, replace(fitting, shown=shown))
    assert "is not open" in why_no_effect(drill.run, ApprovalDecided(question=number + 9, verdict="approved"))
    assert "takes approved, changed, rejected, take_over" in why_no_effect(
        drill.run, ApprovalDecided(question=number, verdict="happened")
    )


def test_a_run_starts_once() -> None:
    assert why_no_effect(Drill().run, Started()) == ""
    assert why_no_effect(Drill().starts().run, Started()) == "the run has started already"
    assert isinstance(Drill().phase, New)
    again = Drill().starts().opens().tell(Started())
    assert isinstance(again.phase, Looking)
    assert again.run.counts.late == 1
