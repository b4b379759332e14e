"""Recovery: decide what a failure means, and wait before another try."""

from midcourse.director.turn import Turn, count, ensure_view, issue
from midcourse.domain import commands, events, moves, phases
from midcourse.domain.failure import Failure
from midcourse.domain.replace import replace
from midcourse.domain.run import Run
from midcourse.policy.failure.classification import classify
from midcourse.policy.failure.recovery import Recovery, choose_recovery, retry_delay
from midcourse.policy.spending import seconds_left, seconds_to_deadline


def recover(run: Run, move: moves.Recover) -> Turn:
    step, why = move.step, move.detail
    failure = Failure(
        reason=move.reason, detail=move.detail, found=classify(move.reason, move.detail, run.limits.failures)
    )
    if step is not None:
        why = f"{step.skill} failed: {move.reason}" + (f" — {move.detail}" if move.detail else "")
        tries = run.segment.tries if run.segment else 0
        failure = replace(failure, version=step.version, index=step.index, tries=tries)
    decision = choose_recovery(run, failure, move.step, move.track)
    match decision.answer:
        case "continue":
            assert run.segment is not None, "only a step of a plan can be skipped"
            after = replace(run.segment, cursor=run.segment.cursor + 1, tries=0)
            return replace(count(run, skipped=1), segment=after), moves.Advance()
        case "retry":
            wait = retry_delay(run, failure.reason, failure.tries, failure.found)
            return _retry_step(run), moves.BackOff(seconds=wait, then=moves.Advance())
        case "look_and_retry":
            return _retry_step(run), moves.Look(then=moves.Advance(), settle=run.format >= 4)
        case "detour":
            assert move.step is not None, "only a step of a plan can be out of reach"
            return run, moves.Reach(step=move.step)
        case "replan":
            again = moves.Plan(cause="error", why=why, failure=failure)
            return run, ensure_view(run, again) if move.step else again
        case "ask":
            then = moves.Plan(cause="guided", why=why, failure=failure)
            return run, moves.Ask(
                about="stuck", steps=(), purpose="segment", then=then, detail=f"{why}; {decision.because}"
            )
        case "stop":
            detail = f"{why} ({decision.because})" if decision.because else why
            return run, moves.End(reason=_final_reason(failure, decision), detail=detail)


def _final_reason(failure: Failure, decision: Recovery) -> moves.FinalReason:
    if decision.hopeless:
        return "structural_failure"
    return "empty_plan" if failure.reason == "no_steps" else "replan_exhausted"


def _retry_step(run: Run) -> Run:
    assert run.segment is not None, "only a step of a plan can be retried"
    return replace(run, segment=replace(run.segment, tries=run.segment.tries + 1))


def back_off(run: Run, move: moves.BackOff) -> Turn:
    if move.seconds <= 0:
        return run, move.then
    if move.seconds >= seconds_left(run):
        late = move.seconds >= seconds_to_deadline(run)
        reason = "deadline_exceeded" if late else "budget_exhausted"
        return run, moves.End(reason=reason, detail=f"no time left to wait {move.seconds:g} s")
    return issue(
        run,
        phases.BackingOff(then=move.then),
        lambda number, _time: commands.Wait(id=number, seconds=move.seconds),
        seconds=move.seconds,
    )


def on_waited(run: Run, phase: phases.BackingOff, _event: events.TimerFired) -> Turn:
    return run, phase.then
