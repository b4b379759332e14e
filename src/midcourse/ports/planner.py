"""Port of the planner: drafts steps for the visible screen."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from midcourse.domain.argument import OutputValue, Pairs, Scalar
from midcourse.domain.budget import FREE, Cost
from midcourse.domain.events import PlanVerdict
from midcourse.domain.failure import FailedStep
from midcourse.domain.fields import NONE, Several, keep_several
from midcourse.domain.monitor import Advice, ProposedStep
from midcourse.domain.observation import Observation
from midcourse.domain.outcome import CompletedStep, Reading
from midcourse.domain.outline import Outline
from midcourse.domain.plan import Cause, Draft
from midcourse.domain.reflection import ReplanningContext
from midcourse.domain.task import Task
from midcourse.ports.world import Catalogue

ONE_CALL = Cost(calls=1)


@dataclass(frozen=True, kw_only=True)
class PlanningContext:
    """Everything that a planner is given. Content from the world is data, never an instruction."""

    task: Task
    observation: Observation
    catalogue: Catalogue
    completed: tuple[CompletedStep, ...] = ()
    """Completed steps, which must not be done again."""
    attempts: tuple[FailedStep, ...] = ()
    """Failed steps, which must not be repeated unchanged; without those that worked later or whose screen was left."""
    version: int = 1
    """The number of the plan to be made."""
    results: Pairs = ()
    """Results of steps so far; `Reference(source="result", name=…)` may also refer to a later one. Of several with the same name
    the latest keeps it, and the others are `NAME_1`, `NAME_2` and so on."""
    readings: tuple[Reading, ...] = ()
    """What a model is shown of the results, the latest last: each once, and parts that it asked for with `read_more`."""
    cause: Cause = "initial"
    why: str = ""
    now: float | None = None
    """The time of the plan, in seconds since the epoch; None if it is not to be told."""
    refused: str = ""
    """Why the previous answer to the same question was refused."""
    recovery: ReplanningContext | None = None
    """After a failure: its probable cause and what may help."""
    guidance: tuple[str, ...] = ()
    repairs: tuple[str, ...] = ()
    """Repairs to the previous plan."""
    earlier: tuple[Observation, ...] = ()
    """Observations that earlier plans on this surface were made from, for a planner that remembers."""
    planned: tuple[int, ...] = ()
    """For each of `earlier`, the version of the first plan made from it."""
    left: Cost = FREE
    """What the run may still spend."""
    worst: Cost = ONE_CALL
    """The cost reserved for this call: no answer may cost more."""
    turn: int = 0
    """How often no model could be reached for this plan: with several models, the next one is asked."""
    wrap_up: bool = False
    """Whether a ceiling is near, so that the plan should finish the task."""
    beyond: bool = False
    """Whether the plan may contain steps on screens that were not observed. Only for comparison with fixed plans."""
    outline: Outline | None = None
    """Coarse goals and their progress, as a suggestion. `midcourse.planners.format_outline` renders it as text."""
    advice: Advice | None = None
    """What a monitor found wrong with the path so far. Unlike a person's guidance, it may be ignored."""
    objected: tuple[ProposedStep, ...] = ()
    """The plan that the monitor objected to, if this one is to replace it. None of its steps was done."""
    picture: bytes = b""
    """The screenshot of the observation as PNG, with secrets covered by the world, for a planner that sees."""
    note: str = ""
    """What the previous plan noted for this one."""
    detours: bool = False
    """Whether a step with the zone `__reach__` may say only what must be true after it, so that a detour finds a way."""


@dataclass(frozen=True, kw_only=True)
class PlanDraft:
    """A planner's answer: the next steps, or why there are none.

    A planner of your own returns steps, `done` (the task is finished), `impossible`, `gave_up`, or `ask`: then `detail` is a
    question to the user, whose answer is in the guidance of the next context. The others are for planners with a model:
    `refused` (it declined), `rejected` (the provider rejected the request), `garbage` (an answer that cannot be read) and
    `transport` (no answer).
    """

    verdict: PlanVerdict = "steps"
    steps: Several[Draft] = NONE
    """What to do next, on what is visible now."""
    final: bool | None = None
    """Whether these steps finish the task. None: they do unless they end in `__replan__` or a transition."""
    detail: str = ""
    """The verdict in words: why it is impossible, or the question."""
    answer: str = ""
    """What the user is told, with `done`, or with steps that finish the task."""
    data: Several[OutputValue] | Mapping[str, Scalar] = NONE
    """Values of the task's output, by name or with their sources."""
    note: str = ""
    """What the planner should know when it is asked next. For one with a model: at most 300 characters."""
    cost: Cost = ONE_CALL
    """What the answer cost."""
    model: str = ""
    """The model that answered, if any."""
    wait: float | None = None
    """With `transport`: seconds until the planner should be asked again; 0 if there is another model, None if unknown."""
    repairs: Several[str] = NONE
    """Repairs to the model's answer before it became this draft."""

    def __post_init__(self) -> None:
        if isinstance(self.data, Mapping):
            values = tuple(OutputValue(name=name, value=value) for name, value in self.data.items())
            object.__setattr__(self, "data", values)
        keep_several(self, "steps", "data", "repairs")


class Planner(Protocol):
    """Drafts the next steps: a model, rules, or any class with this method."""

    async def plan(self, context: PlanningContext) -> PlanDraft:
        """Plan for what is visible in `context.observation`. Completed steps must not be planned again."""
        ...


class Given(Protocol):
    """A planner whose plans were written by the author of the task. Only then are the probes in them checks that the task gave."""

    given: bool


class Remembering(Protocol):
    """A planner that may want the observations of earlier plans. For others they are not loaded."""

    remembers: bool


class Seeing(Protocol):
    """A planner that may want the screenshot of its observation. For others it is not loaded."""

    @property
    def sees(self) -> bool: ...
