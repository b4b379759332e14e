"""The keeper in memory is as strict as the real ones."""

from midcourse.ports.plan_cache import Segments
from midcourse.testing import MemorySegments
from midcourse.testing.conformance.segments import SegmentsConformance


class TestMemory(SegmentsConformance):
    async def make_segments(self) -> Segments:
        return MemorySegments()
