"""decide(run, event) -> (run, commands). The rules:

1. A phase says what is awaited. TABLE lists every legal pair of phase and event.
2. A handler returns a move (what to do next, as data) or rests in a phase. ENTRIES maps moves to functions, so the modules
   never import each other. A new concern is a new file and its rows here.
3. Late answers come first: an answer to a command that is not pending changes only the records.
4. Control events are legal in every phase and never raise. An impossible answer is a bug and raises.
5. Requests (pause, cancel) are applied between two moves, in one place.
6. No clock, randomness, network or file. Time and ids arrive on events.
"""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar, get_args

from midcourse.director import acting, advice, asking, control, detour, outage, recovery, segment
from midcourse.director.table import Entry, Row, entry, row
from midcourse.director.turn import Rest, Turn, count, finish_identity, settle
from midcourse.domain.command import Command
from midcourse.domain.event import (
    Acted,
    Advised,
    Answer,
    ApprovalDecided,
    CancelAsked,
    ClosenessJudged,
    Control,
    DoneChecked,
    Event,
    Finished,
    Guided,
    Observed,
    PauseAsked,
    PersonAsked,
    Planned,
    Postponed,
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
from midcourse.domain.move import (
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
from midcourse.domain.phase import (
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
    Repeatable,
    Trying,
    Undoing,
    Verifying,
    Weighing,
)
from midcourse.domain.replace import replace
from midcourse.domain.run import Run
from midcourse.errors import ImpossibleEvent
from midcourse.policy.spending import seconds_worked

E = TypeVar("E", bound=Control)

PHASES: tuple[type[Any], ...] = get_args(get_args(Phase)[0])

REPLANNING = (Advising, Planning)
CONTINUING = (Looking, *REPLANNING, Acting, Asking, BackingOff, Concluding, Verifying)
"""Phases that a settled step or an ended wait can lead to."""
FAILED = (Looking, *REPLANNING, Asking, BackingOff, Concluding, Verifying)
"""Phases that a failure can lead to."""
DETOURING = (Trying, Weighing, Undoing)
"""Phases of a detour."""


def rows_for_every_phase(event: type[E], handler: Callable[[Run, Phase, E], Turn]) -> tuple[Row[Any, Any], ...]:
    """The same row for every phase, except that an ended run only counts late events."""
    return (
        *(row(phase, event, handler, phase) for phase in PHASES if phase is not Ended),
        row(Ended, event, control.count_late_event, Ended),
    )


TABLE: tuple[Row[Any, Any], ...] = (
    row(New, Started, segment.on_started, Opening),
    row(Opening, WorldOpened, segment.on_world_opened, Opening, Looking, Verifying, BackingOff),
    row(Looking, Observed, segment.on_observed, Opening, *CONTINUING, *DETOURING),
    row(Planning, Planned, segment.on_planned, *CONTINUING),
    row(Advising, Advised, advice.on_advised, *CONTINUING),
    row(Acting, Acted, acting.on_acted, Opening, *CONTINUING, *DETOURING),
    row(Verifying, Verified, acting.on_verified, Opening, *CONTINUING, *DETOURING),
    row(Asking, PersonAsked, asking.on_person_asked, Asking),
    row(Asking, ApprovalDecided, asking.on_approval_decided, Looking, Verifying, Asking),
    row(Asking, TimerFired, asking.on_timer_fired, Asking),
    row(Asking, Verified, asking.on_checked_again, Looking, Asking),
    row(BackingOff, TimerFired, recovery.on_waited, Opening, *CONTINUING, *DETOURING),
    row(Trying, TryPlanned, detour.on_try_planned, Acting, *DETOURING, *FAILED),
    row(Weighing, ClosenessJudged, detour.on_closeness_judged, Acting, *DETOURING, *FAILED),
    row(Undoing, RevertPlanned, detour.on_revert_planned, Acting, *DETOURING, *FAILED),
    row(Concluding, DoneChecked, control.on_done_checked, Opening, *FAILED),
    row(Paused, Recorded, control.on_recorded),
    row(Paused, TimerFired, control.on_deadline_while_paused),
    row(Paused, ResumeAsked, control.on_resume_asked, Opening, Looking, Verifying, BackingOff),
    row(Ended, Finished, control.on_finished),
    *(row(phase, Postponed, outage.on_postponed, BackingOff) for phase in get_args(Repeatable)),
)

ANYWHERE: tuple[Row[Any, Any], ...] = (
    *rows_for_every_phase(Started, control.count_late_event),
    *rows_for_every_phase(Resumed, control.on_resumed),
    *rows_for_every_phase(ApprovalDecided, control.count_late_event),
    *rows_for_every_phase(PauseAsked, control.on_pause_asked),
    *rows_for_every_phase(ResumeAsked, control.on_pause_withdrawn),
    *rows_for_every_phase(CancelAsked, control.on_cancel_asked),
    *rows_for_every_phase(Guided, control.on_guided),
    *rows_for_every_phase(TakenOver, control.on_taken_over),
)
"""Rows for control events in every phase. A row of TABLE for the same pair takes precedence."""

ENTRIES: tuple[Entry[Any], ...] = (
    entry(Open, segment.open_world),
    entry(Look, segment.look),
    entry(Plan, segment.plan),
    entry(AskPlanner, segment.ask_planner),
    entry(Consult, advice.consult),
    entry(Propose, advice.propose),
    entry(Begin, segment.begin),
    entry(Advance, segment.advance),
    entry(Do, acting.do),
    entry(CheckOutcome, acting.check_outcome),
    entry(Ask, asking.ask),
    entry(BackOff, recovery.back_off),
    entry(Recover, recovery.recover),
    entry(Reach, detour.reach),
    entry(Try, detour.plan_try),
    entry(Weigh, detour.weigh),
    entry(Revert, detour.revert),
    entry(Conclude, control.conclude),
    entry(End, control.end),
)

REPORTS = {
    "segment": segment.on_step_reported,
    "try": detour.on_try_reported,
    "revert": detour.on_revert_reported,
    "deferred": segment.on_deferred_reported,
}
"""Handlers for the outcome of a step, by purpose."""

ROWS: dict[tuple[type[Any], type[Any]], Row[Any, Any]] = {(r.phase, r.event): r for r in (*ANYWHERE, *TABLE)}
ENTER = {e.move: e.enter for e in ENTRIES}

MOST_MOVES = 64
"""Moves in one turn; more would mean an endless loop."""


def decide(run: Run, event: Event) -> tuple[Run, tuple[Command, ...]]:
    """The next state and the commands to perform. Raises only `ImpossibleEvent`."""
    first_new = run.next_id
    run = _tick(run, event)
    if isinstance(event, Answer):
        run, issued = settle(run, event)
        if issued is None:
            return _record_late_answer(run, event), ()
    found = ROWS.get((type(run.phase), type(event)))
    if found is None:
        raise ImpossibleEvent(f"{event.kind} cannot be answered to a run that is {run.phase.kind}")
    before = run
    run = _follow(*found.handler(run, run.phase, event))
    if isinstance(event, Answer) and outage.is_ended_by(event, before, run):
        run = replace(run, outage=None)
    if type(run.phase) not in (*found.to, Paused, Ended):
        raise ImpossibleEvent(f"{event.kind} led from {found.phase.__name__} to {run.phase.kind}, which has no row")
    return run, _issued_since(run, first_new)


def abort(run: Run, detail: str) -> tuple[Run, tuple[Command, ...]]:
    """End a run after a bug in this library."""
    first_new = run.next_id
    run = _follow(replace(run, seq=run.seq + 1), End(reason="internal_error", detail=detail))
    return run, _issued_since(run, first_new)


def find_objection(run: Run, event: Control) -> str:
    """Why a control event would have no effect, for its sender; empty if it will be applied."""
    if isinstance(event, ApprovalDecided) and (why := asking.why_withdrawn(run, event.question)):
        return why
    if isinstance(run.phase, Ended):
        return f"the run has ended: {run.phase.reason}"
    if isinstance(event, ApprovalDecided):
        if not isinstance(run.phase, Asking):
            return "no question is open"
        late = "the time to answer is over" if asking.has_expired(run, run.phase, event) else ""
        return asking.find_objection(run, run.phase, event) or late
    if isinstance(event, Started) and not isinstance(run.phase, New):
        return "the run has started already"
    return ""


def find_objection_after(run: Run, earlier: Iterable[Control], event: Control) -> str:
    """Why a control event would have no effect after these earlier ones have been applied; empty if it will be applied."""
    for each in earlier:
        run, _ = decide(run, each)
    return find_objection(run, event)


def _follow(run: Run, nxt: Move | Rest) -> Run:
    for _ in range(MOST_MOVES):
        if isinstance(nxt, Rest):
            return replace(run, phase=nxt.phase)
        run, nxt = control.apply_request(run, nxt) or _enter(run, nxt)
    raise ImpossibleEvent(f"more than {MOST_MOVES} moves in one turn")


def _enter(run: Run, move: Move) -> Turn:
    if isinstance(move, Report):
        return REPORTS[move.purpose](run, move)
    return ENTER[type(move)](run, move)


def _tick(run: Run, event: Event) -> Run:
    """Advance the run's time. Waiting for a person, or without a process, does not count as active time."""
    elapsed = max(0.0, event.at - run.now)
    idle = isinstance(run.phase, New | Paused | Asking | Ended) or isinstance(event, Resumed)
    active = run.budget.active_seconds + (0.0 if idle else seconds_worked(run, run.now + elapsed))
    return replace(run, now=run.now + elapsed, seq=run.seq + 1, budget=replace(run.budget, active_seconds=active))


def _record_late_answer(run: Run, event: Answer) -> Run:
    run = count(run, late=1)
    if isinstance(event, Acted) and event.dispatched:
        return finish_identity(run, event.identity)
    return run


def _issued_since(run: Run, first: int) -> tuple[Command, ...]:
    return tuple(item.command for item in run.pending if item.command.id >= first)
