"""Moves: what the director wants next, as data.

A handler returns a move instead of calling the code behind it, so modules refer to each other without importing each
other, and what comes after a wait can be stored with the run.
"""

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from pydantic import Discriminator

from midcourse.domain.approval import About, Earlier, Grant
from midcourse.domain.failure import Failure, Track
from midcourse.domain.outcome import Status
from midcourse.domain.plan import Amendment, Cause, PlannedStep
from midcourse.domain.reflection import Reflection

Purpose: TypeAlias = Literal["segment", "try", "revert", "deferred"]
"""What a step is for, and so where its outcome is reported. `deferred`: a step of an earlier plan, checked again."""


@dataclass(frozen=True, kw_only=True)
class Open:
    """Open the world, for the first time or because its session was lost."""

    then: "Move"
    failures: int = 0
    kind: Literal["open"] = "open"


@dataclass(frozen=True, kw_only=True)
class Look:
    """See the world as it is now, then continue."""

    then: "Move"
    free: bool = False
    failures: int = 0
    kind: Literal["look"] = "look"


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Have a new plan version made."""

    cause: Cause
    why: str = ""
    failure: Failure | None = None
    """What went wrong, if the cause is an error."""
    amends: Amendment | None = None
    doubt: "CheckOutcome | None" = None
    """A step whose outcome can be looked into once this plan was carried out."""
    kind: Literal["plan"] = "plan"


@dataclass(frozen=True, kw_only=True)
class AskPlanner:
    """Put the question of an admitted replan to the planner, once more if its answer was refused or lost."""

    cause: Cause
    why: str = ""
    refused: str = ""
    turn: int = 0
    """How often the question was put before."""
    failure: Failure | None = None
    due: float | None = None
    """When a replan after a failure has taken too long."""
    amends: Amendment | None = None
    """Changes by a person, made to the plan without asking the planner."""
    objected: bool = False
    """A monitor objected to the present plan. It stays unless another is made now, which is not reviewed again."""
    reflection: Reflection | None = None
    """A reflector's explanation of the failure; without it, rules explain it."""
    kind: Literal["ask_planner"] = "ask_planner"


@dataclass(frozen=True, kw_only=True)
class Propose:
    """Before the first step of a plan: have a monitor look at what it proposes, if there is one that does."""

    asked: AskPlanner
    kind: Literal["propose"] = "propose"


@dataclass(frozen=True, kw_only=True)
class Begin:
    """Take up the plan there is."""

    kind: Literal["begin"] = "begin"


@dataclass(frozen=True, kw_only=True)
class Advance:
    """Continue with the step under the segment's cursor."""

    kind: Literal["advance"] = "advance"


@dataclass(frozen=True, kw_only=True)
class Do:
    """Carry out one step: through the gate, then act."""

    step: PlannedStep
    purpose: Purpose
    retry: bool = False
    look: bool = True
    """Whether to look at the world after the act."""
    looked: bool = False
    """Whether it was looked at just now because what was seen is stale."""
    holds: int = 0
    """How often this step was held because it would have had another consequence."""
    changed_from: str = ""
    """The consequence that was approved, if what would be sent is no longer that."""
    made_by: int = 0
    """The command that made its plan, if that is not the segment's."""
    harmless: bool = False
    """Of a detour: the step fails instead of asking for approval if it may be irreversible."""
    kind: Literal["do"] = "do"


@dataclass(frozen=True, kw_only=True)
class CheckOutcome:
    """Find out whether an act whose outcome is unknown happened."""

    step: PlannedStep
    purpose: Purpose
    command: int
    before: str
    """Fingerprint the step was tried under."""
    reason: str = ""
    """Why the outcome is unknown, as reason and detail of the act have it."""
    detail: str = ""
    grant: Grant | None = None
    """The approval that it used up, if it was sent at all."""
    concludes: bool = False
    """Whether it must be decided now, because the run is about to end."""
    kind: Literal["check_outcome"] = "check_outcome"


