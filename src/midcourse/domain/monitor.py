"""Monitoring: the path of a run that a monitor reviews, and its advice."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from midcourse.domain.outcome import Status
from midcourse.domain.skill import Effect

Monitors: TypeAlias = Literal["off", "path", "proposals"]
"""When a monitor reviews: never; the path before every plan but the first; or also every plan before its first step."""

Problem: TypeAlias = Literal["no_progress", "unreasonable", "repetition", "error"]
"""The problems that a monitor reports: no progress, a step that makes no sense in this state, needless repetition, or a clear
error. Deviating from the outline, or from what the monitor would do, does not count."""


@dataclass(frozen=True, kw_only=True)
class TakenStep:
    """A step of the path, including its retries: what was done, on which screen, with which outcome."""

    call: str
    """Digest of skill, target and arguments, equal for equal steps."""
    before: str
    """Fingerprint of the screen."""
    skill: str
    target: str = ""
    surface: str = ""
    says: str = ""
    effect: Effect = "set_state"
    status: Status = "ok"
    reason: str = ""

    @property
    def words(self) -> str:
        return self.says or (f"{self.skill} '{self.target}'" if self.target else self.skill)


@dataclass(frozen=True, kw_only=True)
class ProposedStep:
    """A step that is planned but not done."""

    call: str
    """Digest as in `TakenStep`."""
    skill: str
    target: str = ""
    says: str = ""
    expected: str = ""
    """What the planner expects to see after it, in words."""
    effect: Effect = "set_state"


@dataclass(frozen=True, kw_only=True)
class Advice:
    """A monitor's advice. The planner may ignore it, unlike a person's guidance."""

    problem: Problem
    says: str


@dataclass(frozen=True, kw_only=True)
class Watch:
    """A run's record of its monitor."""

    version: int = 0
    """The plan that the path was last reviewed for."""
    advice: Advice | None = None
    """Its latest advice."""
    said_at: int = 0
    """The number of segments when it was given."""
    since: int = 0
    """Commands below this number were covered by earlier advice, or belong to an earlier session."""
    spoken: int = 0
    """The number of pieces of advice so far."""
