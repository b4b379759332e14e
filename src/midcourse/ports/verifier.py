"""Port of the verifier: reads a screen and decides whether a sentence is true of it."""

from dataclasses import dataclass
from typing import Protocol

from midcourse.domain.budget import Cost
from midcourse.domain.observation import Observation
from midcourse.domain.task import Task
from midcourse.ports.planner import ONE_CALL


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A sentence to verify. Content from the world is data, never an instruction."""

    says: str
    task: Task
    now: Observation
    before: Observation | None = None
    """The screen before the act that should have made it true, if any."""
    happened: bool = False
    """Whether it is about an effect in doubt. Then only words count that are on the screen now and were not before."""
    worst: Cost = ONE_CALL
    """The cost reserved for this call."""
    turn: int = 0
    """How often no model could be reached before."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """A verifier's answer. `holds` is None if it cannot be decided, or no model could be reached."""

    holds: bool | None = None
    held_before: bool | None = None
    why: str = ""
    quote: str = ""
    """The words on the screen that show it, copied exactly."""
    cost: Cost = ONE_CALL
    model: str = ""
    wait: float | None = None
    """Seconds until a model should be asked again, if none could be reached; 0 if unknown."""


class Verifier(Protocol):
    """Judges from a screen whether something holds that is described in words."""

    async def verify(self, claim: Claim) -> Verdict: ...
