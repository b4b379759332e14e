"""Commands: what the director wants done. Each has an id that its answer refers to."""

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from pydantic import Discriminator

from midcourse.domain.approval import About, Earlier, OutcomeAnswer
from midcourse.domain.argument import Pairs
from midcourse.domain.budget import FREE, Cost
from midcourse.domain.detour import Option, Strategy, Tried
from midcourse.domain.failure import Failure
from midcourse.domain.fields import stored_as, stored_if_set
from midcourse.domain.monitor import Advice
from midcourse.domain.moves import Adviser, FinalReason
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
    """Observe the world."""

    id: int
    timeout: float
    free: bool = False
    """Whether it is not charged to the budget, as the first observation of a run."""
    settle: bool = False
    """Whether to wait until the screen has settled, because something that is needed may still be loading."""
    kind: Literal["observe"] = "observe"


@dataclass(frozen=True, kw_only=True)
class MakePlan:
    """Ask the planner for a segment from this observation, resolve it, and store it as this version."""

    id: int
    timeout: float
    version: int
    cause: Cause
    why: str
    seen: str
    """The observation to plan from."""
    parent: int = 0
    """The plan that it replaces, if that is not the previous version: tries of a detour may be in between."""
    stale: bool = False
    refused: str = ""
    """Why the planner's previous answer to the same question was refused."""
    guidance: tuple[str, ...] = ()
    outcome_answers: Annotated[tuple[OutcomeAnswer, ...], stored_as("told")] = ()
    left: Cost = FREE
    wrap_up: bool = False
    beyond: bool = False
    """Whether the plan may contain steps on screens that were not observed yet."""
    turn: int = 0
    """How often the planner could not be reached for this plan."""
    failure: Failure | None = None
    """The failure that the plan is to recover from."""
    amends: Amendment | None = None
    """Changes by a person to the current plan, made without asking the planner."""
    outline: Outline | None = None
    """The outline suggested to the planner."""
    advice: Advice | None = None
    """What a monitor found wrong with the path so far."""
    objected: int = 0
    """The command that made the plan that the monitor objected to, if this one is to replace it. From format 4."""
    reflection: Reflection | None = None
    """A reflector's explanation of the failure; without it, rules explain it."""
    note: str = ""
    """What the previous plan noted for this one."""
    kind: Literal["make_plan"] = "make_plan"


@dataclass(frozen=True, kw_only=True)
class Advise:
    """Ask an adviser, before a plan is made or begun. Each role reads the fields that it needs."""

    id: int
    timeout: float
    role: Adviser
    seen: str = ""
    """The observation to advise from; empty only for a reflector if there is none."""
    left: Cost = FREE
    outline: Outline | None = None
    """For a judge or monitor: the current outline. For an outliner: the outline to rewrite, if any."""
    version: int = 0
    """For a reflector: the plan to be made. For a monitor: the proposed plan, or 0 to review only the path."""
    made_by: int = 0
    """For a monitor: the command that made the proposed plan."""
    since: int = 0
    """For a monitor: the first command to review. Earlier advice covers the commands before it."""
    failure: Failure | None = None
    outcome_answers: Annotated[tuple[OutcomeAnswer, ...], stored_as("told")] = ()
    guidance: tuple[str, ...] = ()
    advice: Advice | None = None
    """For an outliner: what a monitor found wrong with the path."""
    kind: Literal["advise"] = "advise"


@dataclass(frozen=True, kw_only=True)
class Act:
    """Check, dispatch, act, settle, observe and verify one step of a stored plan."""

    id: int
    timeout: float
    version: int
    index: int
    seen: str
    """The observation that the step relies on."""
    made_by: int = 0
    """The command that made the plan, since a version may be drafted twice and only one is adopted."""
    consequence: str = ""
    """The only consequence that may be dispatched, for a step that binds one; any other is held and reported."""
    effect: Effect | None = None
    """The effect that was found when the step was tried, which overrides the skill's. None in older journals."""
    look: bool = True
    found: str = ""
    """The zone where a detour found the target; `__reach__`: the step's condition holds already, so nothing is sent."""
    weighed: tuple[int, ...] = ()
    """Earlier commands that it is known to resemble. If it resembles another one, it is held and reported."""
    believe_claim: bool = True
    """Whether the world is believed if it says that it sent nothing. False after it said so wrongly."""
    guessed: bool = False
    """Whether a planner may have guessed what the step leads to, so that it need not have failed where something else is shown, and
    what the plan does not say that it sends need not be asked about."""
    leaves: Annotated[tuple[str, ...], stored_if_set()] = ()
    """If it was tried and held: the kinds of requests that it leaves waiting, to count as carried out without them."""
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
    """Whether a probe that does not find the effect is believed. False after the first time for the same effect."""
    free: bool = False
    """Whether no model is asked and nothing is charged: a person is being asked, or has answered."""
    question: int = 0
    """The open question that is withdrawn if this decides it; 0 if none."""
    reads: bool = False
    """Whether a model compares the screens before and after the act if the rules decide nothing. Once for each doubt."""
    kind: Literal["verify"] = "verify"


