"""decide(run, event) -> (run, commands). The rules:

1. A phase says what is awaited. TABLE lists the legal pairs of phase and event, ANYWHERE those of control events in every phase.
2. A handler returns a move (what to do next, as data) or rests in a phase. ENTRIES maps moves to functions; REPORTS does so for
   a `Report`, by its purpose. So a handler names what comes next, and need not import it. A new concern is a new file and its
   rows here.
3. Late answers come first: an answer to a command that is not pending changes only the records.
4. Control events are legal in every phase and never raise. An impossible answer is a bug and raises.
5. A pause is applied between two moves. So is a cancellation that had to wait for an act or its check; any other ends the run immediately.
6. No clock, randomness, network or file. Time and ids arrive on events.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, get_args

from midcourse.director import acting, advice, asking, control, detour, outage, recovery, segment
from midcourse.director.turn import Rest, Turn, count, finish_identity, settle
from midcourse.domain import commands, events, moves, phases
from midcourse.domain.replace import replace
from midcourse.domain.run import Run
from midcourse.errors import ImpossibleEvent
from midcourse.policy.approval.objection import find_objection_now
from midcourse.policy.spending import seconds_worked

P = TypeVar("P")
E = TypeVar("E")
M = TypeVar("M")
C = TypeVar("C", bound=events.Control)


@dataclass(frozen=True)
class Row(Generic[P, E]):
    """One legal pair of phase and event. `to` are the phases it can lead to, except `Paused` and `Ended`; they are checked."""

    phase: type[P]
    event: type[E]
    handler: Callable[[Run, P, E], Turn]
    to: tuple[type[object], ...]


@dataclass(frozen=True)
class Entry(Generic[M]):
    """The function that carries out a move."""

    move: type[M]
    enter: Callable[[Run, M], Turn]


# Functions, because type checkers then reject a handler for another phase, event or move.


def row(phase: type[P], event: type[E], handler: Callable[[Run, P, E], Turn], *to: type[object]) -> Row[Any, Any]:
    return Row(phase, event, handler, to)


def entry(move: type[M], enter: Callable[[Run, M], Turn]) -> Entry[Any]:
    return Entry(move, enter)


PHASES: tuple[type[Any], ...] = get_args(get_args(phases.Phase)[0])

AFTER_FAILURE = (
    phases.Looking,
    phases.Advising,
    phases.Planning,
    phases.Asking,
    phases.BackingOff,
    phases.Concluding,
    phases.Verifying,
)
"""Phases that a failure can lead to."""
AFTER_STEP = (*AFTER_FAILURE, phases.Acting)
"""Phases that a settled step or an ended wait can lead to."""
AFTER_OPENING = (phases.Opening, phases.Looking, phases.Verifying, phases.BackingOff)
"""Phases that an opened world, or a resumed run, can lead to."""
DETOUR_PHASES = (phases.Trying, phases.Weighing, phases.Undoing)
"""Phases of a detour."""


def rows_for_every_phase(event: type[C], handler: Callable[[Run, phases.Phase, C], Turn]) -> tuple[Row[Any, Any], ...]:
    """The same row for every phase, except that an ended run only counts late events."""
    return (
        *(row(phase, event, handler, phase) for phase in PHASES if phase is not phases.Ended),
        row(phases.Ended, event, control.count_late_event, phases.Ended),
    )


TABLE: tuple[Row[Any, Any], ...] = (
    row(phases.New, events.Started, segment.on_started, phases.Opening),
    row(phases.Opening, events.WorldOpened, segment.on_world_opened, *AFTER_OPENING),
    row(phases.Looking, events.Observed, segment.on_observed, phases.Opening, *AFTER_STEP, *DETOUR_PHASES),
    row(phases.Planning, events.Planned, segment.on_planned, *AFTER_STEP),
    row(phases.Advising, events.Advised, advice.on_advised, *AFTER_STEP),
    row(phases.Acting, events.Acted, acting.on_acted, phases.Opening, *AFTER_STEP, *DETOUR_PHASES),
    row(phases.Verifying, events.Verified, acting.on_verified, phases.Opening, *AFTER_STEP, *DETOUR_PHASES),
    row(phases.Asking, events.PersonAsked, control.stay, phases.Asking),
    row(
        phases.Asking,
        events.ApprovalDecided,
        asking.on_approval_decided,
        phases.Looking,
        phases.Verifying,
        phases.Asking,
    ),
    row(phases.Asking, events.TimerFired, asking.on_timer_fired, phases.Asking),
    row(phases.Asking, events.Verified, asking.on_checked_again, phases.Looking, phases.Asking),
    row(phases.BackingOff, events.TimerFired, recovery.on_waited, phases.Opening, *AFTER_STEP, *DETOUR_PHASES),
    row(phases.Trying, events.TryPlanned, detour.on_try_planned, phases.Acting, *DETOUR_PHASES, *AFTER_FAILURE),
    row(
        phases.Weighing,
        events.ClosenessJudged,
        detour.on_closeness_judged,
        phases.Acting,
        *DETOUR_PHASES,
        *AFTER_FAILURE,
    ),
    row(phases.Undoing, events.RevertPlanned, detour.on_revert_planned, phases.Acting, *DETOUR_PHASES, *AFTER_FAILURE),
    row(phases.Concluding, events.DoneChecked, control.on_done_checked, phases.Opening, *AFTER_FAILURE),
    row(phases.Paused, events.Recorded, control.stay),
    row(phases.Paused, events.TimerFired, control.on_deadline_while_paused),
    row(phases.Paused, events.ResumeAsked, control.on_resume_asked, *AFTER_OPENING),
    row(phases.Ended, events.Finished, control.on_finished),
    *(row(phase, events.Postponed, outage.on_postponed, phases.BackingOff) for phase in get_args(phases.Repeatable)),
)

ANYWHERE: tuple[Row[Any, Any], ...] = (
    *rows_for_every_phase(events.Started, control.count_late_event),
    *rows_for_every_phase(events.Resumed, control.on_resumed),
    *rows_for_every_phase(events.ApprovalDecided, control.count_late_event),
    *rows_for_every_phase(events.PauseAsked, control.on_pause_asked),
    *rows_for_every_phase(events.ResumeAsked, control.on_pause_withdrawn),
    *rows_for_every_phase(events.CancelAsked, control.on_cancel_asked),
    *rows_for_every_phase(events.Guided, control.on_guided),
    *rows_for_every_phase(events.TakenOver, control.stay),
)
"""Rows for control events in every phase. A row of TABLE for the same pair takes precedence."""

ENTRIES: tuple[Entry[Any], ...] = (
    entry(moves.Open, segment.open_world),
    entry(moves.Look, segment.look),
    entry(moves.Plan, segment.plan),
    entry(moves.AskPlanner, segment.ask_planner),
    entry(moves.Consult, advice.consult),
    entry(moves.Propose, advice.propose),
    entry(moves.Begin, segment.begin),
    entry(moves.Advance, segment.advance),
    entry(moves.Do, acting.do),
    entry(moves.CheckOutcome, acting.check_outcome),
    entry(moves.Ask, asking.ask),
    entry(moves.BackOff, recovery.back_off),
    entry(moves.Recover, recovery.recover),
    entry(moves.Reach, detour.reach),
    entry(moves.Try, detour.plan_try),
    entry(moves.Weigh, detour.weigh),
    entry(moves.Revert, detour.revert),
    entry(moves.Conclude, control.conclude),
    entry(moves.End, control.end),
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


def decide(run: Run, event: events.Event) -> tuple[Run, tuple[commands.Command, ...]]:
    """The next state and the commands to perform. Raises only `ImpossibleEvent`."""
    first_new = run.next_id
    run = _tick(run, event)
    # First, because the phase may have changed since the command was given up: the answer fits no row then.
    if isinstance(event, events.Answer):
        run, issued = settle(run, event)
        if issued is None:
            return _record_late_answer(run, event), ()
    found = ROWS.get((type(run.phase), type(event)))
    if found is None:
        raise ImpossibleEvent(f"{event.kind} cannot be answered to a run that is {run.phase.kind}")
    before = run
    run = _follow(*found.handler(run, run.phase, event))
    # Only now: the handler still had to see the outage to count another failed try.
    if isinstance(event, events.Answer) and outage.is_ended_by(event, before, run):
        run = replace(run, outage=None)
    if type(run.phase) not in (*found.to, phases.Paused, phases.Ended):
        raise ImpossibleEvent(f"{event.kind} led from {found.phase.__name__} to {run.phase.kind}, which has no row")
    return run, _issued_since(run, first_new)


def take_turn(run: Run, event: events.Event) -> tuple[Run, tuple[commands.Command, ...]]:
    """Decide as a driver does: an impossible event ends the run instead of its process, so that its result is kept."""
    try:
        return decide(run, event)
    except ImpossibleEvent as bug:
        return abort(run, f"{type(bug).__name__}: {bug}")


def abort(run: Run, detail: str) -> tuple[Run, tuple[commands.Command, ...]]:
    """End a run after a bug in this library."""
    first_new = run.next_id
    run = _follow(replace(run, seq=run.seq + 1), moves.End(reason="internal_error", detail=detail))
    return run, _issued_since(run, first_new)


def _follow(run: Run, nxt: moves.Move | Rest) -> Run:
    for _ in range(MOST_MOVES):
        if isinstance(nxt, Rest):
            return replace(run, phase=nxt.phase)
        run, nxt = control.apply_request(run, nxt) or _enter(run, nxt)
    raise ImpossibleEvent(f"more than {MOST_MOVES} moves in one turn")


def _enter(run: Run, move: moves.Move) -> Turn:
    if isinstance(move, moves.Report):
        return REPORTS[move.purpose](run, move)
    return ENTER[type(move)](run, move)


def _tick(run: Run, event: events.Event) -> Run:
    """Advance the run's time. Waiting for a person, or without a process, does not count as active time."""
    elapsed = max(0.0, event.at - run.now)
    idle = isinstance(run.phase, phases.New | phases.Paused | phases.Asking | phases.Ended) or isinstance(
        event, events.Resumed
    )
    active = run.budget.active_seconds + (0.0 if idle else seconds_worked(run, run.now + elapsed))
    return replace(run, now=run.now + elapsed, seq=run.seq + 1, budget=replace(run.budget, active_seconds=active))


def _record_late_answer(run: Run, event: events.Answer) -> Run:
    run = count(run, late=1)
    # An act that was given up may have happened all the same: no plan may repeat it.
    if isinstance(event, events.Acted) and event.dispatched:
        return finish_identity(run, event.identity)
    return run


def _issued_since(run: Run, first: int) -> tuple[commands.Command, ...]:
    return tuple(item.command for item in run.pending if item.command.id >= first)


# --- for senders


def why_no_effect(run: Run, event: events.Control) -> str:
    """Why a control event would have no effect, for its sender; empty if it will be applied."""
    if isinstance(event, events.ApprovalDecided):
        objection = find_objection_now(run, event)
        return objection.text if objection else ""
    if isinstance(run.phase, phases.Ended):
        return f"the run has ended: {run.phase.reason}"
    if isinstance(event, events.Started) and not isinstance(run.phase, phases.New):
        return "the run has started already"
    return ""


def why_no_effect_after(run: Run, earlier: Iterable[events.Control], event: events.Control) -> str:
    """Why a control event would have no effect after these earlier ones have been applied; empty if it will be applied."""
    for each in earlier:
        run, _ = decide(run, each)
    return why_no_effect(run, event)
