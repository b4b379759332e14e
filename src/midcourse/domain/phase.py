"""Phases: what a run is waiting for. What comes after the wait is a move inside."""

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from pydantic import Discriminator

from midcourse.domain.approval import About
from midcourse.domain.move import (
    Adviser,
    AskPlanner,
    CheckOutcome,
    Consult,
    Do,
    End,
    FinalReason,
    Move,
    Purpose,
    Try,
    Weigh,
)
from midcourse.domain.plan import PlannedStep


@dataclass(frozen=True, kw_only=True)
class New:
    """Nothing has happened yet."""

    kind: Literal["new"] = "new"


@dataclass(frozen=True, kw_only=True)
class Opening:
    """The world is being opened."""

    then: Move
    failures: int = 0
    kind: Literal["opening"] = "opening"


@dataclass(frozen=True, kw_only=True)
class Looking:
    """An observation is under way."""

    then: Move
    failures: int = 0
    kind: Literal["looking"] = "looking"


@dataclass(frozen=True, kw_only=True)
class Planning:
    """The planner is at work."""

    asked: AskPlanner
    kind: Literal["planning"] = "planning"


@dataclass(frozen=True, kw_only=True)
class Advising:
    """An adviser was asked, and its answer is awaited."""

    role: Adviser
    then: Consult
    drafted: bool = False
    """A monitor reviews a plan that is made already. Without an objection it begins; with one, the planner is asked again."""
    kind: Literal["advising"] = "advising"


@dataclass(frozen=True, kw_only=True)
class Acting:
    """A step is being carried out. Nothing interrupts this."""

    doing: Do
    before: str
    """Fingerprint the step is tried under."""
    kind: Literal["acting"] = "acting"


@dataclass(frozen=True, kw_only=True)
class Verifying:
    """It is being found out whether an act happened."""

    doubt: CheckOutcome
    kind: Literal["verifying"] = "verifying"


@dataclass(frozen=True, kw_only=True)
class Asking:
    """A person has been asked."""

    about: About
    steps: tuple[PlannedStep, ...]
    purpose: Purpose
    question: int
    then: Move
    kind: Literal["asking"] = "asking"


@dataclass(frozen=True, kw_only=True)
class BackingOff:
    """A timer runs."""

    then: Move
    kind: Literal["backing_off"] = "backing_off"


@dataclass(frozen=True, kw_only=True)
class Trying:
    """The next try of a detour is being thought up."""

    asked: Try
    kind: Literal["trying"] = "trying"


@dataclass(frozen=True, kw_only=True)
class Weighing:
    """It is being judged how near the detour's goal is."""

    asked: Weigh
    kind: Literal["weighing"] = "weighing"


@dataclass(frozen=True, kw_only=True)
class Undoing:
    """A way to take a try back is being worked out."""

    kind: Literal["undoing"] = "undoing"


@dataclass(frozen=True, kw_only=True)
class Concluding:
    """It is being checked whether the task is done."""

    detail: str = ""
    otherwise: End | None = None
    turn: int = 0
    kind: Literal["concluding"] = "concluding"


@dataclass(frozen=True, kw_only=True)
class Paused:
    """Paused on request."""

    then: Move
    kind: Literal["paused"] = "paused"


@dataclass(frozen=True, kw_only=True)
class Ended:
    """The run is over."""

    reason: FinalReason
    detail: str
    kind: Literal["ended"] = "ended"


Repeatable: TypeAlias = (
    Opening | Looking | Planning | Advising | Acting | Verifying | Trying | Weighing | Undoing | Concluding
)
"""Phases that await a command which may be issued again."""

Phase: TypeAlias = Annotated[
    New | Repeatable | Asking | BackingOff | Paused | Ended,
    Discriminator("kind"),
]
