"""A plan in the making: the context that every stage reads, and the interface of what can propose its steps."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from midcourse.domain.command import MakePlan
from midcourse.domain.plan import Reused
from midcourse.domain.reflection import ReplanningContext
from midcourse.perform.history import History
from midcourse.perform.ports import Allowance, Ports
from midcourse.policy.plan.horizon import Resolved, Scope
from midcourse.ports.planner import PlanDraft


@dataclass(frozen=True, kw_only=True)
class Planning:
    """One `MakePlan` and what is known when it begins."""

    ports: Ports
    command: MakePlan
    time: Allowance
    scope: Scope
    history: History
    recovery: ReplanningContext | None = None
    """After a failure."""


@dataclass(frozen=True, kw_only=True)
class Proposal:
    draft: PlanDraft
    resolved: Resolved | None = None
    """Of a plan that needs no resolving, since it was resolved when it was first made."""
    observation: str = ""
    """What it was made from, if that is not the present screen."""
    reused: Reused | None = None


Source: TypeAlias = Callable[[Planning], Awaitable[Proposal | None]]
"""Proposes steps, or None: the next source is asked."""
