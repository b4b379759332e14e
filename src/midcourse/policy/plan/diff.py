"""Difference between two plans. Steps are the same if they call the same skill on the same target with the same arguments."""

from collections import Counter
from dataclasses import dataclass

from midcourse.domain.plan import REPLAN, PlanVersion, Step


@dataclass(frozen=True, kw_only=True)
class StepChange:
    """The same skill on the same target with different arguments."""

    before: Step
    after: Step


@dataclass(frozen=True, kw_only=True)
class PlanDiff:
    """The steps of two plans, without `__replan__`. A step that is in both is taken from the later plan."""

    kept: tuple[Step, ...]
    done: tuple[Step, ...]
    """Steps that are only in the earlier plan, because they were already carried out."""
    dropped: tuple[Step, ...]
    """Steps that are only in the earlier plan and were never carried out."""
    new: tuple[Step, ...]
    changed: tuple[StepChange, ...] = ()
    """Pairs of a dropped and a new step. Paired steps are not listed as dropped or new."""


def compute_plan_diff(before: PlanVersion, after: PlanVersion, carried_out: int = 0) -> PlanDiff:
    """Compare two plans. `carried_out` is the number of steps of the earlier plan that were carried out."""
    earlier, later = _steps(before), _steps(after)
    common = Counter(step.call for step in earlier) & Counter(step.call for step in later)
    kept, new = _split_shared(later, common)
    _, gone = _split_shared(earlier, common)
    dropped = tuple(step for step in gone if step.index >= carried_out)
    changed = _pair_changed(dropped, new)
    return PlanDiff(
        kept=kept,
        done=tuple(step for step in gone if step.index < carried_out),
        dropped=tuple(step for step in dropped if all(step is not pair.before for pair in changed)),
        new=tuple(step for step in new if all(step is not pair.after for pair in changed)),
        changed=changed,
    )


def _pair_changed(dropped: tuple[Step, ...], new: tuple[Step, ...]) -> tuple[StepChange, ...]:
    """Each new step with the first unpaired dropped step on the same target, in the order of the later plan."""
    free = list(dropped)
    pairs: list[StepChange] = []
    for step in new:
        before = next((earlier for earlier in free if _place(earlier) == _place(step)), None)
        if before is not None:
            free.remove(before)
            pairs.append(StepChange(before=before, after=step))
    return tuple(pairs)


def _place(step: Step) -> tuple[str, str, str]:
    return step.skill, step.target.role, step.target.label


def _steps(plan: PlanVersion) -> tuple[Step, ...]:
    return tuple(step for step in plan.steps if step.zone != REPLAN)


def _split_shared(steps: tuple[Step, ...], shared: Counter[str]) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """The steps that are in both plans, as often as they are in both, and the others, in the plan's order."""
    left = shared.copy()
    both: list[Step] = []
    others: list[Step] = []
    for step in steps:
        if left[step.call] > 0:
            left[step.call] -= 1
            both.append(step)
        else:
            others.append(step)
    return tuple(both), tuple(others)
