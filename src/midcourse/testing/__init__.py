"""Test doubles for everything outside a run, for users' tests too.

Planners without a model, approvers that always agree, a clock on which time passes instantly, a store without a disk.
`conformance` has a test suite for the adapters of each port, `sites` and `models` servers on loopback.
"""

from midcourse.store.memory import MemoryBlobs, MemoryPlanCache, MemoryStore
from midcourse.testing.approvers import Answers, Approves, Posts, Rejects, Silent
from midcourse.testing.clock import FakeClock
from midcourse.testing.faulty_planners import Erring, Garbage
from midcourse.testing.scripted import (
    JudgedBy,
    Scripted,
    ScriptedExtractor,
    ScriptedMonitor,
    ScriptedOutlines,
    ScriptedProgress,
    ScriptedReader,
    ScriptedReflector,
    ScriptedTries,
    ScriptedVerifier,
)

__all__ = [
    "Answers",
    "Approves",
    "Erring",
    "FakeClock",
    "Garbage",
    "JudgedBy",
    "MemoryBlobs",
    "MemoryPlanCache",
    "MemoryStore",
    "Posts",
    "Rejects",
    "Scripted",
    "ScriptedExtractor",
    "ScriptedMonitor",
    "ScriptedOutlines",
    "ScriptedProgress",
    "ScriptedReader",
    "ScriptedReflector",
    "ScriptedTries",
    "ScriptedVerifier",
    "Silent",
]
