"""Control events (pause, resume, cancel, guidance), which are applied between two moves and never raise; and the end of a run."""

from midcourse.director.outage import ask_later
from midcourse.director.turn import (
    Rest,
    Turn,
    add_guidance,
    check_deferred,
    count,
    ensure_view,
    find_current_view,
    forget_session,
    issue,
    lose_world,
    send,
    update_seen,
    withdraw,
)
from midcourse.domain import commands, events, moves, phases
from midcourse.domain.budget import FREE, Cost
from midcourse.domain.replace import replace
from midcourse.domain.run import Run
from midcourse.policy.spending import can_afford, seconds_to_deadline, worst_look, worst_reading

# --- control events


def on_pause_asked(run: Run, phase: phases.Phase, _event: events.PauseAsked) -> Turn:
    return replace(run, requested="pause" if run.requested == "go" else run.requested), Rest(phase)


def on_cancel_asked(run: Run, phase: phases.Phase, _event: events.CancelAsked) -> Turn:
    run = replace(run, requested="cancel")
    if isinstance(phase, phases.Acting | phases.Verifying):
        return run, Rest(phase)  # an effect may be under way, so its answer is awaited first
    return run, moves.End(reason="cancelled", detail="cancelled on request")


def on_resume_asked(run: Run, phase: phases.Paused, _event: events.ResumeAsked) -> Turn:
    run = replace(withdraw(run), requested="go", look_first=True, outage=None)
    return run, phase.then


def on_pause_withdrawn(run: Run, phase: phases.Phase, _event: events.ResumeAsked) -> Turn:
    """Withdraw a request to pause that has not taken effect yet."""
    return replace(run, requested="go" if run.requested == "pause" else run.requested), Rest(phase)


def on_guided(run: Run, phase: phases.Phase, event: events.Guided) -> Turn:
    return add_guidance(run, event.text), Rest(phase)


def on_resumed(run: Run, phase: phases.Phase, event: events.Resumed) -> Turn:
    """Note that a process drives the run again. The world may have changed, so it is observed first."""
    return replace(forget_session(run) if event.world == "reopened" else run, look_first=True, outage=None), Rest(phase)


def stay(run: Run, phase: phases.Phase, _event: events.Event) -> Turn:
    """Go on waiting: the event is only recorded."""
    return run, Rest(phase)


def count_late_event(run: Run, phase: phases.Phase, _event: events.Control) -> Turn:
    return count(run, late=1), Rest(phase)


# --- between two moves


def apply_request(run: Run, move: moves.Move) -> Turn | None:
    """The turn that a request, an overrun or a lost session puts before this move, or None. Reports and ends are not delayed."""
    if isinstance(move, moves.End | moves.Report):
        return None
    if run.overrun != FREE:
        over = run.overrun
        detail = f"a command cost more than was set aside: {over.calls} calls, {over.tokens} tokens"
        return run, moves.End(reason="budget_exhausted", detail=detail)
    if run.requested == "cancel" and not isinstance(move, moves.CheckOutcome):
        return run, moves.End(reason="cancelled", detail="cancelled on request")
    if run.requested == "pause":
        return _pause(run, move)
    free = isinstance(move, moves.Ask) and move.about == "more"  # a look may be what there is no money for
    if run.look_first and not (free or isinstance(move, moves.Look | moves.Open | moves.CheckOutcome | moves.BackOff)):
        return run, moves.Look(then=move)
    if run.reopened and isinstance(
        move,
        moves.Propose | moves.Begin | moves.Advance | moves.Do | moves.Reach | moves.Try | moves.Weigh | moves.Revert,
    ):
        again = moves.Plan(cause="reopened", why="the world was lost and opened again: finished steps may be undone")
        return run, ensure_view(run, again)
    return None


def _pause(run: Run, move: moves.Move) -> Turn:
    run = send(run, commands.Record(id=run.next_id))
    until_deadline = seconds_to_deadline(run)
    if until_deadline != float("inf"):
        run = send(run, commands.Wait(id=run.next_id, seconds=max(0.0, until_deadline)))
    return run, Rest(phases.Paused(then=move))


def on_deadline_while_paused(run: Run, _phase: phases.Paused, _event: events.TimerFired) -> Turn:
    return run, moves.End(reason="deadline_exceeded", detail="the deadline came while the run was paused")


# --- the end

CARRIED_OUT = "every step of the plan was carried out"


