"""The result of a run, with the evidence for it."""

import json
from dataclasses import dataclass
from typing import Any

from midcourse.domain.argument import Pairs
from midcourse.domain.budget import Cost, Spent
from midcourse.domain.failure import FailedStep
from midcourse.domain.moves import FinalReason
from midcourse.domain.outcome import CompletedStep, Evidence
from midcourse.domain.records.audit import Head
from midcourse.domain.records.summary import SUCCESSES as SUCCESSES
from midcourse.domain.records.summary import Sending


@dataclass(frozen=True, kw_only=True)
class BudgetUsed:
    """What a run has used of each limit."""

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
    at_most: bool = False
    """Whether a call was cut off, so that tokens and dollars are the most that it may have cost."""


@dataclass(frozen=True, kw_only=True)
class DetourCounts:
    """Counts of detours and what was done in them."""

    detours: int = 0
    tries: int = 0
    """Tries in all detours."""
    reverts: int = 0
    explorations: int = 0
    """Tries that followed an option of an earlier one."""
    cancels: int = 0
    """Detours that were given up."""


@dataclass(frozen=True, kw_only=True)
class Result:
    """How a run ended: whether it succeeded, why it ended, what was done, what it returned and what it cost."""

    run: str
    """The id of the run, which `midcourse show` and `Agent.resume` take."""
    goal: str
    success: bool
    """Whether the run says that it reached its goal, and nothing contradicts it. See `verified`."""
    verified: bool
    """Whether `done_when`, or a probe that counts as a check of the goal, found that it is done. Success without it is only a claim."""
    final_reason: FinalReason
    """Why the run ended, as one word that programs can compare. docs/why-it-ended.md explains each."""
    final_detail: str
    """Why the run ended, as a sentence."""
    replans: int
    """The number of replans: extensions after a transition, and all others."""
    extensions: int
    steps: int
    executions: int
    planner_calls: int
    wall_seconds: float
    completed: tuple[CompletedStep, ...]
    """The steps that were done, in order."""
    attempts: tuple[FailedStep, ...]
    """The steps that failed, with the reasons."""
    budget: BudgetUsed
    """What was used of each limit."""
    spent: tuple[Spent, ...] = ()
    """What it cost, by role, plan and model."""
    data: Pairs = ()
    """What the task's `output` asked for, by name."""
    missing: tuple[str, ...] = ()
    """Required fields of the task's output without a value."""
    audit: Head | None = None
    """The last row of the audit log when the run ended, which reveals a log that was cut off or rewritten."""
    reused: int = 0
    """The number of plans that were reused without asking the planner."""
    global_steps: int = 0
    """The number of steps without a visible control: keyboard shortcuts, and skills without a zone."""
    detours: DetourCounts = DetourCounts()
    sending: Sending = ""
    shown_by: Evidence | None = None
    """What showed that the last irreversible effect happened. None: there was none, it is in doubt, or an older version ran it."""
    answer: str = ""
    """What the planner tells the user, with its lines. Its word, like `success`."""
    sources: Pairs = ()
    """The values of `data` that the planner gave, by name, and where it says that it found each; empty if it does not say."""
    structured: tuple[str, ...] = ()
    """Names of values of `data` that are JSON."""
    unseen: tuple[str, ...] = ()
    """Names of values of `data` that are written nowhere in what the run has seen: computed, worded by the model, or invented."""

    @property
    def output(self) -> Any:
        """`data` by name, with what is nested as lists and dicts. With `output_type`, an object of that type: see `TypedResult`."""
        known = set(self.structured)
        return {
            name: json.loads(value) if name in known and isinstance(value, str) else value for name, value in self.data
        }
