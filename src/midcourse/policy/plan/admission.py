"""Admission of plans: refuses a plan that repeats a finished step, or a failed step although nothing has changed."""

from midcourse.domain.failure import Attempt
from midcourse.domain.outcome import SIGN_INS
from midcourse.domain.plan import PlannedStep, RememberedPlan, Segment
from midcourse.domain.replace import replace
from midcourse.domain.run import Run
from midcourse.policy.failure.classification import OUT_OF_SIGHT, classify, may_pass
from midcourse.policy.failure.recovery import cool_down
from midcourse.policy.identity import plan_digest
from midcourse.policy.spending import can_afford, worst_plan

MOST_ROUNDS = 2
"""The number of times that the same plan may be completed from the same screen. The next time counts as a circle."""

MOST_REMEMBERED = 50
"""The number of plans that a run remembers."""


INTERRUPTED = ("expectation_unmet", "signed_out")
"""Reasons that mean that something else appeared instead, such as a pop-up or a sign-in."""

MISSING_RESULTS = ("missing_dependency",)
"""Reasons that mean that a step lacked a result and was not tried. No screen shows whether it is available now."""


def why_refused(run: Run, steps: tuple[PlannedStep, ...]) -> str:
    """The reason to refuse a plan before any of it runs, or an empty string.

    Failed steps are checked only up to the first step that may change the screen: after it the same try may be sensible,
    and `repeats_failure` is asked again when the step is due.
    """
    for step in steps:
        if is_finished(run, step):
            return f"step {step.index + 1} ({step.skill}) is finished already and must not be done again"
        if is_barred(run, step):
            return f"step {step.index + 1} ({step.skill}) was shown to be impossible and is not tried again"
    for number, step in enumerate(steps):
        if repeats_failure(run, step, after=number) and not seconds_to_wait(run, step):
            return f"step {step.index + 1} ({step.skill}) failed before, and nothing has changed since"
        if step.effect != "read":
            break
    return ""


def drop_finished_end(run: Run, steps: tuple[PlannedStep, ...], *, final: bool) -> tuple[PlannedStep, ...]:
    """The steps of a final plan without finished ones at its end, or all steps if that is not safe.

    After a crash a planner may propose the same plan again. Steps before the finished ones are repeated only if they are
    harmless. With a `done_when` nothing is dropped: then it decides whether the task is done, not the plan.
    """
    left = steps
    while left and is_finished(run, left[-1]):
        left = left[:-1]
    harmless = all(step.effect in ("read", "set_state") for step in left)
    return left if final and harmless and not run.has_done_when else steps


def goes_in_a_circle(run: Run, steps: tuple[PlannedStep, ...]) -> bool:
    """Whether the same plan succeeded on this screen twice and led back to it.

    Waiting is not a circle, and neither is scrolling, which shows another part of the same screen.
    """
    if not run.limits.replan_admission or all(step.effect == "read" for step in steps):
        return False
    screen = f"{run.seen.fingerprint}{run.seen.view}" if run.seen else ""
    return _find_remembered(run, plan_digest(screen, steps)).times >= MOST_ROUNDS


def remember_adopted(run: Run, segment: Segment) -> tuple[RememberedPlan, ...]:
    """The remembered plans after this plan is adopted.

    A new plan is progress, even if it fails: a pop-up that returns after it may be closed again.
    """
    plan = plan_digest(f"{segment.made_under}{segment.view}", segment.steps)
    if any(known.plan == plan for known in run.remembered_plans):
        return run.remembered_plans
    return (*remember_progress(run), RememberedPlan(plan=plan))[-MOST_REMEMBERED:]


def remember_progress(run: Run) -> tuple[RememberedPlan, ...]:
    """The remembered plans after progress, such as an effect that can happen only once."""
    return tuple(replace(known, times=min(known.times, 1)) for known in run.remembered_plans)


def remember_completed(run: Run, segment: Segment) -> tuple[RememberedPlan, ...]:
    """The remembered plans after this plan is completed."""
    before = _find_remembered(run, plan_digest(f"{segment.made_under}{segment.view}", segment.steps))
    others = tuple(known for known in run.remembered_plans if known is not before)
    return (*others, replace(before, times=before.times + 1))[-MOST_REMEMBERED:]


