"""Phases: what a run is waiting for, and nothing else. What comes after the wait is a move inside."""

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from pydantic import Discriminator

from midcourse.domain.approval import About
from midcourse.domain.move import AskPlanner, Do, Doubt, End, FinalReason, Move, Orient, Purpose, Review, Try, Weigh
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
class Reflecting:
    """Somebody explains a failure."""

    then: Review
    kind: Literal["reflecting"] = "reflecting"


@dataclass(frozen=True, kw_only=True)
class Reviewing:
    """A monitor looks at the path."""

    then: Orient
    drafted: bool = False
    """And at a plan from here: it is begun, unless there is a word on it. Then `then` has the question to put again."""
    kind: Literal["reviewing"] = "reviewing"


@dataclass(frozen=True, kw_only=True)
class Outlining:
    """An outline is being drawn, or rewritten."""

    then: Orient
    kind: Literal["outlining"] = "outlining"


@dataclass(frozen=True, kw_only=True)
class Judging:
    """It is being judged how far the outline is."""

    then: Orient
    kind: Literal["judging"] = "judging"


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

    doubt: Doubt
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
    """Somebody asked for a pause."""

    then: Move
    kind: Literal["paused"] = "paused"


@dataclass(frozen=True, kw_only=True)
class Ended:
    """The run is over."""

    reason: FinalReason
    detail: str
    kind: Literal["ended"] = "ended"


Phase: TypeAlias = Annotated[
    New
    | Opening
    | Looking
    | Planning
    | Reflecting
    | Reviewing
    | Outlining
    | Judging
    | Acting
    | Verifying
    | Asking
    | BackingOff
    | Trying
    | Weighing
    | Undoing
    | Concluding
    | Paused
    | Ended,
    Discriminator("kind"),
]