def conclude(run: Run, move: moves.Conclude) -> Turn:
    """Check `done_when` and read the task's output. Without either, the run ends as `plan_complete`."""
    if run.deferred is not None:
        return check_deferred(run, concludes=True)
    extract = run.wants_data and bool(run.limits.reads_words) and not move.otherwise
    if not (run.has_done_when or extract):
        return run, moves.End(reason="plan_complete", detail=move.detail or CARRIED_OUT)
    if extract and not can_afford(run, _worst_check_cost(run, extract=True)):
        extract = False  # checking that it is done is more important
        if not run.has_done_when:
            return run, moves.End(reason="plan_complete", detail=move.detail or CARRIED_OUT)
    seen, readings = run.seen, run.done_in_words + extract
    after, nxt = issue(
        run,
        phases.Concluding(detail=move.detail, otherwise=move.otherwise, turn=move.turn),
        lambda number, time: commands.CheckDone(
            id=number,
            timeout=time,
            seen=seen.id if seen else "",
            look=find_current_view(run) is None,
            turn=move.turn,
            extract=extract,
        ),
        seconds=run.limits.look_timeout_seconds + readings * run.limits.plan_timeout_seconds,
        worst=_worst_check_cost(run, extract=extract),
    )
    if move.otherwise and not isinstance(nxt, Rest):
        # no budget is left to check with
        return _finish(run, move.otherwise) if isinstance(move.otherwise, moves.End) else (run, move.otherwise)
    return after, nxt


def _worst_check_cost(run: Run, *, extract: bool) -> Cost:
    worst = FREE if find_current_view(run) else worst_look(run.limits)
    for reads in (run.done_in_words, extract):
        worst = worst.plus(worst_reading(run.limits)) if reads else worst
    return worst


def on_done_checked(run: Run, phase: phases.Concluding, event: events.DoneChecked) -> Turn:
    run = replace(run, data=event.data)
    if event.seen is not None:
        run = update_seen(run, event.seen)
    if event.wait is not None:
        again = moves.Conclude(detail=phase.detail, otherwise=phase.otherwise, turn=phase.turn + 1)
        return ask_later(run, again, "the model that checks whether the task is done", event.detail, event.wait)
    match event.verdict:
        case "met":
            return replace(run, verified=True), moves.End(reason="goal_reached", detail=event.detail)
        case "too_early":
            return run, moves.BackOff(
                seconds=event.seconds, then=moves.Conclude(detail=phase.detail, otherwise=phase.otherwise)
            )
        case "world_lost":  # the probe is asked in the next session: a run that did everything must not end unverified
            again = moves.Conclude(detail=phase.detail, otherwise=phase.otherwise, turn=phase.turn)
            return lose_world(run), moves.Open(then=again)
        case "unmet" | "undecided" if phase.otherwise:
            return run, phase.otherwise
        case "unmet":
            again = moves.Recover(reason="done_when_unmet", detail=f"done_when is not met: {event.detail}")
            return run, again if event.seen else moves.Look(then=again)
        case "undecided":
            unchecked = "whether the task is done was not checked" if run.has_done_when else phase.detail or CARRIED_OUT
            return run, moves.End(reason="plan_complete", detail=event.detail or unchecked)


def end(run: Run, move: moves.End) -> Turn:
    """End the run. At a dead end the goal is checked first: the step that failed may not have been needed.

    A deferred outcome is checked as well: planning may have failed because that step counts as possibly done.
    """
    if run.deferred is not None and move.reason in moves.DEAD_ENDS:
        return check_deferred(run, concludes=True)
    if run.has_done_when and move.reason in moves.DEAD_ENDS and not isinstance(run.phase, phases.Concluding):
        return run, moves.Conclude(otherwise=move)
    return _finish(run, move)


def _finish(run: Run, move: moves.End) -> Turn:
    run = withdraw(run)
    detail = move.detail.strip()[:2000] or f"{move.reason.replace('_', ' ')}, without further detail"
    finish = commands.Finish(
        id=run.next_id,
        reason=move.reason,
        detail=detail,
        verified=run.verified,
        outcome_answers=run.outcome_answers,
        data=run.data,
    )
    return send(run, finish), Rest(phases.Ended(reason=move.reason, detail=detail))


def on_finished(run: Run, phase: phases.Ended, event: events.Finished) -> Turn:
    """Take over what the ledger says about the claim that the task is done (`policy/evidence/claim.py`)."""
    run = replace(run, verified=run.verified or event.verified)
    if not event.contradiction:
        return run, Rest(phase)
    return replace(run, verified=False), Rest(replace(phase, reason="contradicted", detail=event.contradiction))
