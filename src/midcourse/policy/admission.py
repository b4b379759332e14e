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
    same = [a for a in run.attempts if a.call == step.call and seen.fingerprint in (a.before, a.after)]
    tried = [a for a in same if seen.stale or a.reason not in OUT_OF_SIGHT]
    return bool(tried) and not _excused(run, tried)


def _excused(run: Run, tried: list[Attempt]) -> bool:
    """All of them were transient, together no more than a step's retries, and the last one is long enough ago."""
    times = sum(attempt.count for attempt in tried)
    if times > run.limits.max_step_retries or any(kind_of(attempt.reason) != "transient" for attempt in tried):
        return False
    last = max(tried, key=lambda attempt: attempt.at)
    return run.now >= last.at + retry_delay(run.limits, last.reason, times - 1)
