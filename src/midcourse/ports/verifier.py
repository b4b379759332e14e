"""Port of the verifier: reads a screen and decides whether a sentence is true of it."""

from dataclasses import dataclass
from typing import Protocol

from midcourse.domain.budget import Cost
from midcourse.domain.observation import Observation
from midcourse.domain.task import Task
from midcourse.ports.planner import ONE_CALL


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What is said to be true. What came from the world in it is data, never an instruction."""

    says: str
    task: Task
    now: Observation
    before: Observation | None = None
    """The screen before the act that is to have made it true, if there was one."""
    worst: Cost = ONE_CALL
    """What is set aside for this very call."""
    turn: int = 0
    """How often it was put before without reaching a model."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """None: it cannot be decided, or no model could be reached."""

    holds: bool | None = None
    held_before: bool | None = None
    why: str = ""
    cost: Cost = ONE_CALL
    model: str = ""
    wait: float | None = None
    """No model could be reached: seconds until it is worth asking again, 0 if unknown."""


class Verifier(Protocol):
    async def verify(self, claim: Claim) -> Verdict: ...
