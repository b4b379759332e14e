"""Outlines: coarse goals for a whole task (what to explore, not how) and their progress. A suggestion to the planner.

Goals are finished in order: the current goal is the first unfinished one.
"""

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from midcourse.domain.fields import stored_as

Outlines: TypeAlias = Literal["off", "on", "auto"]
"""When an outline is used: never, from the start, or once a run is stuck without one."""


@dataclass(frozen=True, kw_only=True)
class CoarseGoal:
    """One goal in terms of exploring: 'Find the configuration dialog'."""

    says: str
    evidence: str = ""
    """What on the screen showed that it is reached. Empty: it is not finished."""

    @property
    def finished(self) -> bool:
        return bool(self.evidence)


@dataclass(frozen=True, kw_only=True)
class Regression:
    """A return to an earlier goal: the current goal before and after, and the evidence."""

    before: int
    after: int
    evidence: str
    seen: str
    """The observation that it was judged from."""


@dataclass(frozen=True, kw_only=True)
class Outline:
    """The outline of a run, and its progress."""

    goals: tuple[CoarseGoal, ...] = ()
    """Empty if the outliner could not write one."""
    heard: str = ""
    """Digest of the guidance that it was written with."""
    advice_seen: Annotated[int, stored_as("heeded")] = 0
    """The number of pieces of a monitor's advice that it was written with."""
    judged: str = ""
    """The last screen that progress was judged from; in runs before format 4, the last observation."""
    idle: int = 0
    """Judgements since progress last moved."""
    setbacks: tuple[int, ...] = ()
    """Consecutive judgements that saw less progress than recorded: the current goal according to each."""
    regressions: tuple[Regression, ...] = ()
    """The most recent regressions."""
    regressed: int = 0
    """The number of regressions."""

    @property
    def finished(self) -> int:
        return sum(goal.finished for goal in self.goals)

    @property
    def current(self) -> int:
        """Number of the next goal, from 1; one more than the number of goals once all are finished."""
        return self.finished + 1
