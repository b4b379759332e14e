"""Port of the extractor: reads the output of a task from screens."""

from dataclasses import dataclass
from typing import Protocol

from midcourse.domain.argument import Pairs
from midcourse.domain.budget import Cost
from midcourse.domain.observation import Observation
from midcourse.domain.skill import Parameter
from midcourse.domain.task import Task
from midcourse.ports.planner import ONE_CALL


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """The fields that an extractor is asked for, and the screens to find them on."""

    task: Task
    fields: tuple[Parameter, ...]
    """The fields that no skill has returned."""
    screens: tuple[Observation, ...]
    """Observations of the run, the latest first."""
    worst: Cost = ONE_CALL
    """The cost reserved for this call."""
    turn: int = 0


@dataclass(frozen=True, kw_only=True)
class Extract:
    """What an extractor found, by name, or why it found nothing."""

    data: Pairs = ()
    why: str = ""
    cost: Cost = ONE_CALL
    model: str = ""
    wait: float | None = None
    """Seconds until a model should be asked again, if none could be reached; 0 if unknown."""


class Extractor(Protocol):
    """Reads the data that a task asks for from what the run has seen."""

    async def extract(self, wanted: Wanted) -> Extract: ...
