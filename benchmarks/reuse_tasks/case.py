"""One of the twenty tasks: its inputs, application and planner, and what the application must record."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Protocol

from midcourse.domain.argument import Argument, Pairs, Reference
from midcourse.domain.plan import Draft
from midcourse.domain.task import Task
from midcourse.ports.approver import Approver
from midcourse.ports.clock import Clock
from midcourse.ports.planner import PlanDraft, Planner, PlanningContext
from midcourse.ports.world import World


@dataclass(frozen=True, kw_only=True)
class Stage:
    """Everything that one run needs of its application."""

    world: World
    planner: Planner
    approver: Approver
    clock: Clock
    secrets: Mapping[str, str]


class Started(Protocol):
    """An application that is up, at an address that stays the same from run to run."""

    def stage(self, inputs: Pairs, *, seed: int | None = None, fresh: bool = True) -> Stage:
        """For the next run: with the trouble of this seed, or none; as it was at first, or with what runs before left there."""
        ...

    def records(self) -> list[Mapping[str, object]]:
        """What the application recorded since the run began: the values of each effect."""
        ...


class Case(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def inputs(self) -> tuple[Pairs, Pairs]:
        """Two sets that have no value in common."""
        ...

    def task(self, inputs: Pairs) -> Task: ...

    def only_ours(self, inputs: Pairs) -> Pairs:
        """Inputs that only the run provides; other recorded values are the application's."""
        ...

    def wanted(self, inputs: Pairs) -> list[Mapping[str, object]]:
        """What the application must have recorded in the end, and nothing else."""
        ...

    def start(self) -> AbstractContextManager[Started]: ...


class Counted:
    """Stands for a model: every call is counted.

    Some models write the values of inputs out, others refer to them. `refers`: as the latter do.
    """

    def __init__(self, planner: Planner, *, refers: bool) -> None:
        self._planner = planner
        self._refers = refers
        self.calls = 0

    async def plan(self, context: PlanningContext) -> PlanDraft:
        self.calls += 1
        answer = await self._planner.plan(context)
        inputs = context.task.inputs
        return replace(answer, steps=tuple(self._written(step, inputs) for step in answer.steps))

    def _written(self, step: Draft, inputs: Pairs) -> Draft:
        return replace(step, arguments=tuple((name, self._argument(value, inputs)) for name, value in step.arguments))

    def _argument(self, value: Argument, inputs: Pairs) -> Argument:
        if isinstance(value, Reference):
            return value if self._refers or value.source != "input" else dict(inputs)[value.name]
        names = [name for name, own in inputs if (type(own), own) == (type(value), value)]
        return Reference(source="input", name=names[0]) if self._refers and names else value
