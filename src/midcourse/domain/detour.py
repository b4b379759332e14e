"""A detour: a series of tries to reach one step that is out of reach.

Its states are numbered within the step: before the first try of step 8 it is 8.0, then 8.1, 8.2 …
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from midcourse.domain.expectation import Expectation
from midcourse.domain.plan import PlannedStep, Target

REACHED_CLOSENESS = 10.0
"""The closeness of a state in which the goal is reached. 0 is the lowest."""

Choice: TypeAlias = Literal["retain", "explore", "revert", "cancel"]
"""The decision after a try that did not reach the goal."""

Strategy: TypeAlias = Literal["toggle", "restore", "close", "key", "undo", "ask"]
"""A way to revert a try: toggle the switch; restore the text; close what opened; press the opposite key; the skill's own undo;
ask the detour planner."""

Cancel: TypeAlias = Literal["looping", "regressing", "exhausted", "no_way", "unjudged", "unseen", "revert_unverified"]
"""Why a detour was given up."""


@dataclass(frozen=True, kw_only=True)
class Goal:
    """The goal of a detour: that a condition holds, or that the target of a step is visible. Either is sufficient."""

    says: str
    expect: Expectation | None = None
    target: Target | None = None


@dataclass(frozen=True, kw_only=True)
class Option:
    """An alternative that the planner names when it plans a try of a detour, as a hint for later tries."""

    name: str
    says: str = ""


@dataclass(frozen=True, kw_only=True)
class Tried:
    """One iteration: what was done, between which two states, and what was decided about it."""

    label: str
    """The label of the state that it led to."""
    version: int
    """The plan version that holds its step."""
    call: str
    before: str
    """Fingerprint of the screen before the try; `seen` is its observation."""
    seen: str
    after: str = ""
    closeness_before: float = 0.0
    closeness_after: float = 0.0
    options: tuple[Option, ...] = ()
    explored: int = 0
    """The number of options that have been used as hints."""
    explores: str = ""
    """The try that named the option which was the hint for this one."""
    failed: str = ""
    """Why it failed, if it did."""
    choice: Choice | None = None
    reverted: bool = False
    """Whether it was reverted, so that the current state no longer results from it."""

    @property
    def progress(self) -> float:
        return self.closeness_after - self.closeness_before


@dataclass(frozen=True, kw_only=True)
class Reverting:
    """A revert under way."""

    to: str
    """Label of the try to revert, together with all later ones."""
    strategies: tuple[Strategy, ...] = ()
    """Strategies tried on the latest of them."""
    acts: int = 0


@dataclass(frozen=True, kw_only=True)
class Detour:
    """The state of a detour. `tries` has all tries; those that were not reverted are the path to the current state."""

    step: PlannedStep
    number: int
    """Number of the step in its plan, from 1: the 8 of 8.3."""
    began_under: str
    """Fingerprint of the first state, 8.0."""
    states: int = 0
    """The number of states after the first."""
    closeness: float | None = None
    """Closeness of the current state. None: it was not judged."""
    under: str = ""
    """Fingerprint of the state that was judged."""
    tries: tuple[Tried, ...] = ()
    trying: Tried | None = None
    """The current try."""
    hint: Option | None = None
    explores: str = ""
    """The try that named the current hint as an option."""
    reverting: Reverting | None = None
    refused: str = ""
    """Why the last draft was refused before it was tried."""

    @property
    def path(self) -> tuple[Tried, ...]:
        return tuple(tried for tried in self.tries if not tried.reverted)
