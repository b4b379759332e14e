"""Outlines: coarse goals for a whole task (what to explore, not how) and their progress. A suggestion to the planner.

Goals are finished in order: what is finished is a beginning of the outline, and the first goal that is not is the current one.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Outlines: TypeAlias = Literal["off", "on", "auto"]
"""Whether there is to be one: never, from the start, or once a run gets nowhere without."""


@dataclass(frozen=True, kw_only=True)
class CoarseGoal:
    """One goal, in the language of exploring: 'Find the configuration dialog'."""

    says: str
    evidence: str = ""
    """What was on the screen that showed it to be reached. Nothing: it is not finished."""

    @property
    def finished(self) -> bool:
        return bool(self.evidence)


@dataclass(frozen=True, kw_only=True)
class Regression:
    """Goals that had been finished and are no longer: from which current goal back to which, and what showed it."""

    before: int
    after: int
    evidence: str
    seen: str
    """The observation that it was judged from."""


@dataclass(frozen=True, kw_only=True)
class Outline:
    goals: tuple[CoarseGoal, ...] = ()
    """Empty if the outliner could not write one."""
    heard: str = ""
    """Digest of the guidance that it was written with."""
    heeded: int = 0
    """How many pieces of advice by a monitor it was written with."""
    judged: str = ""
    """The last observation that progress was judged from."""
    idle: int = 0
    """Judgements since progress last moved."""
    setbacks: tuple[int, ...] = ()
    """Judgements in a row that saw less than is finished: the goal that each held to be the current one."""
    regressions: tuple[Regression, ...] = ()
    """The last few."""
    regressed: int = 0
    """How many there were."""

    @property
    def finished(self) -> int:
        return sum(goal.finished for goal in self.goals)

    @property
    def current(self) -> int:
        """Number of the goal that is next, from 1; one more than there are goals once all are finished."""
        return self.finished + 1
