"""Runs: rows of the list, the whole view of one, and what starts one."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from midcourse.domain.argument import Scalar
from midcourse.domain.budget import Limits, Spent
from midcourse.domain.observation import ObservationRef
from midcourse.domain.plan import Cause
from midcourse.domain.records.summary import Sending
from midcourse.domain.result import BudgetUsed, Result
from midcourse.policy.task_state import TaskState
from midcourse.presentation.status import StepStatus
from midcourse.server.models.base import Model, RunId
from midcourse.tenants.runs import RunState

Action: TypeAlias = Literal["pause", "resume", "cancel", "guide", "take_over", "decide", "fork"]


class RunRow(Model):
    """A run in a list."""

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
    """Why the run ended, as one word; empty while it has not."""
    verified: bool | None
    """Whether a check or a probe found that it is done; None while the run has not ended. Success without it is only a claim."""
    sending: Sending
    """What it sent: `nothing`, only a `sign_in`, or `effects`; `call` for one call of a function. Empty while it has not ended."""
    began_at: float
    """In seconds since 1970, like all times; 0 if the run has not started."""
    updated_at: float
    ended_at: float | None
    waiting_since: float | None
    """When the open question was asked."""
    calls: int
    cost_usd: float
    sentence: str
    """One sentence: what the run is doing, what it waits for, or how it ended."""


class RunPage(Model):
    """A page of runs."""

    runs: tuple[RunRow, ...]
    next: str | None
    """Pass this as `after` to get the next page. None on the last page."""
    counts: dict[RunState, int]
    """The number of runs in each state, without any filter."""


class StepView(Model):
    """A step of the current plan."""

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
    """Whether this is not an act but a point at which the run observes the world and plans the rest."""


class PlanView(Model):
    """The current plan."""

    version: int
    cause: Cause
    reason: str
    """Why the plan was made, in words."""
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
    """The user who started the run."""
    task_state: TaskState
    status: str
    """What the run waits for, in words."""
    seq: int
    """The number of the latest event."""
    wish: Literal["go", "pause", "cancel"]
    plan: PlanView | None
    plans: tuple[int, ...]
    """The versions of all plans."""
    seen: ObservationRef | None
    """The latest observation."""
    question: int | None
    """The number of the open question, if there is one."""
    guidance: tuple[str, ...]
    limits: Limits
    budget: BudgetUsed
    spent: tuple[Spent, ...]
    """Costs by role, plan and model."""
    result: Result | None
    verdict: Verdict | None
    forked_from: str | None
    pruned_at: float | None
    """When the journal, plans, observations and files were deleted; null if they were not."""
    durable: bool
    why_not_driven: str
    """Why no process drives the run, and how to continue it; empty if one does."""
    taken_over_by: str
    """The user who has taken over the world of the run through this server, or empty."""
    may: tuple[Action, ...]
    """The actions that the caller may request now."""


class StartRun(Model):
    """The task to start: the name of a task of the server, or the text of a task file. Only administrators may send a text."""

    task: Annotated[str, Field(max_length=80)] = ""
    text: Annotated[str, Field(max_length=200_000)] = ""
    inputs: dict[str, Scalar] = Field(default_factory=dict[str, Scalar], max_length=200)
    settings: dict[str, Scalar] = Field(default_factory=dict[str, Scalar], max_length=100)
    """Settings of this run. They may be stricter than those of the task and the server; only administrators may loosen them."""
    run_id: RunId | None = None
    again: bool = False
    """Start even if an earlier run with the same business key failed and may have had effects. Needs the right to decide."""


class RunStarted(Model):
    """The run that was started or found."""

    run: str
    earlier: bool
    """Whether this is not a new run but an earlier one with the same business key or idempotency key."""


class TaskRow(Model):
    """A task that can be started by name."""

    name: str
    goal: str
    world: str
    inputs: dict[str, Scalar]
    secrets: tuple[str, ...]
    problem: str = ""
    """Why it cannot be started: what is wrong with its file. Empty if it can."""
