"""Moves: what the director wants next, as data.

A handler returns a move instead of calling the code behind it, so modules refer to each other without importing each
other, and what comes after a wait can be stored with the run.
"""

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from pydantic import Discriminator

from midcourse.domain.approval import About, Earlier, Grant
from midcourse.domain.budget import Cost
from midcourse.domain.failure import Failure, Track
from midcourse.domain.fields import stored_if_set
from midcourse.domain.outcome import Evidence, Status
from midcourse.domain.plan import Amendment, Cause, PlannedStep
from midcourse.domain.reflection import Reflection

Purpose: TypeAlias = Literal["segment", "try", "revert", "deferred"]
"""The purpose of a step, which determines where its outcome is reported. `deferred`: a step of an earlier plan, checked again."""


@dataclass(frozen=True, kw_only=True)
class Open:
    """Open the world, for the first time or because its session was lost."""

    then: "Move"
    failures: int = 0
    kind: Literal["open"] = "open"


@dataclass(frozen=True, kw_only=True)
class Look:
    """Observe the world, then continue."""

    then: "Move"
    free: bool = False
    settle: bool = False
    failures: int = 0
    kind: Literal["look"] = "look"


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Make a new plan version."""

    cause: Cause
    why: str = ""
    failure: Failure | None = None
    """The failure, if the cause is an error."""
    amends: Amendment | None = None
    doubt: "CheckOutcome | None" = None
    """A step with an outcome that can be checked after this plan was carried out."""
    checked: bool = False
    """Whether `done_when`, which seemed to hold, was found not to."""
    kind: Literal["plan"] = "plan"


@dataclass(frozen=True, kw_only=True)
class AskPlanner:
    """Ask the planner for an admitted replan, again if its answer was refused or lost."""

    cause: Cause
    why: str = ""
    refused: str = ""
    turn: int = 0
    """How often the planner was asked before."""
    failure: Failure | None = None
    due: float | None = None
    """The active seconds of the run at which a replan after a failure has taken too long."""
    amends: Amendment | None = None
    """Changes by a person, made to the plan without asking the planner."""
    objected: bool = False
    """Whether a monitor objected to the current plan. It stays unless a new one is made, which is not reviewed again."""
    reflection: Reflection | None = None
    """A reflector's explanation of the failure; without it, rules explain it."""
    kind: Literal["ask_planner"] = "ask_planner"


@dataclass(frozen=True, kw_only=True)
class Propose:
    """Ask the monitor to review a plan before its first step, if it reviews proposals."""

    asked: AskPlanner
    kind: Literal["propose"] = "propose"


@dataclass(frozen=True, kw_only=True)
class Begin:
    """Begin the current plan."""

    kind: Literal["begin"] = "begin"


@dataclass(frozen=True, kw_only=True)
class Advance:
    """Continue with the step under the segment's cursor."""

    kind: Literal["advance"] = "advance"


@dataclass(frozen=True, kw_only=True)
class Do:
    """Carry out one step: check its approval, then act."""

    step: PlannedStep
    purpose: Purpose
    retry: bool = False
    look: bool = True
    """Whether to look at the world after the act."""
    looked: bool = False
    """Whether the world was just observed because the last observation was stale."""
    holds: int = 0
    """How often this step was held because its consequence was not the allowed one."""
    changed_from: str = ""
    """The consequence that was approved, if what would be sent has changed."""
    made_by: int = 0
    """The command that made its plan, if that is not the segment's."""
    harmless: bool = False
    """Whether the step fails instead of asking for approval if it may be irreversible, as in a detour."""
    leaves: Annotated[tuple[str, ...], stored_if_set()] = ()
    """The kinds of requests that it leaves waiting instead of asking for approval."""
    kind: Literal["do"] = "do"


@dataclass(frozen=True, kw_only=True)
class CheckOutcome:
    """Find out whether an act with an unknown outcome happened."""

    step: PlannedStep
    purpose: Purpose
    command: int
    before: str
    """Fingerprint of the screen that the step was tried on, or at which the check was deferred."""
    reason: str = ""
    """The reason of the act, which with its detail says why the outcome is unknown."""
    detail: str = ""
    grant: Grant | None = None
    """The approval that it used up, if it was sent."""
    claim: "Report | None" = None
    """The report of a world that says that it sent nothing. It stands unless the screen or a probe shows that it did."""
    concludes: bool = False
    """Whether it must be decided now, because the run is about to end."""
    reads: bool = False
    """Whether a model looks for its effect, since the rules have found none: once, before a person is asked."""
    denied_by: str = ""
    """The person who said that it did not happen. That is believed unless evidence now shows the contrary."""
    kind: Literal["check_outcome"] = "check_outcome"


