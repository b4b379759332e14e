"""May this plan run? Not if it does again what is finished, or tries again what failed, with nothing changed."""

from midcourse.domain.failure import Attempt
from midcourse.domain.plan import PlannedStep
from midcourse.domain.run import Run
from midcourse.policy.classify import OUT_OF_SIGHT, kind_of
from midcourse.policy.recovery import retry_delay


def why_refused(run: Run, steps: tuple[PlannedStep, ...]) -> str:
    """The reason to refuse a plan before any of it runs, or nothing.

    A step that failed is looked at only as far as the screen is known: behind a step that may change it, the same try
    may be sensible, and `repeats_failure` is asked again when it comes up.
    """
    for step in steps:
        if already_finished(run, step):
            return f"step {step.index + 1} ({step.skill}) is finished already and must not be done again"
    for step in steps:
        if repeats_failure(run, step):
            return f"step {step.index + 1} ({step.skill}) failed before, and nothing has changed since"
        if step.effect != "read":
            break
    return ""


def already_finished(run: Run, step: PlannedStep) -> bool:
    """Whether this irreversible step happened, or may have."""
    return bool(step.identity) and step.identity in run.finished_irreversible


def repeats_failure(run: Run, step: PlannedStep) -> bool:
    """Whether the same call failed under the present screen, and neither waiting nor seeing better excuses it."""
    if not run.limits.replan_admission or run.seen is None:
        return False
    seen = run.seen
    return any(
        attempt.call == step.call
        and seen.fingerprint in (attempt.before, attempt.after)
        and not (_excused(run, attempt) or (attempt.reason in OUT_OF_SIGHT and not seen.stale))
        for attempt in run.attempts
    )


def _excused(run: Run, attempt: Attempt) -> bool:
    """It was transient, its cool-down has passed, and the step was not retried too often."""
    if kind_of(attempt.reason) != "transient" or attempt.count > run.limits.max_step_retries:
        return False
    return run.now >= attempt.at + retry_delay(run.limits, attempt.reason, attempt.count - 1)
