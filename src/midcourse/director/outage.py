"""Outages: something that the run needs cannot be reached. The run waits with growing pauses, up to `max_outage_seconds`."""

from typing import assert_never

from midcourse.director.turn import Turn
from midcourse.domain.event import Answer, Finished, PersonAsked, Postponed, Recorded, TimerFired
from midcourse.domain.move import AskPlanner, BackOff, Begin, Conclude, Consult, End, Look, Move, Open, Revert
from midcourse.domain.phase import (
    Acting,
    Advising,
    Concluding,
    Looking,
    Opening,
    Planning,
    Repeatable,
    Trying,
    Undoing,
    Verifying,
    Weighing,
)
from midcourse.domain.replace import replace
from midcourse.domain.run import Outage, Run
from midcourse.policy.failure.recovery import SHORTEST_WAIT, add_jitter, retry_delay

UNRELATED = (TimerFired, PersonAsked, Recorded, Finished)
"""Answers that do not show whether an outage is over."""


def wait_out(run: Run, again: Move, what: str, detail: str, *, no_delay: bool = False) -> Turn:
    """Wait before `again`, or end the run if the outage has lasted too long.

    The last try is made when the limit is reached, so no run ends before that. `no_delay`: another provider can be asked, so the
    first tries need no pause. After `max_step_retries` tries every pause has a minimum length, to avoid a tight loop.
    """
    limits, outage = run.limits, run.outage or Outage(since=run.now)
    left = outage.since + limits.max_outage_seconds - run.now
    if left <= 0:
        return run, End(
            reason="outage", detail=f"{what} could not be reached for {run.now - outage.since:.0f} s: {detail}"
        )
    early = outage.tries < limits.max_step_retries
    wait = 0.0 if no_delay and early else retry_delay(run, "transport", outage.tries)
    wait = wait if early and (wait or no_delay) else max(wait, add_jitter(run, SHORTEST_WAIT))
    wait = min(wait, left)
    run = replace(run, outage=replace(outage, tries=outage.tries + 1))
    return run, BackOff(seconds=wait, then=postpone(again, wait))


def postpone(move: Move, seconds: float) -> Move:
    """The move, with a replan that it leads to due later: waiting does not count against the time for a replan."""
    match move:
        case AskPlanner(due=float(due)):
            return replace(move, due=due + seconds)
        case Open() | Look():
            return replace(move, then=postpone(move.then, seconds))
        case Consult(then=AskPlanner(due=float(due))):
            return replace(move, then=replace(move.then, due=due + seconds))
        case _:
            return move


def is_ended_by(answer: Answer, before: Run, after: Run) -> bool:
    """Whether this answer ends an outage: its handler did not count it as another failed try."""
    return after.outage is not None and after.outage == before.outage and not isinstance(answer, UNRELATED)


def on_postponed(run: Run, phase: Repeatable, event: Postponed) -> Turn:
    """Issue the same command again after a wait, since it was not started; an adviser is asked again or skipped."""
    return wait_out(run, _repeat_command(phase), "the database", event.detail)


def _repeat_command(phase: Repeatable) -> Move:
    match phase:
        case Opening():
            return Open(then=phase.then, failures=phase.failures)
        case Looking():
            return Look(then=phase.then, failures=phase.failures)
        case Planning():
            return replace(phase.asked, turn=phase.asked.turn + 1)
        case Advising():
            return Begin() if phase.drafted else phase.then
        case Acting():
            return phase.doing
        case Verifying():
            return phase.doubt
        case Trying() | Weighing():
            return phase.asked
        case Undoing():
            return Revert()
        case Concluding():
            return Conclude(detail=phase.detail, otherwise=phase.otherwise, turn=phase.turn)
        case _:
            assert_never(phase)
