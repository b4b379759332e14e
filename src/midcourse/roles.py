"""Roles that a program can fill itself, beside the planner: approver, outliner, detours, monitor, reflector, and their answers."""

from midcourse.domain.approval import Change, Decision
from midcourse.domain.reflection import Analysis, Fix, Reflection
from midcourse.ports.approver import Approver, Form, FormFiller
from midcourse.ports.closeness import Closeness, ClosenessJudge
from midcourse.ports.detour import DetourContext, DetourPlanner, TryDraft
from midcourse.ports.extractor import Extract, Extractor, Wanted
from midcourse.ports.memory import Embedder
from midcourse.ports.monitor import Finding, Monitor, MonitorContext, Rules
from midcourse.ports.outliner import OutlineDraft, Outliner, OutliningContext
from midcourse.ports.reader import Reader, Sighting
from midcourse.ports.reflector import Explanation, ReflectionContext, Reflector, RuleReflector
from midcourse.ports.verifier import Claim, Verdict, Verifier

__all__ = [
    "Analysis",
    "Approver",
    "Change",
    "Claim",
    "Closeness",
    "ClosenessJudge",
    "Decision",
    "DetourContext",
    "DetourPlanner",
    "Embedder",
    "Explanation",
    "Extract",
    "Extractor",
    "Finding",
    "Fix",
    "Form",
    "FormFiller",
    "Monitor",
    "MonitorContext",
    "OutlineDraft",
    "Outliner",
    "OutliningContext",
    "Reader",
    "Reflection",
    "ReflectionContext",
    "Reflector",
    "RuleReflector",
    "Rules",
    "Sighting",
    "TryDraft",
    "Verdict",
    "Verifier",
    "Wanted",
]
