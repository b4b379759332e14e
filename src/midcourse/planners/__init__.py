"""Planners that need no model, and what a custom planner works with."""

from midcourse.domain.plan import Draft
from midcourse.planners.playbook import Once, Playbook, Rule, SamePlan, ZonePattern
from midcourse.policy.advice.outline import format_outline
from midcourse.ports.planner import PlanDraft, Planner, PlanningContext

__all__ = [
    "Draft",
    "Once",
    "PlanDraft",
    "Planner",
    "PlanningContext",
    "Playbook",
    "Rule",
    "SamePlan",
    "ZonePattern",
    "format_outline",
]
