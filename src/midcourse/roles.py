"""Roles that a program can fill itself, beside the planner: approver, outliner, detours, monitor, reflector, and their answers."""

from midcourse.lazy import lazy_imports

with lazy_imports(globals()):
    from midcourse.domain.approval import Change as Change
    from midcourse.domain.approval import Decision as Decision
    from midcourse.domain.reflection import Analysis as Analysis
    from midcourse.domain.reflection import Fix as Fix
    from midcourse.domain.reflection import Reflection as Reflection
    from midcourse.ports.approver import Approver as Approver
    from midcourse.ports.approver import Form as Form
    from midcourse.ports.approver import FormFiller as FormFiller
    from midcourse.ports.closeness import Closeness as Closeness
    from midcourse.ports.closeness import ClosenessJudge as ClosenessJudge
    from midcourse.ports.detour import DetourContext as DetourContext
    from midcourse.ports.detour import DetourPlanner as DetourPlanner
    from midcourse.ports.detour import TryDraft as TryDraft
    from midcourse.ports.extractor import Extract as Extract
    from midcourse.ports.extractor import Extractor as Extractor
    from midcourse.ports.extractor import Wanted as Wanted
    from midcourse.ports.memory import Embedder as Embedder
    from midcourse.ports.monitor import Finding as Finding
    from midcourse.ports.monitor import Monitor as Monitor
    from midcourse.ports.monitor import MonitorContext as MonitorContext
    from midcourse.ports.monitor import Rules as Rules
    from midcourse.ports.outliner import OutlineDraft as OutlineDraft
    from midcourse.ports.outliner import Outliner as Outliner
    from midcourse.ports.outliner import OutliningContext as OutliningContext
    from midcourse.ports.reader import Reader as Reader
    from midcourse.ports.reader import Sighting as Sighting
    from midcourse.ports.reflector import Explanation as Explanation
    from midcourse.ports.reflector import ReflectionContext as ReflectionContext
    from midcourse.ports.reflector import Reflector as Reflector
    from midcourse.ports.reflector import RuleReflector as RuleReflector
    from midcourse.ports.verifier import Claim as Claim
    from midcourse.ports.verifier import Verdict as Verdict
    from midcourse.ports.verifier import Verifier as Verifier
