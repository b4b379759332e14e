"""Planners that need no model, and what a custom planner works with."""

from typing import TypeAlias

from midcourse.domain.plan import Draft
from midcourse.planners.playbook import Once, Playbook, Rule, SamePlan, ZonePattern
from midcourse.policy.advice.outline import format_outline
from midcourse.ports.planner import PlanDraft, Planner, PlanningContext

Plan: TypeAlias = PlanDraft
"""What a planner returns: the next steps, or why there are none. `PlanDraft` is its older name."""
Step: TypeAlias = Draft
"""One step of a plan. `Draft` is its older name."""

__all__ = [
    "Draft",
    "Once",
    "Plan",
    "PlanDraft",
    "Planner",
    "PlanningContext",
    "Playbook",
    "Rule",
    "SamePlan",
    "Step",
    "ZonePattern",
    "format_outline",
]
