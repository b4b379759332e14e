"""Commands: what the director wants done. Each has an id, which its answer names."""

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from pydantic import Discriminator

from midcourse.domain.approval import About, Earlier, Told
from midcourse.domain.argument import Pairs
from midcourse.domain.budget import FREE, Cost
from midcourse.domain.detour import Option, Strategy, Tried
from midcourse.domain.failure import Failure
from midcourse.domain.monitor import Advice
from midcourse.domain.move import Adviser, FinalReason
from midcourse.domain.outline import Outline
from midcourse.domain.plan import Amendment, Cause
from midcourse.domain.reflection import Reflection
from midcourse.domain.skill import Effect


@dataclass(frozen=True, kw_only=True)
class OpenWorld:
    """Open the world, or open it again after its session was lost."""

    id: int
    timeout: float
    kind: Literal["open_world"] = "open_world"


@dataclass(frozen=True, kw_only=True)
class Observe:
    """Look at the world."""

    id: int
    timeout: float
    free: bool = False
    """The first look of a run is not charged to its budget."""
    kind: Literal["observe"] = "observe"


@dataclass(frozen=True, kw_only=True)
class MakePlan:
    """Have the planner draft a segment from this observation, resolve it, and store it as this version."""

    id: int
    timeout: float
    version: int
    cause: Cause
    why: str
    seen: str
    """Observation to plan from."""
    parent: int = 0
    """The plan that it replaces, if that is not the version before: tries of a detour are in between."""
    stale: bool = False
    refused: str = ""
    """Why the planner's previous answer to the same question was refused."""
    guidance: tuple[str, ...] = ()
    told: tuple[Told, ...] = ()
    left: Cost = FREE
    wrap_up: bool = False
    beyond: bool = False
    """The plan may go through screens that were not seen yet."""
    turn: int = 0
    """How often this question was put before without reaching the planner."""
    failure: Failure | None = None
    """The failure that the plan is to recover from."""
    amends: Amendment | None = None
    """Take what a person changed in the plan under way instead of asking the planner."""
    outline: Outline | None = None
    """To be suggested to the planner."""
    advice: Advice | None = None
    """What a monitor found wrong with the path to here."""
    reflection: Reflection | None = None
    """A reflector's explanation of the failure; without it, rules explain it."""
    kind: Literal["make_plan"] = "make_plan"


@dataclass(frozen=True, kw_only=True)
class Advise:
    """Ask an adviser, before a plan is made or begun. Each role reads the fields that it needs."""

    id: int
    timeout: float
    role: Adviser
    seen: str = ""
    """Observation to advise from; empty only for a reflector that has none."""
    left: Cost = FREE
    outline: Outline | None = None
    """Of a judge and a monitor: the goals so far. Of an outliner: the outline to rewrite, None for a first one."""
    version: int = 0
    """Of a reflector: the plan to be made. Of a monitor: the plan that is proposed, 0 to review the path only."""
    made_by: int = 0
    """Of a monitor: the command that made the proposed plan."""
    since: int = 0
    """Of a monitor: earlier commands were covered by earlier advice."""
    failure: Failure | None = None
    told: tuple[Told, ...] = ()
    guidance: tuple[str, ...] = ()
    advice: Advice | None = None
    """Of an outliner: what a monitor found wrong with the path."""
    kind: Literal["advise"] = "advise"


@dataclass(frozen=True, kw_only=True)
class Act:
    """Check, dispatch, act, settle, observe and verify one step of a stored plan."""

    id: int
    timeout: float
    version: int
    index: int
    seen: str
    """Observation that the step relies on."""
    made_by: int = 0
    """The command that made the plan: of a version that was drafted twice, only the adopted one counts."""
    consequence: str = ""
    """For a step that binds one, the only consequence that may be dispatched; any other is held and reported."""
    effect: Effect | None = None
    """As it showed when the step was tried, which overrides the skill's. None in older journals."""
    look: bool = True
    found: str = ""
    """Where a detour found its target; `__reach__`: what it was for is there already, so nothing is sent."""
    weighed: tuple[int, ...] = ()
    """Earlier commands that it is known to look like. If it looks like another one, it is held and reported."""
    kind: Literal["act"] = "act"


