"""Conformance suites, one for each port: what every adapter must do, as tests to subclass. They need pytest and nothing else.

To see the compared values when an assertion fails, put `pytest.register_assert_rewrite("midcourse.testing")` into your
`conftest.py`.
"""

from midcourse.testing.conformance.approver import ApproverConformance
from midcourse.testing.conformance.blobs import BlobsConformance
from midcourse.testing.conformance.detour import ClosenessJudgeConformance, DetourPlannerConformance
from midcourse.testing.conformance.extractor import ExtractorConformance
from midcourse.testing.conformance.memory import MemoryConformance
from midcourse.testing.conformance.monitor import MonitorConformance
from midcourse.testing.conformance.outline import OutlinerConformance, ProgressJudgeConformance
from midcourse.testing.conformance.plan_cache import PlanCacheConformance
from midcourse.testing.conformance.planner import PlannerConformance
from midcourse.testing.conformance.reader import ReaderConformance
from midcourse.testing.conformance.reflector import ReflectorConformance
from midcourse.testing.conformance.store import StoreConformance
from midcourse.testing.conformance.verifier import VerifierConformance
from midcourse.testing.conformance.world import WorldConformance, a_call

__all__ = [
    "ApproverConformance",
    "BlobsConformance",
    "ClosenessJudgeConformance",
    "DetourPlannerConformance",
    "ExtractorConformance",
    "MemoryConformance",
    "MonitorConformance",
    "OutlinerConformance",
    "PlanCacheConformance",
    "PlannerConformance",
    "ProgressJudgeConformance",
    "ReaderConformance",
    "ReflectorConformance",
    "StoreConformance",
    "VerifierConformance",
    "WorldConformance",
    "a_call",
]