@dataclass(frozen=True, kw_only=True)
class Report:
    """Report the outcome of a step to what asked for it, by purpose."""

    step: PlannedStep
    purpose: Purpose
    status: Status
    reason: str = ""
    detail: str = ""
    before: str = ""
    """Fingerprint the step was tried under."""
    track: Track | None = None
    kind: Literal["report"] = "report"


@dataclass(frozen=True, kw_only=True)
class Ask:
    """Put a question to a person: may these steps be done, or did this one happen?"""

    about: About
    steps: tuple[PlannedStep, ...]
    purpose: Purpose
    then: "Move"
    """Where an approval leads. A question about what happened is answered by a report instead."""
    changed_from: str = ""
    detail: str = ""
    earlier: tuple[Earlier, ...] = ()
    repeats: int = 0
    kind: Literal["ask"] = "ask"


@dataclass(frozen=True, kw_only=True)
class BackOff:
    """Wait, then continue."""

    seconds: float
    then: "Move"
    kind: Literal["back_off"] = "back_off"


@dataclass(frozen=True, kw_only=True)
class Recover:
    """Decide what a failure means: of a step, or of planning where there is none."""

    step: PlannedStep | None = None
    reason: str
    detail: str
    track: Track | None = None
    """How such failures ended in other runs, if that is known."""
    kind: Literal["recover"] = "recover"


Adviser: TypeAlias = Literal["reflector", "monitor", "judge", "outliner"]
"""Roles that advise the planner: explain a failure, review the path or the plan, judge how far the outline is, write the outline."""


@dataclass(frozen=True, kw_only=True)
class Consult:
    """Ask this adviser and those after it, as far as they are wanted, then the planner."""

    role: Adviser
    then: AskPlanner
    kind: Literal["consult"] = "consult"


# --- a detour


@dataclass(frozen=True, kw_only=True)
class Reach:
    """Begin a detour to a step that cannot be reached from here."""

    step: PlannedStep
    kind: Literal["reach"] = "reach"


@dataclass(frozen=True, kw_only=True)
class Try:
    """Have the next try of the detour thought up; or, with `undo`, a way to take the last one back."""

    undo: bool = False
    tries: int = 0
    """How often the detour planner could not be reached."""
    kind: Literal["try"] = "try"


@dataclass(frozen=True, kw_only=True)
class Weigh:
    """Find out how near the goal the present state is, and decide what follows from that."""

    looked: bool = False
    """Whether it was looked at just now because what was seen is stale."""
    tries: int = 0
    kind: Literal["weigh"] = "weigh"


@dataclass(frozen=True, kw_only=True)
class Revert:
    """Continue to take back what the detour is taking back."""

    looked: bool = False
    kind: Literal["revert"] = "revert"


FinalReason: TypeAlias = Literal[
    "plan_complete",
    "goal_reached",
    "replan_exhausted",
    "replan_no_change",
    "structural_failure",
    "budget_exhausted",
    "empty_plan",
    "rejected",
    "needs_human",
    "planner_unavailable",
    "outage",
    "world_lost",
    "deadline_exceeded",
    "cancelled",
    "internal_error",
]

NO_WAY_ON: tuple[FinalReason, ...] = ("empty_plan", "replan_exhausted", "replan_no_change", "structural_failure")
"""Ends for want of a plan, before which the goal is checked once more."""


@dataclass(frozen=True, kw_only=True)
class End:
    """The run is over, and this is why."""

    reason: FinalReason
    detail: str = ""
    kind: Literal["end"] = "end"


@dataclass(frozen=True, kw_only=True)
class Conclude:
    """Check whether the task is done: the plan is complete, or no further plan can be made."""

    detail: str = ""
    otherwise: End | None = None
    """How the run ends if it is not; nothing: it is planned again."""
    turn: int = 0
    """How often the reader was asked before."""
    kind: Literal["conclude"] = "conclude"


Move: TypeAlias = Annotated[
    Open
    | Look
    | Plan
    | AskPlanner
    | Consult
    | Propose
    | Begin
    | Advance
    | Do
    | CheckOutcome
    | Report
    | Ask
    | BackOff
    | Recover
    | Reach
    | Try
    | Weigh
    | Revert
    | Conclude
    | End,
    Discriminator("kind"),
]
