"""Port of the plan cache: segments of plans that worked, for later runs of a tenant. Losing one costs only a model call."""

from typing import Protocol

from midcourse.domain.records.plan_cache import KeptSegment

MOST_OF_A_TASK = 200
"""How many are kept for one task. Of more, those that worked longest ago are dropped: their screens are probably gone."""


class PlanCache(Protocol):
    """Raises `OSError` for what cannot be read or written now; the run then asks its planner."""

    async def find(self, task: str, surface: str) -> tuple[KeptSegment, ...]:
        """Those that were kept for this task and screen, the latest first."""
        ...

    async def keep(self, *segments: KeptSegment) -> None:
        """Each in place of the one of the same id."""
        ...

    async def drop(self, segment_id: str) -> bool:
        """Whether there was one."""
        ...

    async def all(self) -> tuple[KeptSegment, ...]:
        """The latest first."""
        ...
