"""Phases: what a run is waiting for. Most contain the move that follows the wait."""

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from pydantic import Discriminator

from midcourse.domain import moves
from midcourse.domain.approval import About
from midcourse.domain.budget import Cost
from midcourse.domain.fields import stored_if_set
from midcourse.domain.outcome import Evidence
from midcourse.domain.plan import PlannedStep


@dataclass(frozen=True, kw_only=True)
class New:
    """Nothing has happened yet."""

    kind: Literal["new"] = "new"


@dataclass(frozen=True, kw_only=True)
class Opening:
    """The world is being opened."""

    then: moves.Move
    failures: int = 0
    kind: Literal["opening"] = "opening"


@dataclass(frozen=True, kw_only=True)
class Looking:
    """An observation is under way."""

    then: moves.Move
    failures: int = 0
    kind: Literal["looking"] = "looking"


@dataclass(frozen=True, kw_only=True)
class Planning:
    """The planner was asked, and its answer is awaited."""

    asked: moves.AskPlanner
    kind: Literal["planning"] = "planning"


@dataclass(frozen=True, kw_only=True)
class Advising:
    """An adviser was asked, and its answer is awaited."""

    role: moves.Adviser
    then: moves.Consult
    drafted: bool = False
    """Whether a monitor reviews a plan that is already made. With an objection the planner is asked again."""
    kind: Literal["advising"] = "advising"


@dataclass(frozen=True, kw_only=True)
class Acting:
    """A step is being carried out. Nothing interrupts this."""

    doing: moves.Do
    before: str
    """Fingerprint of the screen that the step is tried on."""
    kind: Literal["acting"] = "acting"


@dataclass(frozen=True, kw_only=True)
class Verifying:
    """Whether an act happened is being verified."""

    doubt: moves.CheckOutcome
    kind: Literal["verifying"] = "verifying"


@dataclass(frozen=True, kw_only=True)
class Asking:
    """A person has been asked."""

    about: About
    steps: tuple[PlannedStep, ...]
    purpose: moves.Purpose
    question: int
    then: moves.Move
    doubt: moves.CheckOutcome | None = None
    """For `happened`: the doubt, which is checked again while the question is open."""
    against: Evidence = ""
    """For `happened`: the evidence that contradicts an earlier answer of a person."""
    looks: int = 0
    """How often the doubt was checked since the question was asked."""
    timer: int = 0
    """The timer for the next check; 0 if there is none."""
    more: Annotated[Cost | None, stored_if_set()] = None
    """For `more`: what the run would spend beyond its ceiling."""
    otherwise: Annotated[moves.End | None, stored_if_set()] = None
    """For `more`: how the run ends without it."""
    kind: Literal["asking"] = "asking"


@dataclass(frozen=True, kw_only=True)
class BackingOff:
    """The run waits for a timer before it continues."""

    then: moves.Move
    kind: Literal["backing_off"] = "backing_off"


@dataclass(frozen=True, kw_only=True)
class Trying:
    """The next try of a detour is being planned."""

    asked: moves.Try
    kind: Literal["trying"] = "trying"


@dataclass(frozen=True, kw_only=True)
class Weighing:
    """The closeness to the detour's goal is being judged."""

    asked: moves.Weigh
    kind: Literal["weighing"] = "weighing"


@dataclass(frozen=True, kw_only=True)
class Undoing:
    """A way to revert a try is being planned."""

    kind: Literal["undoing"] = "undoing"


@dataclass(frozen=True, kw_only=True)
class Concluding:
    """Whether the task is done is being checked."""

    detail: str = ""
    otherwise: Annotated[moves.End | moves.Plan, Discriminator("kind")] | None = None
    turn: int = 0
    kind: Literal["concluding"] = "concluding"


@dataclass(frozen=True, kw_only=True)
class Paused:
    """Paused on request."""

    then: moves.Move
    kind: Literal["paused"] = "paused"


@dataclass(frozen=True, kw_only=True)
class Ended:
    """The run is over."""

    reason: moves.FinalReason
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
