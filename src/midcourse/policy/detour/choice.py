"""Chooses the next act of a detour: keep what helped, try something else, step back, or give up. Also finds its goal.

The first question with the answer yes decides:

    the same try for the third time?    cancel: it loops
    three steps back in a row?          cancel: it regresses
    any progress?                       retain
    is there an option left?            explore
    none of these                       revert: a dead end
"""

from dataclasses import dataclass

from midcourse.domain.detour import Cancel, Choice, Detour, Goal, Option, Tried
from midcourse.domain.observation import Observation
from midcourse.domain.plan import REACH, PlannedStep, Step
from midcourse.domain.replace import replace
from midcourse.domain.run import Run
from midcourse.policy.evidence.verification import describe, holds

GOOD_PROGRESS = 0.5
MOST_REPEATS = 3
"""The number of times that the same try from the same state counts as a loop."""
MOST_STEPS_BACK = 3
"""The number of tries in a row, away from the goal and not reverted, that count as a regression."""

OUT_OF_REACH = ("target_not_visible", "out_of_reach")
"""Reasons of failures that a detour may resolve."""


@dataclass(frozen=True, kw_only=True)
class DetourDecision:
    """What to do and why, and for an exploration which option of which try."""

    choice: Choice
    why: str
    option: Option | None = None
    offered_by: str = ""
    cancel: Cancel | None = None


def may_detour(run: Run, step: PlannedStep, reason: str) -> bool:
    """Whether a detour may resolve this failure. There is one detour per step: a second would not find more."""
    return run.has_detours and run.limits.detour_iterations > 0 and reason in OUT_OF_REACH and not step.found


def choose_next(detour: Detour, most: int) -> DetourDecision:
    """Decide after a try that did not reach the goal. `most` is the maximum number of tries."""
    last = detour.path[-1]
    if is_looping(detour):
        return DetourDecision(
            choice="cancel", cancel="looping", why="the same was tried from the same state three times"
        )
    if is_regressing(detour):
        return DetourDecision(choice="cancel", cancel="regressing", why="three tries in a row led away from the goal")
    if len(detour.tries) >= most:
        return DetourDecision(choice="cancel", cancel="exhausted", why=f"{most} tries did not reach the goal")
    if last.progress > GOOD_PROGRESS:
        return DetourDecision(choice="retain", why="good progress")
    if last.progress > 0:
        return DetourDecision(choice="retain", why="some progress")
    if (offer := find_unexplored(detour)) is not None:
        option = offer.options[offer.explored]
        return DetourDecision(
            choice="explore", why=f"no progress; {option.name} is left", option=option, offered_by=offer.label
        )
    return DetourDecision(choice="revert", why="a dead end: no progress, and no option left")


def is_looping(detour: Detour) -> bool:
    """Whether the same try was made `MOST_REPEATS` times, and nothing new since the time before.

    Reverted tries count as well: a planner that repeats itself is stuck. One that reopens the same menu to try another
    entry is not.
    """
    made = [(tried.call, tried.before) for tried in detour.tries]
    times = [place for place, key in enumerate(made) if key == made[-1]]
    if len(times) < MOST_REPEATS:
        return False
    since = range(times[-2] + 1, len(made))
    return all(made[place] in made[:place] for place in since)


def is_regressing(detour: Detour) -> bool:
    """Whether the last tries all led away from the goal. Reverted tries do not count."""
    latest = detour.path[-MOST_STEPS_BACK:]
    return len(latest) == MOST_STEPS_BACK and all(tried.progress < 0 for tried in latest)


def find_unexplored(detour: Detour) -> Tried | None:
    """The latest try on the path that has an option left."""
    return next((tried for tried in reversed(detour.path) if tried.explored < len(tried.options)), None)


def find_dead_end(detour: Detour) -> Tried:
    """The try at which the dead end began: the one with all options used up, or else the last."""
    path = detour.path
    return next((tried for tried in path if tried.label == path[-1].explores), path[-1])


def find_restored(detour: Detour, to: str, fingerprint: str) -> Tried | None:
    """The latest try, up to the one being reverted, that began in this state."""
    path = detour.path
    place = next(index for index, tried in enumerate(path) if tried.label == to)
    return next((tried for tried in reversed(path[: place + 1]) if tried.before == fingerprint), None)


def revert_from(detour: Detour, label: str) -> Detour:
    """The detour with this try and all later ones marked as reverted."""
    place = next(index for index, tried in enumerate(detour.tries) if tried.label == label)
    tries = tuple(
        replace(tried, reverted=True) if index >= place else tried for index, tried in enumerate(detour.tries)
    )
    return replace(detour, tries=tries)


def goal_of(step: Step) -> Goal:
    """The goal of a detour for this step: that its expectation holds or its target is visible.

    The expectation of an irreversible step is left out: only the step itself may fulfil it.
    """
    expect = step.expect if step.effect != "irreversible" else None
    if step.zone == REACH:
        return Goal(says=describe(expect) if expect else "", expect=expect)
    target = step.target if step.target.role or step.target.label else None
    wanted = [f"{target.role} '{target.label}' is visible"] if target else []
    wanted += [describe(expect)] if expect else []
    return Goal(says=", or ".join(wanted), expect=expect, target=target)


def find_arrival(goal: Goal, seen: Observation) -> str:
    """The zone of the target, `__reach__` if the expectation holds, or an empty string.

    A target that is visible twice is not found: it is not known which of the two was meant.
    """
    if goal.expect and holds(goal.expect, seen):
        return REACH
    target = goal.target
    there = [zone.id for zone in seen.zones if target and (zone.role, zone.label) == (target.role, target.label)]
    return there[0] if len(there) == 1 else ""


def is_checkable(goal: Goal) -> bool:
    """Whether the goal can be checked without a model."""
    return goal.target is not None or bool(goal.expect and goal.expect.checks)
