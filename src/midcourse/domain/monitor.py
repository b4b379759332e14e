"""Monitoring: the path of a run that a monitor reviews, and its advice."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from midcourse.domain.outcome import Status
from midcourse.domain.skill import Effect

Monitors: TypeAlias = Literal["off", "path", "proposals"]
"""Whether there is one: never, before every plan but the first, or besides between every plan and its first step."""

Problem: TypeAlias = Literal["no_progress", "unreasonable", "repetition", "error"]
"""All that a monitor may speak up for: it leads nowhere, it makes no sense in this state, it goes round without need, or something
is clearly wrong. Leaving the outline, or taking another way than the monitor would, does not count."""


@dataclass(frozen=True, kw_only=True)
class Taken:
    """A step of the path with its retries: what was done, on which screen, with which outcome."""

    call: str
    """Digest of skill, target and arguments: the same means that the same was done."""
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
class Proposed:
    """A step that is planned and not done."""

    call: str
    """As of a step that was taken."""
    skill: str
    target: str = ""
    says: str = ""
    effect: Effect = "set_state"


@dataclass(frozen=True, kw_only=True)
class Advice:
    """A monitor's advice. The planner may ignore it, unlike a person's guidance."""

    problem: Problem
    says: str


@dataclass(frozen=True, kw_only=True)
class Watch:
    """What a run knows of its monitor."""

    version: int = 0
    """The plan that the path was last reviewed for."""
    advice: Advice | None = None
    """Its latest advice."""
    said_at: int = 0
    """How many segments there had been."""
    since: int = 0
    """Commands below this number were covered by earlier advice, or belong to an earlier session."""
    spoken: int = 0
