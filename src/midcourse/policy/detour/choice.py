"""Chooses the next act of a detour: keep what helped, try something else, step back, or give up. Also finds its goal.

The order of the questions matters, and each has an answer that ends it:

    the same try for the third time?    cancel: it loops
    three steps back in a row?          cancel: it regresses
    much nearer, or a little?           retain
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
"""The same try from the same state as often as this is a loop."""
MOST_STEPS_BACK = 3
"""As many tries in a row that led away from the goal, none of them taken back, are a regression."""

OUT_OF_REACH = ("target_not_visible", "out_of_reach")
"""Reasons that a detour may be the answer to."""


@dataclass(frozen=True, kw_only=True)
class DetourDecision:
    """What to do, why, and for an exploration with which option of which try."""

    choice: Choice
    why: str
    option: Option | None = None
    offered_by: str = ""
    cancel: Cancel | None = None


def may_detour(run: Run, step: PlannedStep, reason: str) -> bool:
    """Whether this failure is one that a detour can answer. One for each step: what is out of reach after it stays so."""
    return run.has_detours and run.limits.detour_iterations > 0 and reason in OUT_OF_REACH and not step.found


def choose_next(detour: Detour, most: int) -> DetourDecision:
    """Decided after a try that was weighed and did not reach the goal. `most` is how many there may be."""
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
    """The same try as often as that, and nothing new since the time before.

    Tries that were taken back count as well: a planner that repeats itself is stuck. One that opens the same menu once more
    to try another entry is not.
    """
    made = [(one.call, one.before) for one in detour.tries]
    times = [place for place, one in enumerate(made) if one == made[-1]]
    if len(times) < MOST_REPEATS:
        return False
    since = range(times[-2] + 1, len(made))
    return all(made[place] in made[:place] for place in since)


def is_regressing(detour: Detour) -> bool:
    """Tries that were taken back do not count: they left nothing further away."""
    latest = detour.path[-MOST_STEPS_BACK:]
    return len(latest) == MOST_STEPS_BACK and all(one.progress < 0 for one in latest)


def find_unexplored(detour: Detour) -> Tried | None:
    """The nearest try up the path that has an option left."""
    return next((one for one in reversed(detour.path) if one.explored < len(one.options)), None)


def find_dead_end(detour: Detour) -> Tried:
    """The try at which a dead end began: the one whose options are used up, or else the last."""
    path = detour.path
    return next((one for one in path if one.label == path[-1].explores), path[-1])


def find_restored(detour: Detour, to: str, fingerprint: str) -> Tried | None:
    """The try whose beginning this state is: the one to be taken back, or one before it. The nearest counts."""
    path = detour.path
    place = next(index for index, one in enumerate(path) if one.label == to)
    return next((one for one in reversed(path[: place + 1]) if one.before == fingerprint), None)


def revert_from(detour: Detour, label: str) -> Detour:
    """This try and all that came after it are taken back."""
    place = next(index for index, one in enumerate(detour.tries) if one.label == label)
    tries = tuple(replace(one, reverted=True) if index >= place else one for index, one in enumerate(detour.tries))
    return replace(detour, tries=tries)


def goal_of(step: Step) -> Goal:
    """What the step is for, or to see its target again.

    What an irreversible step expects is left out: only the step itself may bring it about.
    """
    expect = step.expect if step.effect != "irreversible" else None
    if step.zone == REACH:
        return Goal(says=describe(expect) if expect else "", expect=expect)
    target = step.target if step.target.role or step.target.label else None
    wanted = [f"{target.role} '{target.label}' is visible"] if target else []
    wanted += [describe(expect)] if expect else []
    return Goal(says=", or ".join(wanted), expect=expect, target=target)


def find_arrival(goal: Goal, seen: Observation) -> str:
    """The zone where the target is, `__reach__` if what the step was for holds, or nothing.

    A target that is there twice is not found: it is not known which of the two was meant.
    """
    if goal.expect and holds(goal.expect, seen):
        return REACH
    target = goal.target
    there = [zone.id for zone in seen.zones if target and (zone.role, zone.label) == (target.role, target.label)]
    return there[0] if len(there) == 1 else ""


def is_checkable(goal: Goal) -> bool:
    """Whether it can be told without reading."""
    return goal.target is not None or bool(goal.expect and goal.expect.checks)