@dataclass(frozen=True, kw_only=True)
class PlanTry:
    """Ask the detour planner for one act, resolve it, and store it with the observation after it as this version."""

    id: int
    timeout: float
    version: int
    goal: tuple[int, int]
    """Version and index of the step that the detour is for."""
    label: str
    """The label of the state that the try will lead to."""
    seen: str
    closeness: float = 0.0
    """The closeness of the current state."""
    tries: tuple[Tried, ...] = ()
    """All tries so far. The step of each is found by its version."""
    hint: Option | None = None
    undo: int = 0
    """Version of the try to revert; 0 for a try towards the goal."""
    refused: str = ""
    """Why the previous draft was refused before it was tried."""
    guidance: tuple[str, ...] = ()
    left: Cost = FREE
    turn: int = 0
    kind: Literal["plan_try"] = "plan_try"


@dataclass(frozen=True, kw_only=True)
class JudgeCloseness:
    """Judge whether the goal of a detour is reached, and if not, how close it is."""

    id: int
    timeout: float
    goal: tuple[int, int]
    seen: str
    turn: int = 0
    kind: Literal["judge_closeness"] = "judge_closeness"


@dataclass(frozen=True, kw_only=True)
class PlanRevert:
    """Plan without a model how to revert a try, and store that as this version."""

    id: int
    timeout: float
    version: int
    undo: int
    """Version of the try to revert."""
    label: str
    before: str
    """The observation to return to."""
    seen: str
    tried: tuple[Strategy, ...] = ()
    kind: Literal["plan_revert"] = "plan_revert"


@dataclass(frozen=True, kw_only=True)
class CheckDone:
    """Check the task's `done_when` against the current state of the world."""

    id: int
    timeout: float
    seen: str
    look: bool = False
    """Whether to observe first, because the last observation is stale."""
    turn: int = 0
    """How often the verifier's model could not be reached for this check."""
    extract: bool = False
    """Whether to read the parts of the task's output from the screen that no skill has returned."""
    kind: Literal["check_done"] = "check_done"


@dataclass(frozen=True, kw_only=True)
class AskedStep:
    """A step in a question."""

    version: int
    index: int
    consequence: str


@dataclass(frozen=True, kw_only=True)
class AskPerson:
    """Ask a person. The decision may come as the answer, or later through the mailbox."""

    id: int
    about: About
    steps: tuple[AskedStep, ...]
    expires_at: float
    changed_from: str = ""
    detail: str = ""
    earlier: tuple[Earlier, ...] = ()
    repeats: int = 0
    """For `repeat`: the earlier command that it resembles."""
    doubted: int = 0
    """For `happened`: the command whose outcome is unknown. 0 in runs of earlier formats."""
    seen: str = ""
    """For `happened`: the last observation."""
    contradicts: bool = False
    """For `happened`: whether evidence contradicts an earlier answer of a person."""
    more: Annotated[Cost | None, stored_if_set()] = None
    """For `more`: what the run would spend beyond its ceiling."""
    kind: Literal["ask_person"] = "ask_person"


@dataclass(frozen=True, kw_only=True)
class Wait:
    """Wait for this number of seconds."""

    id: int
    seconds: float
    kind: Literal["wait"] = "wait"


@dataclass(frozen=True, kw_only=True)
class Record:
    """Save the events so far before a long wait."""

    id: int
    kind: Literal["record"] = "record"


@dataclass(frozen=True, kw_only=True)
class Finish:
    """Save the result and close the world."""

    id: int
    reason: FinalReason
    detail: str
    verified: bool
    outcome_answers: Annotated[tuple[OutcomeAnswer, ...], stored_as("told")] = ()
    data: Pairs = ()
    """Values that were read for the task's output."""
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
