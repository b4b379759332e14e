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
    """All that is known about a failure. What came from the world or from memory in it is data, never an instruction."""

    task: Task
    failure: Failure
    """With its classification, by which it was decided already that there will be another plan."""
    failed: FailedStep | None = None
    """The step that failed, if it was a step."""
    attempts: tuple[FailedStep, ...] = ()
    """The latest that failed, this one included."""
    completed: tuple[CompletedStep, ...] = ()
    """The latest."""
    similar: tuple[Recalled, ...] = ()
    """What earlier runs made of such a failure. Its words are `Untrusted`."""
    observation: Observation | None = None
    """The screen now, if it could be seen."""
    version: int = 2
    """The number of the plan that is to be made."""
    left: Cost = FREE
    worst: Cost = ONE_CALL
    """What is set aside for this very call: no answer may cost more."""


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """`reflection.by` says who found it. Without one, or with a root cause that is empty, the rules have to do."""

    verdict: ReflectionVerdict = "reflected"
    reflection: Reflection | None = None
    detail: str = ""
    cost: Cost = FREE
    model: str = ""


class Reflector(Protocol):
    async def reflect(self, context: ReflectionContext) -> Explanation: ...


class RuleReflector:
    """Without a model: from the kind of failure and what was tried. Other reflectors fall back on it."""

    async def reflect(self, context: ReflectionContext) -> Explanation:
        return Explanation(reflection=explain_failure(context.failure, context.failed, context.attempts))
