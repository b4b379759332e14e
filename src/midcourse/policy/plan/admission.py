"""Admission of plans: refuses a plan that repeats a finished step, or a failed step although nothing has changed."""

from midcourse.domain.failure import Attempt
from midcourse.domain.plan import PlannedStep, Segment, Walked
from midcourse.domain.replace import replace
from midcourse.domain.run import Run
from midcourse.policy.failure.classification import OUT_OF_SIGHT, classify, may_pass
from midcourse.policy.failure.recovery import cool_down
from midcourse.policy.identity import plan_digest

MOST_ROUNDS = 2
"""How often the same plan may be walked from the same screen to its end. Once more, and it goes round in a circle."""

MOST_WALKED = 50
"""How many plans a run remembers."""


INTERRUPTED = ("expectation_unmet", "signed_out")
"""Something else appeared in place of what was expected, such as a pop-up or a sign-in."""


def why_refused(run: Run, steps: tuple[PlannedStep, ...]) -> str:
    """The reason to refuse a plan before any of it runs, or nothing.

    A step that failed is looked at only as far as the screen is known: behind a step that may change it, the same try
    may be sensible, and `repeats_failure` is asked again when it comes up.
    """
    for step in steps:
        if is_finished(run, step):
            return f"step {step.index + 1} ({step.skill}) is finished already and must not be done again"
    for step in steps:
        if repeats_failure(run, step) and not seconds_to_wait(run, step):
            return f"step {step.index + 1} ({step.skill}) failed before, and nothing has changed since"
        if step.effect != "read":
            break
    return ""


def without_finished_end(run: Run, steps: tuple[PlannedStep, ...], *, final: bool) -> tuple[PlannedStep, ...]:
    """What is left to do of a final plan whose last steps are finished; the plan itself if that cannot be said.

    After a crash a planner may well propose again what it had proposed. Steps before the finished ones are done again only
    if that does no harm. With a `done_when` nothing is left out: whether the task is done is then not the plan's to say.
    """
    left = steps
    while left and is_finished(run, left[-1]):
        left = left[:-1]
    harmless = all(step.effect in ("read", "set_state") for step in left)
    return left if final and harmless and not run.has_done_when else steps


def goes_in_a_circle(run: Run, steps: tuple[PlannedStep, ...]) -> bool:
    """Whether the very same plan went well from this screen twice and led back to it.

    Waiting is not a circle, and neither is scrolling: the same screen then shows another part of itself.
    """
    if not run.limits.replan_admission or all(step.effect == "read" for step in steps):
        return False
    screen = f"{run.seen.fingerprint}{run.seen.view}" if run.seen else ""
    return _walked(run, plan_digest(screen, steps)).times >= MOST_ROUNDS


def with_adopted(run: Run, segment: Segment) -> tuple[Walked, ...]:
    """What the run remembers once it takes this plan up.

    A new plan is progress, even if it fails: a pop-up that comes back after it may be closed again.
    """
    plan = plan_digest(f"{segment.made_under}{segment.view}", segment.steps)
    if any(walked.plan == plan for walked in run.walked):
        return run.walked
    return (*with_progress(run), Walked(plan=plan))[-MOST_WALKED:]


def with_progress(run: Run) -> tuple[Walked, ...]:
    """What the run remembers once there is something new, such as an effect that can happen only once."""
    return tuple(replace(walked, times=min(walked.times, 1)) for walked in run.walked)


def with_walked(run: Run, segment: Segment) -> tuple[Walked, ...]:
    """What the run remembers once it has got to the end of this plan."""
    before = _walked(run, plan_digest(f"{segment.made_under}{segment.view}", segment.steps))
    others = tuple(walked for walked in run.walked if walked is not before)
    return (*others, replace(before, times=before.times + 1))[-MOST_WALKED:]


def _walked(run: Run, plan: str) -> Walked:
    return next((walked for walked in run.walked if walked.plan == plan), Walked(plan=plan))


def is_finished(run: Run, step: PlannedStep) -> bool:
    """Whether this irreversible step happened, or may have."""
    return bool(step.identity) and step.identity in run.finished_irreversible


def repeats_failure(run: Run, step: PlannedStep, *, retry: bool = False) -> bool:
    """Whether the same call failed under the present screen, and neither waiting nor seeing better excuses it.

    For a retry recovery has counted and waited already; but the screen may have become one that it failed on for good.
    """
    tried = _tried(run, step)
    if retry:
        return any(not _passing(attempt) and attempt.reason not in OUT_OF_SIGHT for attempt in tried)
    return bool(tried) and not (_may_be_tried_again(run, tried) and _cooled_down_at(run, tried) <= run.now)


def seconds_to_wait(run: Run, step: PlannedStep) -> float:
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
    """All of them were transient or interrupted, and together no more than a step's retries."""
    times = sum(attempt.count for attempt in tried)
    excused = all(_passing(attempt) or _interrupted(run, attempt) for attempt in tried)
    return times <= run.limits.max_step_retries and excused


def _passing(attempt: Attempt) -> bool:
    return may_pass(attempt.reason, classify(attempt.reason)) if attempt.passing is None else attempt.passing


def _interrupted(run: Run, attempt: Attempt) -> bool:
    """What came up in its place is gone: the same may well work now."""
    present = run.seen.fingerprint if run.seen else ""
    return attempt.reason in INTERRUPTED and present == attempt.before != attempt.after


def _cooled_down_at(run: Run, tried: list[Attempt]) -> float:
    last = max(tried, key=lambda attempt: attempt.at)
    if _interrupted(run, last):
        return last.at
    times = sum(attempt.count for attempt in tried)
    return last.at + cool_down(run.limits, last.reason, times - 1)
