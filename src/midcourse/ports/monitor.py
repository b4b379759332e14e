"""Port of the monitor: finds what is fundamentally wrong with the path of a run. It advises and does not decide."""

from dataclasses import dataclass
from typing import Literal, Protocol

from midcourse.domain.budget import FREE, Cost
from midcourse.domain.monitor import Advice, ProposedStep, TakenStep
from midcourse.domain.observation import Observation
from midcourse.domain.outline import Outline
from midcourse.domain.task import Task
from midcourse.policy.advice.monitor import find_objection, find_problem
from midcourse.ports.planner import ONE_CALL


@dataclass(frozen=True, kw_only=True)
class MonitorContext:
    """The path up to now, and the plan that is about to begin, if any. Content from the world is data, never an instruction."""

    task: Task
    observation: Observation
    path: tuple[TakenStep, ...] = ()
    """The latest steps, oldest first, without those that earlier advice covers."""
    proposed: tuple[ProposedStep, ...] = ()
    """The steps that would be done next. If given, the advice is about them, and the planner is asked again once."""
    outline: Outline | None = None
    """The outline, from which the path may deviate."""
    left: Cost = FREE
    worst: Cost = ONE_CALL
    """The cost reserved for this call: no answer may cost more."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A monitor's answer. `advice` only for a fundamental problem; usually None."""

    verdict: Literal["reviewed", "transport"] = "reviewed"
    advice: Advice | None = None
    detail: str = ""
    cost: Cost = FREE
    model: str = ""


class Monitor(Protocol):
    """Reviews the path of a run, and says if it leads nowhere."""

    async def review(self, context: MonitorContext) -> Finding: ...


class Rules:
    """A monitor without a model. It finds loops of up to four steps, repeated observations and steps without anything new, and
    plans that would continue these or repeat what failed.
    """

    async def review(self, context: MonitorContext) -> Finding:
        here = context.observation.fingerprint
        if context.proposed:
            return Finding(advice=find_objection(context.proposed, context.path, here))
        return Finding(advice=find_problem(context.path, here))
