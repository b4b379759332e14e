"""Is it there yet? What a detour is for, and whether a screen has it."""

from midcourse.domain.detour import Goal
from midcourse.domain.observation import Observation
from midcourse.domain.plan import REACH, Step
from midcourse.policy.verify import describe, holds


def goal_of(step: Step) -> Goal:
    """What the step is for, or to see its target again.

    What an irreversible step is for says nothing here: nobody but the step itself may bring it about.
    """
    expect = step.expect if step.effect != "irreversible" else None
    if step.zone == REACH:
        return Goal(says=describe(expect) if expect else "", expect=expect)
    target = step.target if step.target.role or step.target.label else None
    wanted = [f"{target.role} '{target.label}' is visible"] if target else []
    wanted += [describe(expect)] if expect else []
    return Goal(says=", or ".join(wanted), expect=expect, target=target)


def arrived(goal: Goal, seen: Observation) -> str:
    """The zone where the target is, `__reach__` if what the step was for holds, or nothing.

    A target that is there twice is not found: nobody knows which of the two was meant.
    """
    if goal.expect and holds(goal.expect, seen):
        return REACH
    target = goal.target
    there = [zone.id for zone in seen.zones if target and (zone.role, zone.label) == (target.role, target.label)]
    return there[0] if len(there) == 1 else ""


def is_checkable(goal: Goal) -> bool:
    """Whether it can be told without reading."""
    return goal.target is not None or bool(goal.expect and goal.expect.checks)
