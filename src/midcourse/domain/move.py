"""Moves: what the director wants next, as data.

A handler ends by naming a move instead of calling the code behind it, so horizons refer to each other without importing
each other, and 'what comes after the wait' can be stored with the run.
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
"""Which horizon asked for a step, and is told how it went. `deferred`: a step of an earlier plan, looked into again."""


@dataclass(frozen=True, kw_only=True)
class Open:
    """Open the world, for the first time or because its session was lost."""

    then: "Move"
    failures: int = 0
    kind: Literal["open"] = "open"


@dataclass(frozen=True, kw_only=True)
class Look:
    """See the world as it is now, then go on."""

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
    doubt: "Doubt | None" = None
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
    """Nobody is asked: a person has said what is to be otherwise."""
    objected: bool = False
    """A monitor objects to the plan that there is. It stays if no other comes of this, and nobody objects to another."""
    reflection: Reflection | None = None
    """What somebody made of the failure; without it, rules do."""
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
    """Go on with the step under the segment's cursor."""

    kind: Literal["advance"] = "advance"


@dataclass(frozen=True, kw_only=True)
class Do:
    """Carry out one step for a horizon: through the gate, then act."""

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
    """Only if nothing irreversible comes of it: else it has failed, and nobody is asked."""
    kind: Literal["do"] = "do"


@dataclass(frozen=True, kw_only=True)
class Doubt:
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
    """Whether it has to be decided now, since the run would end otherwise."""
    kind: Literal["doubt"] = "doubt"


@dataclass(frozen=True, kw_only=True)
class Report:
    """Tell the horizon that asked how its step turned out."""

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
    """Wait, then go on."""

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
    """What became of such failures in other runs, if anybody knows."""
    kind: Literal["recover"] = "recover"


@dataclass(frozen=True, kw_only=True)
class Reflect:
    """Before a plan is made after a failure: have somebody explain it, if anybody is there to."""

    then: AskPlanner
    kind: Literal["reflect"] = "reflect"


@dataclass(frozen=True, kw_only=True)
class Review:
    """Before a plan is made: have a monitor look at the path so far, if there is one."""

    then: AskPlanner
    kind: Literal["review"] = "review"


@dataclass(frozen=True, kw_only=True)
class Orient:
    """Before a plan is made: see how far the outline is, have one drawn, or have it rewritten. If any is wanted."""

    then: AskPlanner
    kind: Literal["orient"] = "orient"


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
    """How often whoever thinks it up could not be reached."""
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
    """Go on taking back what the detour is taking back."""

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
"""Ends for want of a plan."""


@dataclass(frozen=True, kw_only=True)
class End:
    """The run is over, and this is why."""

    reason: FinalReason
    detail: str = ""
    kind: Literal["end"] = "end"


@dataclass(frozen=True, kw_only=True)
class Conclude:
    """See whether the task is done: the plan says so, or there is no way on from here."""

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
    | Reflect
    | Review
    | Orient
    | Propose
    | Begin
    | Advance
    | Do
    | Doubt
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