@dataclass(frozen=True, kw_only=True)
class Report:
    """Report the outcome of a step to the handler for its purpose."""

    step: PlannedStep
    purpose: Purpose
    status: Status
    reason: str = ""
    detail: str = ""
    before: str = ""
    """Fingerprint of the screen that the step was tried on."""
    track: Track | None = None
    unmet: str = ""
    """If it was carried out and led elsewhere than expected: what was expected, and what is shown."""
    kind: Literal["report"] = "report"


@dataclass(frozen=True, kw_only=True)
class Ask:
    """Ask a person: may these steps be done, or did this one happen?"""

    about: About
    steps: tuple[PlannedStep, ...]
    purpose: Purpose
    then: "Move"
    """The move after an approval. A question about what happened leads to a report instead."""
    changed_from: str = ""
    detail: str = ""
    earlier: tuple[Earlier, ...] = ()
    repeats: int = 0
    doubt: CheckOutcome | None = None
    """For `happened`: the doubt to be decided."""
    against: Evidence = ""
    """For `happened`: the evidence that contradicts a person who said that it did not happen."""
    more: Annotated[Cost | None, stored_if_set()] = None
    """For `more`: what the run would spend beyond its ceiling."""
    otherwise: "Annotated[End | None, stored_if_set()]" = None
    """For `more`: how the run ends without it."""
    kind: Literal["ask"] = "ask"


@dataclass(frozen=True, kw_only=True)
class BackOff:
    """Wait, then continue."""

    seconds: float
    then: "Move"
    kind: Literal["back_off"] = "back_off"


@dataclass(frozen=True, kw_only=True)
class Recover:
    """Decide how to recover from a failure of a step, or of planning if there is no step."""

    step: PlannedStep | None = None
    reason: str
    detail: str
    track: Track | None = None
    """How such failures ended in other runs, if known."""
    kind: Literal["recover"] = "recover"


Adviser: TypeAlias = Literal["reflector", "monitor", "judge", "outliner"]
"""Roles that advise the planner: explain a failure, review the path or the plan, judge progress on the outline, write the outline."""


@dataclass(frozen=True, kw_only=True)
class Consult:
    """Ask this adviser and those after it, as far as enabled, then the planner."""

    role: Adviser
    then: AskPlanner
    kind: Literal["consult"] = "consult"


# --- a detour


@dataclass(frozen=True, kw_only=True)
class Reach:
    """Begin a detour to a step that is out of reach."""

    step: PlannedStep
    kind: Literal["reach"] = "reach"


@dataclass(frozen=True, kw_only=True)
class Try:
    """Plan the next try of the detour; or, with `undo`, a way to revert the last one."""

    undo: bool = False
    tries: int = 0
    """How often the detour planner could not be reached."""
    kind: Literal["try"] = "try"


@dataclass(frozen=True, kw_only=True)
class Weigh:
    """Judge how close the current state is to the goal, and decide what to do next."""

    looked: bool = False
    """Whether the world was just observed because the last observation was stale."""
    tries: int = 0
    kind: Literal["weigh"] = "weigh"


@dataclass(frozen=True, kw_only=True)
class Revert:
    """Continue the revert that is under way."""

    looked: bool = False
    kind: Literal["revert"] = "revert"


FinalReason: TypeAlias = Literal[
    "plan_complete",
    "goal_reached",
    "contradicted",
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

DEAD_ENDS: tuple[FinalReason, ...] = ("empty_plan", "replan_exhausted", "replan_no_change", "structural_failure")
"""Reasons for ending without a further plan. Before such an end the goal is checked again."""


@dataclass(frozen=True, kw_only=True)
class End:
    """End the run for this reason."""

    reason: FinalReason
    detail: str = ""
    kind: Literal["end"] = "end"


@dataclass(frozen=True, kw_only=True)
class Conclude:
    """Check whether the task is done: the plan is complete, no further plan can be made, or none seems to be needed."""

    detail: str = ""
    otherwise: Annotated[End | Plan, Discriminator("kind")] | None = None
    """How the run ends, or what it plans, if it is not done; None: recover, and plan again."""
    turn: int = 0
    """How often the verifier was asked before."""
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
