"""The keeper in memory is as strict as the real ones."""

from midcourse.ports.plan_cache import PlanCache
from midcourse.testing import MemoryPlanCache
from midcourse.testing.conformance.plan_cache import PlanCacheConformance


class TestMemory(PlanCacheConformance):
    async def make_segments(self) -> PlanCache:
        return MemoryPlanCache()