def _find_remembered(run: Run, plan: str) -> RememberedPlan:
    return next((known for known in run.remembered_plans if known.plan == plan), RememberedPlan(plan=plan))


def is_finished(run: Run, step: PlannedStep) -> bool:
    """Whether this irreversible step happened, or may have. Only a sign-in resembles itself: a question decides about it."""
    if any(earlier.identity == step.identity for earlier in step.alike):
        return False
    return bool(step.identity) and step.identity in run.finished_irreversible


def is_barred(run: Run, step: PlannedStep) -> bool:
    """Whether this call failed in a way that no screen and no wait can change."""
    return any(attempt.barred and attempt.call == step.call for attempt in run.attempts)


def repeats_failure(run: Run, step: PlannedStep, *, retry: bool = False, after: int = 0) -> bool:
    """Whether the same call failed on the current screen, and neither waiting nor seeing better excuses it.

    For a retry, recovery has already counted and waited, but the screen may have become one on which it failed permanently.
    `after` is the number of steps before it in the plan: a step that lacked a result may get it from them.
    """
    if is_barred(run, step):
        return True
    tried = [attempt for attempt in _find_failed_tries(run, step) if not _may_have_result_now(run, attempt, after)]
    if retry:
        return any(not _is_passing(attempt) and attempt.reason not in OUT_OF_SIGHT for attempt in tried)
    return bool(tried) and not (_may_be_tried_again(run, tried) and _cooled_down_at(run, tried) <= run.now)


def seconds_to_wait(run: Run, step: PlannedStep) -> float:
    """Seconds of waiting that would excuse this step; 0 if none would, or none are needed."""
    tried = _find_failed_tries(run, step)
    if not tried or not _may_be_tried_again(run, tried):
        return 0.0
    return max(0.0, _cooled_down_at(run, tried) - run.now)


def is_too_early_for_done(run: Run) -> bool:
    """Whether a planner that says 'done' should be asked once more: nothing was done yet, and it can be asked again."""
    nothing_done = not (run.has_done_when or run.counts.executions)
    return nothing_done and can_afford(run, worst_plan(run.limits))


def _find_failed_tries(run: Run, step: PlannedStep) -> list[Attempt]:
    """Failed tries of this call on the current screen."""
    if not run.limits.replan_admission or run.seen is None:
        return []
    seen = run.seen
    same = [a for a in run.attempts if a.call == step.call and seen.fingerprint in (a.before, a.after)]
    return [a for a in same if seen.stale or a.reason not in OUT_OF_SIGHT]


def _may_have_result_now(run: Run, attempt: Attempt, after: int) -> bool:
    """Whether a missing result may be available now, and the step has retries left."""
    if attempt.completed is None or attempt.count > run.limits.max_step_retries:
        return False
    return run.counts.completed + after > attempt.completed


def _may_be_tried_again(run: Run, tried: list[Attempt]) -> bool:
    """Whether all tries were transient, interrupted, or sign-ins, and the step has retries left."""
    times = sum(attempt.count for attempt in tried)
    excused = all(
        _is_passing(attempt) or attempt.reason in SIGN_INS or _is_interruption_gone(run, attempt) for attempt in tried
    )
    return times <= run.limits.max_step_retries and excused


def _is_passing(attempt: Attempt) -> bool:
    return may_pass(attempt.reason, classify(attempt.reason)) if attempt.passing is None else attempt.passing


def _is_interruption_gone(run: Run, attempt: Attempt) -> bool:
    """Whether the interruption is gone, so that the same step may work now."""
    present = run.seen.fingerprint if run.seen else ""
    return attempt.reason in INTERRUPTED and present == attempt.before != attempt.after


def _cooled_down_at(run: Run, tried: list[Attempt]) -> float:
    last = max(tried, key=lambda attempt: attempt.at)
    if _is_interruption_gone(run, last):
        return last.at
    times = sum(attempt.count for attempt in tried)
    return last.at + cool_down(run.limits, last.reason, times - 1)
