"""Runs: rows of the list, the whole view of one, and what starts one."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from midcourse.app.desk.desk import RunState
from midcourse.app.presentation.status import StepStatus
from midcourse.domain.argument import Scalar
from midcourse.domain.budget import Limits, Spent
from midcourse.domain.observation import ObservationRef
from midcourse.domain.plan import Cause
from midcourse.domain.result import BudgetUsed, Result
from midcourse.policy.task_state import TaskState
from midcourse.server.models.base import Model, RunId

Action: TypeAlias = Literal["pause", "resume", "cancel", "guide", "take_over", "decide", "fork"]


class RunRow(Model):
    """A run in the list."""

    id: str
    goal: str
    task: str
    """The name of the task; empty for a run that a program started."""
    key: str
    """The business key, or empty."""
    world: str
    state: RunState
    phase: str
    final_reason: str
    """Empty until it has ended."""
    verified: bool | None
    """Whether `done_when` was verified; None until it has ended."""
    began_at: float
    """Seconds since 1970; 0 if it has not begun."""
    updated_at: float
    ended_at: float | None
    waiting_since: float | None
    """When the open question was asked."""
    calls: int
    cost_usd: float
    sentence: str
    """What it does, waits for, or came to, in one sentence."""


class RunPage(Model):
    runs: tuple[RunRow, ...]
    next: str | None
    """Pass it as `after` for the following page; None: this is the last."""
    counts: dict[RunState, int]
    """All runs by state."""


class StepView(Model):
    index: int
    says: str
    """The step in words."""
    call: str
    """Skill and target."""
    skill: str
    zone: str
    effect: str
    status: StepStatus
    look_again: bool
    """Whether the world is observed here and the rest planned."""


class PlanView(Model):
    """The current plan."""

    version: int
    cause: Cause
    reason: str
    """Why it was made, in words."""
    cursor: int
    observation: str
    steps: tuple[StepView, ...]


class Verdict(Model):
    """The result in words."""

    headline: str
    counts: str
    advice: str
    """What to do next, as command lines."""


class RunView(RunRow):
    """Everything about one run except its journal."""

    by: str
    """Who started it."""
    task_state: TaskState
    status: str
    """What it waits for, in words."""
    seq: int
    """The number of its latest event."""
    wish: Literal["go", "pause", "cancel"]
    plan: PlanView | None
    plans: tuple[int, ...]
    """All plan versions."""
    seen: ObservationRef | None
    """What was observed last."""
    question: int | None
    """The open question."""
    guidance: tuple[str, ...]
    limits: Limits
    budget: BudgetUsed
    spent: tuple[Spent, ...]
    """Costs by role, plan and model."""
    result: Result | None
    verdict: Verdict | None
    forked_from: str | None
    pruned_at: float | None
    """When its journal, plans, observations and files were deleted; null: they are there."""
    durable: bool
    why_not_driven: str
    """Why nothing drives it, and what continues it; empty if something does."""
    taken_over_by: str
    """Who acts in its world through this server; empty if no caller does."""
    may: tuple[Action, ...]
    """What the caller may do now."""


class StartRun(Model):
    """A task by the name under which the server knows it, or as text, which only administrators may send."""

    task: Annotated[str, Field(max_length=80)] = ""
    text: Annotated[str, Field(max_length=200_000)] = ""
    inputs: dict[str, Scalar] = Field(default_factory=dict[str, Scalar], max_length=200)
    settings: dict[str, Scalar] = Field(default_factory=dict[str, Scalar], max_length=100)
    run_id: RunId | None = None
    again: bool = False
    """Start although an earlier run under the same business key failed and may have done it."""


class RunStarted(Model):
    run: str
    earlier: bool
    """Whether an earlier run was found, by its business key or the idempotency key."""


class TaskRow(Model):
    """A task that can be started by its name."""

    name: str
    goal: str
    world: str
    inputs: dict[str, Scalar]
    secrets: tuple[str, ...]
