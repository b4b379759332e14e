"""A detour: a small episode of tries to reach one step that cannot be reached from here.

Every state it comes through has a number below the step's own: before the first try of step 8 it is 8.0, then 8.1, 8.2 …
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from midcourse.domain.expectation import Expectation
from midcourse.domain.plan import PlannedStep, Target

THERE = 10.0
"""The closeness of a state in which the goal condition holds. 0 is as far away as can be."""

Choice: TypeAlias = Literal["retain", "explore", "revert", "cancel"]
"""What is decided after a try that did not reach the goal."""

Strategy: TypeAlias = Literal["toggle", "restore", "close", "key", "undo", "ask"]
"""A way to take a try back: set the box as it was; write the text that was there; close, cancel or escape what opened; press
the opposite key; the skill's own undo; the proposal of the detour's planner."""

Cancel: TypeAlias = Literal["looping", "regressing", "exhausted", "no_way", "unjudged", "unseen", "revert_unverified"]
"""Why a detour was given up."""


@dataclass(frozen=True, kw_only=True)
class Goal:
    """What a detour is for: a condition, or to see the target of a step again. Either will do."""

    says: str
    expect: Expectation | None = None
    target: Target | None = None


@dataclass(frozen=True, kw_only=True)
class Option:
    """Something else that could be tried: a hint for a later try, from the planner that proposed this one."""

    name: str
    says: str = ""


@dataclass(frozen=True, kw_only=True)
class Tried:
    """One iteration: what was done, between which two states, and what was decided about it."""

    label: str
    """Of the state that it led to."""
    version: int
    """The plan version that holds its step."""
    call: str
    before: str
    """Fingerprint it was tried under, and `seen` the observation."""
    seen: str
    after: str = ""
    closeness_before: float = 0.0
    closeness_after: float = 0.0
    options: tuple[Option, ...] = ()
    explored: int = 0
    """How many of the options have been given out as hints."""
    explores: str = ""
    """The try whose option was the hint for this one."""
    failed: str = ""
    """Why it failed, if it did."""
    choice: Choice | None = None
    reverted: bool = False
    """Taken back: the present state does not follow from it any more."""

    @property
    def progress(self) -> float:
        return self.closeness_after - self.closeness_before


@dataclass(frozen=True, kw_only=True)
class Reverting:
    """A revert under way."""

    to: str
    """Label of the try that is to be taken back, with all that came after it."""
    strategies: tuple[Strategy, ...] = ()
    """What was tried on the latest of them."""
    acts: int = 0


@dataclass(frozen=True, kw_only=True)
class Detour:
    """The state of a detour. `tries` has all of them; those that were not taken back are the path to where we are."""

    step: PlannedStep
    number: int
    """Of the step in its plan, from 1: the 8 of 8.3."""
    began_under: str
    """Fingerprint of the first state, 8.0."""
    states: int = 0
    """How many states there have been after the first."""
    closeness: float | None = None
    """Of the present state. None: it was not judged."""
    under: str = ""
    """Fingerprint of the state that was judged."""
    tries: tuple[Tried, ...] = ()
    trying: Tried | None = None
    """The one under way."""
    hint: Option | None = None
    explores: str = ""
    """Whose option the hint is."""
    reverting: Reverting | None = None
    refused: str = ""
    """Why the last draft was refused before it was tried."""

    @property
    def path(self) -> tuple[Tried, ...]:
        return tuple(one for one in self.tries if not one.reverted)
