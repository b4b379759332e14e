"""Runs as they appear in lists. This module imports nothing else of the domain, so that listing runs is quick."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Sending: TypeAlias = Literal["", "nothing", "sign_in", "effects", "call"]
"""What a run sent: nothing, nothing but a sign-in, or effects; `call`: the run is one call of a function, which returned. Empty: it
has not ended, or an older version ran it."""

SUCCESSES: tuple[Literal["goal_reached"], Literal["plan_complete"]] = ("goal_reached", "plan_complete")
"""The reasons for which a run ends successfully. The first is always verified, the second only if a probe found the effect."""


@dataclass(frozen=True, kw_only=True)
class RunSummary:
    """A run in a list. Only `find_runs` fills in all that has a default; other lists have `verified` and `sending`."""

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
    sending: Sending = ""
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