@dataclass(frozen=True, kw_only=True)
class Verify:
    """Make sure that command `doubted` can no longer act, then find out whether it did."""

    id: int
    timeout: float
    version: int
    index: int
    doubted: int
    effect: Effect | None = None
    believe_absence: bool = True
    """Whether a probe that does not find the effect decides it. False once it has done so for the same effect."""
    kind: Literal["verify"] = "verify"


@dataclass(frozen=True, kw_only=True)
class PlanTry:
    """Have the detour's planner draft one act, resolve it, and store it with the look that follows as this version."""

    id: int
    timeout: float
    version: int
    goal: tuple[int, int]
    """Version and index of the step that the detour is for."""
    label: str
    """Of the state that the try will lead to."""
    seen: str
    closeness: float = 0.0
    """Of the present state."""
    tries: tuple[Tried, ...] = ()
    """All so far. What was done in each is found by its version."""
    hint: Option | None = None
    undo: int = 0
    """Version of the try that is to be taken back; 0: it is to lead on."""
    refused: str = ""
    """Why the previous draft was refused before it was tried."""
    guidance: tuple[str, ...] = ()
    left: Cost = FREE
    turn: int = 0
    kind: Literal["plan_try"] = "plan_try"


@dataclass(frozen=True, kw_only=True)
class JudgeCloseness:
    """See whether the goal of a detour is reached, and if not, how near it is."""

    id: int
    timeout: float
    goal: tuple[int, int]
    seen: str
    turn: int = 0
    kind: Literal["judge_closeness"] = "judge_closeness"


@dataclass(frozen=True, kw_only=True)
class PlanRevert:
    """Work out, without a model, how to take a try back, and store that as this version."""

    id: int
    timeout: float
    version: int
    undo: int
    """Version of the try that is to be taken back."""
    label: str
    before: str
    """Observation to come back to."""
    seen: str
    tried: tuple[Strategy, ...] = ()
    kind: Literal["plan_revert"] = "plan_revert"


@dataclass(frozen=True, kw_only=True)
class CheckDone:
    """Test the task's `done_when` against the world as it is."""

    id: int
    timeout: float
    seen: str
    look: bool = False
    """Look first: what was seen is stale."""
    turn: int = 0
    """How often it was asked before without reaching the model that reads."""
    extract: bool = False
    """Read from the screen what the task is to bring back and no skill has brought."""
    kind: Literal["check_done"] = "check_done"


@dataclass(frozen=True, kw_only=True)
class AskedStep:
    """A step in a question."""

    version: int
    index: int
    consequence: str


@dataclass(frozen=True, kw_only=True)
class AskPerson:
    """Put a question to a person. The decision may come as its answer, or later through the mailbox."""

    id: int
    about: About
    steps: tuple[AskedStep, ...]
    expires_at: float
    changed_from: str = ""
    detail: str = ""
    earlier: tuple[Earlier, ...] = ()
    repeats: int = 0
    """Of `repeat`: the command that sent what it looks like."""
    kind: Literal["ask_person"] = "ask_person"


@dataclass(frozen=True, kw_only=True)
class Wait:
    """Let time pass."""

    id: int
    seconds: float
    kind: Literal["wait"] = "wait"


@dataclass(frozen=True, kw_only=True)
class Record:
    """Write down what has happened so far; a long wait begins."""

    id: int
    kind: Literal["record"] = "record"


@dataclass(frozen=True, kw_only=True)
class Finish:
    """Write the result and let go of the world."""

    id: int
    reason: FinalReason
    detail: str
    verified: bool
    told: tuple[Told, ...] = ()
    data: Pairs = ()
    """What was read for the task's output."""
    kind: Literal["finish"] = "finish"


Command: TypeAlias = Annotated[
    OpenWorld
    | Observe
    | MakePlan
    | Advise
    | Act
    | Verify
    | PlanTry
    | JudgeCloseness
    | PlanRevert
    | CheckDone
    | AskPerson
    | Wait
    | Record
    | Finish,
    Discriminator("kind"),
]
