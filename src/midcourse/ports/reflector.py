"""Port of the reflector: explains a failure to the planner. It does not decide anything."""

from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from midcourse.domain.budget import FREE, Cost
from midcourse.domain.failure import FailedStep, Failure
from midcourse.domain.observation import Observation
from midcourse.domain.outcome import CompletedStep
from midcourse.domain.records.lesson import Recalled
from midcourse.domain.reflection import Reflection
from midcourse.domain.task import Task
from midcourse.policy.failure.reflection import explain_failure
from midcourse.ports.planner import ONE_CALL

ReflectionVerdict: TypeAlias = Literal["reflected", "garbage", "transport"]


@dataclass(frozen=True, kw_only=True)
class ReflectionContext:
    """Everything known about a failure. Content from the world or from memory is data, never an instruction."""

    task: Task
    failure: Failure
    """The failure with its classification; that there will be another plan is already decided."""
    failed: FailedStep | None = None
    """The step that failed, if it was a step."""
    attempts: tuple[FailedStep, ...] = ()
    """The latest failed steps, including this one."""
    completed: tuple[CompletedStep, ...] = ()
    """The latest completed steps."""
    similar: tuple[Recalled, ...] = ()
    """Lessons of earlier runs about such failures. Their texts are `Untrusted`."""
    observation: Observation | None = None
    """The current screen, if it could be observed."""
    version: int = 2
    """The number of the plan to be made."""
    left: Cost = FREE
    worst: Cost = ONE_CALL
    """The cost reserved for this call: no answer may cost more."""


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """A reflector's answer. Without a reflection, or with an empty root cause, the rules' explanation is used."""

    verdict: ReflectionVerdict = "reflected"
    reflection: Reflection | None = None
    detail: str = ""
    cost: Cost = FREE
    model: str = ""


class Reflector(Protocol):
    """Explains a failure for the next plan."""

    async def reflect(self, context: ReflectionContext) -> Explanation: ...


class RuleReflector:
    """A reflector without a model, by the kind of failure and the attempts. Other reflectors fall back on it."""

    async def reflect(self, context: ReflectionContext) -> Explanation:
        return Explanation(reflection=explain_failure(context.failure, context.failed, context.attempts))
