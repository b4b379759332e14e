"""Port of the plan cache: segments of plans that worked, for later runs of a tenant. Losing one costs only a model call."""

from typing import Protocol

from midcourse.domain.records.plan_cache import KeptSegment

MOST_OF_A_TASK = 200
"""Segments kept per task. Beyond that, those that worked longest ago are dropped: their screens are probably gone."""


class PlanCache(Protocol):
    """Cached segments. Methods raise `OSError` if they cannot be read or written; the run then asks its planner."""

    async def find(self, task: str, surface: str) -> tuple[KeptSegment, ...]:
        """The segments kept for this task and screen, the latest first."""
        ...

    async def keep(self, *segments: KeptSegment) -> None:
        """Save segments, replacing those with the same ids."""
        ...

    async def drop(self, segment_id: str) -> bool:
        """Delete a segment. False: it does not exist."""
        ...

    async def all(self) -> tuple[KeptSegment, ...]:
        """All segments, the latest first."""
        ...
