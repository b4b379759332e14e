"""Runs as they appear in lists. This module imports nothing else of the domain, so that listing runs is quick."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

SUCCESSES: tuple[Literal["goal_reached"], Literal["plan_complete"]] = ("goal_reached", "plan_complete")
"""The reasons for which a run ends successfully; the second is not verified."""


@dataclass(frozen=True, kw_only=True)
class RunSummary:
    """A run in a list. Only `find_runs` fills in what has a default."""

    id: str
    goal: str
    phase: str
    final_reason: str
    began_at: float
    place: int = 0
    """A number that grows with every new run."""
    key: str = ""
    world: str = ""
    task: str = ""
    """The name of the task, if the store knows it."""
    updated_at: float = 0.0
    """The time of the latest event."""
    verified: bool | None = None
    """None until it has ended."""
    calls: int | None = None
    cost_usd: float | None = None
    """The cost; None for a run that has not ended, because then only its state has it."""
    waiting_since: float | None = None
    """When the open question was asked."""


RunStatus: TypeAlias = Literal["running", "asking", "paused", "done", "failed"]
"""The state of a run by its records, which do not say whether a process drives it."""


@dataclass(frozen=True, kw_only=True)
class RunQuery:
    """Which runs to list, and which page of the list."""

    status: tuple[RunStatus, ...] = ()
    """Empty: any."""
    world: str = ""
    text: str = ""
    """A part of the id, goal or key; case does not matter."""
    before: int | None = None
    """The `place` of the last run on the page before."""
    limit: int = 50
