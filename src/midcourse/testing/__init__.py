"""Stand-ins for everything outside a run, shipped for users' tests too.

Planners without a model, people who always agree, a clock that an hour costs nothing, a store without a disk; in
`conformance`, the suite that each port's adapters have to pass.
"""

from midcourse.testing.approvers import Answers, Approves, Posts, Rejects, Silent
from midcourse.testing.clock import FakeClock
from midcourse.testing.memory_segments import MemorySegments
from midcourse.testing.memory_store import MemoryStore
from midcourse.testing.monitors import ScriptedMonitor
from midcourse.testing.obedient import Obedient
from midcourse.testing.outlines import ScriptedOutlines, ScriptedProgress
from midcourse.testing.planners import Erring, Garbage, Once, Playbook, Rule, SamePlan, Scripted
from midcourse.testing.readers import ScriptedExtractor, ScriptedReader, ScriptedVerifier
from midcourse.testing.reflectors import ScriptedReflector
from midcourse.testing.tries import JudgedBy, ScriptedTries

__all__ = [
    "Answers",
    "Approves",
    "Erring",
    "FakeClock",
    "Garbage",
    "JudgedBy",
    "MemorySegments",
    "MemoryStore",
    "Obedient",
    "Once",
    "Playbook",
    "Posts",
    "Rejects",
    "Rule",
    "SamePlan",
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
