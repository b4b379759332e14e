"""Segments that worked, kept across the runs of a tenant. Nothing is lost with one: what is not there is planned."""

from typing import Protocol

from midcourse.domain.records.plan_cache import KeptSegment

MOST_OF_A_TASK = 200
"""How many are kept for one task. Of more, those that worked longest ago are dropped: screens that nobody sees again."""


class PlanCache(Protocol):
    """What cannot be read or written now raises `OSError`, and the run goes on by planning."""

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
