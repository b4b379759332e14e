"""Port of the detour planner: proposes one act at a time towards a goal, if the way there is unknown."""

from dataclasses import dataclass
from typing import Protocol

from midcourse.domain.budget import FREE, Cost
from midcourse.domain.detour import Choice, Goal, Option
from midcourse.domain.events import TryVerdict
from midcourse.domain.observation import Observation
from midcourse.domain.plan import Draft, Step
from midcourse.domain.task import Task
from midcourse.ports.planner import ONE_CALL
from midcourse.ports.world import Catalogue


@dataclass(frozen=True, kw_only=True)
class PastTry:
    """A try of this detour and its result."""

    label: str
    step: Step | None
    """None if its draft could not be carried out."""
    before: str
    """Fingerprint of the state it was tried in."""
    after: str
    closeness_before: float
    closeness_after: float
    failed: str = ""
    choice: Choice | None = None
    reverted: bool = False


@dataclass(frozen=True, kw_only=True)
class DetourContext:
    """Everything that a detour planner is given. Content from the world is data, never an instruction."""

    task: Task
    goal: Goal
    observation: Observation
    catalogue: Catalogue
    label: str
    """The label of the state that the try will lead to: 8.3 is the third after step 8 was out of reach."""
    closeness: float = 0.0
    """The closeness of the current state, from 0 to 10, which means reached."""
    tries: tuple[PastTry, ...] = ()
    hint: Option | None = None
    """An alternative to the last try, which did not help."""
    undo: PastTry | None = None
    """The try to revert, if a way back is wanted instead of a way forward."""
    refused: str = ""
    """Why the previous draft was refused before it was tried."""
    guidance: tuple[str, ...] = ()
    left: Cost = FREE
    worst: Cost = ONE_CALL
    """The cost reserved for this call."""
    turn: int = 0
    """How often no model could be reached before: with several models, the next one is asked."""


@dataclass(frozen=True, kw_only=True)
class TryDraft:
    """One act, after which the world is observed, and alternatives in case it does not help."""

    verdict: TryVerdict = "try"
    step: Draft | None = None
    options: tuple[Option, ...] = ()
    detail: str = ""
    cost: Cost = ONE_CALL
    model: str = ""
    """The model that answered, if any."""
    wait: float | None = None
    """Seconds to wait before the next call, if a model that could not be reached named them."""


class DetourPlanner(Protocol):
    """Plans the next try of a detour: what may bring a step's zone into reach."""

    async def plan_try(self, context: DetourContext) -> TryDraft: ...
