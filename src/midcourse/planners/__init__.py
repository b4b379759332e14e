"""Planners that need no model: a playbook of rules, and one fixed plan."""

from midcourse.planners.playbook import Once, Playbook, Rule, ZonePattern
from midcourse.planners.same_plan import SamePlan

__all__ = ["Once", "Playbook", "Rule", "SamePlan", "ZonePattern"]
