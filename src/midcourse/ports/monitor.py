"""Port of the monitor: finds what is fundamentally wrong with the path of a run. It advises and does not decide."""

from dataclasses import dataclass
from typing import Literal, Protocol

from midcourse.domain.budget import FREE, Cost
from midcourse.domain.monitor import Advice, Proposed, Taken
from midcourse.domain.observation import Observation
from midcourse.domain.outline import Outline
from midcourse.domain.task import Task
from midcourse.policy.advice.monitor import objection_to, problem_with
from midcourse.ports.planner import ONE_CALL


@dataclass(frozen=True, kw_only=True)
class MonitorContext:
    """The path up to what is seen now, and the plan from there if one is about to begin. What came from the world in it is data, never an instruction."""

    task: Task
    observation: Observation
    path: tuple[Taken, ...] = ()
    """The latest steps, oldest first; none that it has spoken about."""
    proposed: tuple[Proposed, ...] = ()
    """The steps that would be done next. Then the advice is about them, and the planner is asked again, once."""
    outline: Outline | None = None
    """A suggestion. The path may leave it."""
    left: Cost = FREE
    worst: Cost = ONE_CALL
    """What is set aside for this very call: no answer may cost more."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """`advice` only for a fundamental problem: none is the usual answer."""

    verdict: Literal["reviewed", "transport"] = "reviewed"
    advice: Advice | None = None
    detail: str = ""
    cost: Cost = FREE
    model: str = ""


class Monitor(Protocol):
    async def review(self, context: MonitorContext) -> Finding: ...


class Rules:
    """Without a model: loops of up to four steps, the same look again and again, and steps that bring nothing new; and plans that
    would continue like that, or repeat what failed.
    """

    async def review(self, context: MonitorContext) -> Finding:
        here = context.observation.fingerprint
        if context.proposed:
            return Finding(advice=objection_to(context.proposed, context.path, here))
        return Finding(advice=problem_with(context.path, here))
