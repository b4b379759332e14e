"""What a failure means, and the wait before another try."""

from midcourse.director.turn import Turn, issue
from midcourse.domain.command import Wait
from midcourse.domain.event import TimerFired
from midcourse.domain.move import Advance, BackOff, End, Look, Plan, Recover
from midcourse.domain.phase import BackingOff
from midcourse.domain.replace import replace
from midcourse.domain.run import Run
from midcourse.policy.recovery import retry_delay, what_now
from midcourse.policy.spending import seconds_left, seconds_to_deadline


def recover(run: Run, move: Recover) -> Turn:
    segment = run.segment
    assert segment is not None, "only a step of a plan can fail"
    why = f"{move.step.skill} failed: {move.reason}" + (f" — {move.detail}" if move.detail else "")
    again = replace(run, segment=replace(segment, tries=segment.tries + 1))
    match what_now(run.limits, move.reason, segment.tries):
        case "retry":
            return again, BackOff(seconds=retry_delay(run.limits, move.reason, segment.tries), then=Advance())
        case "look_and_retry":
            return again, Look(then=Advance())
        case "stop":
            return run, End(reason="structural_failure", detail=why)
        case "replan" if run.seen is None or run.seen.stale:
            return run, Look(then=Plan(cause="error", why=why))
        case "replan":
            return run, Plan(cause="error", why=why)


def back_off(run: Run, move: BackOff) -> Turn:
    if move.seconds <= 0:
        return run, move.then
    if move.seconds >= seconds_left(run):
        late = move.seconds >= seconds_to_deadline(run)
        reason = "deadline_exceeded" if late else "budget_exhausted"
        return run, End(reason=reason, detail=f"no time left to wait {move.seconds:g} s")
    return issue(
        run,
        BackingOff(then=move.then),
        lambda number, _time: Wait(id=number, seconds=move.seconds),
        seconds=move.seconds,
    )


def waited(run: Run, phase: BackingOff, _event: TimerFired) -> Turn:
    return run, phase.then
