"""The plan cache in memory, for tests and benchmarks."""

from midcourse.domain.records.plan_cache import KeptSegment
from midcourse.ports.plan_cache import MOST_OF_A_TASK


class MemoryPlanCache:
    def __init__(self) -> None:
        self._kept: dict[str, KeptSegment] = {}

    async def find(self, task: str, surface: str) -> tuple[KeptSegment, ...]:
        return tuple(one for one in await self.all() if (one.task, one.surface) == (task, surface))

    async def keep(self, *segments: KeptSegment) -> None:
        self._kept |= {segment.id: segment for segment in segments}
        for task in {segment.task for segment in segments}:
            of_task = [one for one in await self.all() if one.task == task]
            for one in of_task[MOST_OF_A_TASK:]:
                del self._kept[one.id]

    async def drop(self, segment_id: str) -> bool:
        return self._kept.pop(segment_id, None) is not None

    async def all(self) -> tuple[KeptSegment, ...]:
        return tuple(sorted(self._kept.values(), key=lambda one: (-one.worked_at, one.id)))
