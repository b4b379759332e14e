"""Outages: something that the run needs cannot be reached. The run waits with growing pauses, up to `max_outage_seconds`."""

from midcourse.director.turn import Turn, repeat_command
from midcourse.domain import events, moves, phases
from midcourse.domain.replace import replace
from midcourse.domain.run import Outage, Run
from midcourse.policy.failure.recovery import SHORTEST_WAIT, add_jitter, retry_delay

UNRELATED = (events.TimerFired, events.PersonAsked, events.Recorded, events.Finished)
"""Answers that do not show whether an outage is over."""


def wait_out(run: Run, again: moves.Move, what: str, detail: str, *, no_delay: bool = False) -> Turn:
    """Wait before `again`, or end the run if the outage has lasted too long.

    The last try is made when the limit is reached, so no run ends before that. `no_delay`: another provider can be asked, so the
    first tries need no pause. After `max_step_retries` tries every pause has a minimum length, to avoid a tight loop.
    """
    limits, outage = run.limits, run.outage or Outage(since=run.now)
    left = outage.since + limits.max_outage_seconds - run.now
    if left <= 0:
        return run, moves.End(
            reason="outage", detail=f"{what} could not be reached for {run.now - outage.since:.0f} s: {detail}"
        )
    early = outage.tries < limits.max_step_retries
    wait = 0.0 if no_delay and early else retry_delay(run, "transport", outage.tries)
    wait = wait if early and (wait or no_delay) else max(wait, add_jitter(run, SHORTEST_WAIT))
    wait = min(wait, left)
    run = replace(run, outage=replace(outage, tries=outage.tries + 1))
    return run, moves.BackOff(seconds=wait, then=postpone(again, wait))


def ask_later(
    run: Run, again: moves.Move, who: str, detail: str, wait: float | None, *, has_other: bool = False
) -> Turn:
    """Ask a model again later, after the time that it asks for, if any. Only the run's deadline limits such a wait."""
    if wait is None or wait <= 0:
        return wait_out(run, again, who, detail, no_delay=has_other and wait is not None)
    wait = add_jitter(run, max(SHORTEST_WAIT, wait))
    return run, moves.BackOff(seconds=wait, then=postpone(again, wait))


def postpone(move: moves.Move, seconds: float) -> moves.Move:
    """The move, with a replan that it leads to due later: waiting does not count against the time for a replan."""
    match move:
        case moves.AskPlanner(due=float(due)):
            return replace(move, due=due + seconds)
        case moves.Open() | moves.Look():
            return replace(move, then=postpone(move.then, seconds))
        case moves.Consult(then=moves.AskPlanner(due=float(due))):
            return replace(move, then=replace(move.then, due=due + seconds))
        case _:
            return move


def is_ended_by(answer: events.Answer, before: Run, after: Run) -> bool:
    """Whether this answer ends an outage: its handler did not count it as another failed try."""
    return after.outage is not None and after.outage == before.outage and not isinstance(answer, UNRELATED)


def on_postponed(run: Run, phase: phases.Repeatable, event: events.Postponed) -> Turn:
    """Issue the same command again after a wait, since it was not started; an adviser is asked again or skipped."""
    again = repeat_command(phase)
    again = replace(again, turn=again.turn + 1) if isinstance(again, moves.AskPlanner) else again
    return wait_out(run, again, "the database", event.detail)
