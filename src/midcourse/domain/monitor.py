"""What a monitor looks at and what it says: the path of a run, and a problem with it that is fundamental."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from midcourse.domain.outcome import Status
from midcourse.domain.skill import Effect

Monitors: TypeAlias = Literal["off", "path", "proposals"]
"""Whether there is one: never, before every plan but the first, or besides between every plan and its first step."""

Problem: TypeAlias = Literal["no_progress", "unreasonable", "repetition", "error"]
"""All that a monitor may speak up for: it leads nowhere, it makes no sense in this state, it goes round without need, or something
is clearly wrong. To leave the outline, or to take another way than the monitor would, is no problem."""


@dataclass(frozen=True, kw_only=True)
class Taken:
    """A step of the path, its retries with it: what was done, on which screen, and what came of it."""

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
    """A monitor's word. Not a person's: it has no authority, and who plans may know better."""

    problem: Problem
    says: str


@dataclass(frozen=True, kw_only=True)
class Watch:
    """What a run knows of its monitor."""

    version: int = 0
    """The plan that the path was last reviewed for."""
    advice: Advice | None = None
    """Its last word."""
    said_at: int = 0
    """How many segments there had been."""
    since: int = 0
    """Commands below this number have been spoken about, or belong to a session that is over."""
    spoken: int = 0
