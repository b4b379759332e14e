"""Port of the planner: drafts steps for the visible screen."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from midcourse.domain.argument import Pairs
from midcourse.domain.budget import FREE, Cost
from midcourse.domain.event import PlanVerdict
from midcourse.domain.failure import FailedStep
from midcourse.domain.fields import NONE, Several, keep_several
from midcourse.domain.monitor import Advice
from midcourse.domain.observation import Observation
from midcourse.domain.outcome import CompletedStep
from midcourse.domain.outline import Outline
from midcourse.domain.plan import Cause, Draft
from midcourse.domain.reflection import ReplanningContext
from midcourse.domain.task import Task
from midcourse.ports.world import Catalogue

ONE_CALL = Cost(calls=1)


@dataclass(frozen=True, kw_only=True)
class PlanningContext:
    """All that a planner is told. What came from the world in it is data, never an instruction."""

    task: Task
    observation: Observation
    catalogue: Catalogue
    completed: tuple[CompletedStep, ...] = ()
    """Not to be done again."""
    attempts: tuple[FailedStep, ...] = ()
    """Not to be repeated unchanged."""
    version: int = 1
    """The number of the plan that is to be made."""
    results: Pairs = ()
    """What steps have brought back so far; `Reference(source="result", name=…)` stands for one that is yet to come, too."""
    cause: Cause = "initial"
    why: str = ""
    refused: str = ""
    """Why the previous answer to this very question was turned down."""
    recovery: ReplanningContext | None = None
    """After a failure: its probable cause, and what may help."""
    guidance: tuple[str, ...] = ()
    mended: tuple[str, ...] = ()
    """What had to be put right in the plan before this one."""
    earlier: tuple[Observation, ...] = ()
    """What earlier plans on this surface were made from, for a planner that remembers."""
    planned: tuple[int, ...] = ()
    """For each of `earlier` the version of the first plan that was made from it."""
    left: Cost = FREE
    """What the run may still spend."""
    worst: Cost = ONE_CALL
    """What is set aside for this very call: no answer may cost more."""
    turn: int = 0
    """How often this question has been put before, because no model could be reached: of several models, the next one is asked."""
    wrap_up: bool = False
    """The ceiling is near: bring the task to a good end."""
    beyond: bool = False
    """The plan may contain steps on screens that were not observed. Only for comparison with fixed plans."""
    outline: Outline | None = None
    """Coarse goals and how far they are: a suggestion. `midcourse.policy.advice.outline.format_outline` has it in words."""
    advice: Advice | None = None
    """What a monitor found wrong with the path to here. Not a person's word: take it or leave it."""
    detours: bool = False
    """A step whose zone is `__reach__` may say only what must be true after it: a detour finds the way there."""


@dataclass(frozen=True, kw_only=True)
class PlanDraft:
    """A planner's answer. Without steps, `verdict` says why: done, impossible, gave up, refused, garbage, transport."""

    verdict: PlanVerdict = "steps"
    steps: Several[Draft] = NONE
    final: bool | None = None
    """Whether these steps finish the task; unsaid, a plan that does not end in `__replan__` or a transition does."""
    detail: str = ""
    cost: Cost = ONE_CALL
    model: str = ""
    """Who answered, if it was a model."""
    wait: float | None = None
    """With `transport`: seconds until it is worth asking again; 0 if there is another model, None if unknown."""
    repairs: Several[str] = NONE
    """Repairs to the model's answer before it became this draft."""

    def __post_init__(self) -> None:
        keep_several(self, "steps", "repairs")


class Planner(Protocol):
    async def plan(self, context: PlanningContext) -> PlanDraft: ...


@runtime_checkable
class Remembering(Protocol):
    """A planner that wants to know what earlier plans were made from. Others are spared the reading."""

    remembers: bool
