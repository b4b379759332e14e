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
        if repeats_failure(run, step) and not too_soon(run, step):
            return f"step {step.index + 1} ({step.skill}) failed before, and nothing has changed since"
        if step.effect != "read":
            break
    return ""


def already_finished(run: Run, step: PlannedStep) -> bool:
    """Whether this irreversible step happened, or may have."""
    return bool(step.identity) and step.identity in run.finished_irreversible


def repeats_failure(run: Run, step: PlannedStep, *, retry: bool = False) -> bool:
    """Whether the same call failed under the present screen, and neither waiting nor seeing better excuses it.

    For a retry recovery has counted and waited already; but the screen may have become one that it failed on for good.
    """
    tried = _tried(run, step)
    if retry:
        return any(kind_of(attempt.reason) != "transient" and attempt.reason not in OUT_OF_SIGHT for attempt in tried)
    return bool(tried) and not (_may_be_tried_again(run, tried) and _cooled_down_at(run, tried) <= run.now)


def too_soon(run: Run, step: PlannedStep) -> float:
    """How many seconds of waiting would excuse this step; 0 if none would, or none are needed."""
    tried = _tried(run, step)
    if not tried or not _may_be_tried_again(run, tried):
        return 0.0
    return max(0.0, _cooled_down_at(run, tried) - run.now)


def _tried(run: Run, step: PlannedStep) -> list[Attempt]:
    """The tries of this call that the present screen reminds of."""
    if not run.limits.replan_admission or run.seen is None:
        return []
    seen = run.seen
    same = [a for a in run.attempts if a.call == step.call and seen.fingerprint in (a.before, a.after)]
    return [a for a in same if seen.stale or a.reason not in OUT_OF_SIGHT]


def _may_be_tried_again(run: Run, tried: list[Attempt]) -> bool:
    """All of them were transient, and together no more than a step's retries."""
    times = sum(attempt.count for attempt in tried)
    return times <= run.limits.max_step_retries and all(kind_of(attempt.reason) == "transient" for attempt in tried)


def _cooled_down_at(run: Run, tried: list[Attempt]) -> float:
    last = max(tried, key=lambda attempt: attempt.at)
    times = sum(attempt.count for attempt in tried)
    return last.at + retry_delay(run.limits, last.reason, times - 1)
