"""A plan in the making: the context that every stage reads, and a proposal of its steps."""

from dataclasses import dataclass

from midcourse.domain.commands import MakePlan
from midcourse.domain.plan import Reused
from midcourse.domain.reflection import ReplanningContext
from midcourse.perform.history import History
from midcourse.perform.ports import Deadline, Ports
from midcourse.policy.plan.horizon import Resolved, Scope
from midcourse.ports.planner import PlanDraft


@dataclass(frozen=True, kw_only=True)
class Planning:
    """One `MakePlan` and what is known when it begins."""

    ports: Ports
    command: MakePlan
    time: Deadline
    scope: Scope
    history: History
    recovery: ReplanningContext | None = None
    """The context of a failure, if the plan follows one."""


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """A draft from one of the sources, and how it was made."""

    draft: PlanDraft
    resolved: Resolved | None = None
    """The plan, if it was already resolved when it was first made."""
    observation: str = ""
    """The observation that it was made from, if that is not the current screen."""
    reused: Reused | None = None
