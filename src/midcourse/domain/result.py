"""The result of a run, with the evidence for it."""

from dataclasses import dataclass

from midcourse.domain.argument import Pairs
from midcourse.domain.budget import Cost, Spent
from midcourse.domain.failure import FailedStep
from midcourse.domain.move import FinalReason
from midcourse.domain.outcome import CompletedStep
from midcourse.domain.records.audit import Head

SUCCESSES: tuple[FinalReason, ...] = ("goal_reached", "plan_complete")
"""The reasons that mean success; the second is the plan's word only."""


@dataclass(frozen=True, kw_only=True)
class BudgetUsed:
    calls: int
    max_calls: int
    segments: int
    max_segments: int
    replans: int
    max_replans: int
    error_replans: int
    max_error_replans: int
    tokens: int
    max_tokens: int | None
    cost_usd: float
    max_cost_usd: float | None
    wall_seconds: float
    max_wall_seconds: float
    overrun: Cost


@dataclass(frozen=True, kw_only=True)
class Result:
    run: str
    goal: str
    success: bool
    verified: bool
    """Whether `done_when` was seen to be satisfied. Success without it is the plan's word only."""
    final_reason: FinalReason
    final_detail: str
    replans: int
    """How often the run went back to planning: extensions after a transition, and all others."""
    extensions: int
    steps: int
    executions: int
    planner_calls: int
    wall_seconds: float
    completed: tuple[CompletedStep, ...]
    attempts: tuple[FailedStep, ...]
    budget: BudgetUsed
    spent: tuple[Spent, ...] = ()
    """What it cost, by role, plan and model."""
    data: Pairs = ()
    missing: tuple[str, ...] = ()
    """Fields of the task's output that nothing brought back."""
    audit: Head | None = None
    """The last row of the audit log when the run ended. It reveals a log that was cut off or rewritten."""
    reused: int = 0
    """How often what had worked before was done again without asking the planner."""
