"""Planners that need no model: for tests, examples and benchmarks, and for tasks whose every screen is known."""

from collections.abc import Iterable

from midcourse.domain.plan import Draft
from midcourse.errors import TaskInvalid
from midcourse.ports.planner import PlanDraft, PlanningContext
from midcourse.testing.faulty_planners import Erring, Garbage
from midcourse.testing.playbook import Once, Playbook, Rule, ZonePattern

__all__ = ["Erring", "Garbage", "Once", "Playbook", "Rule", "SamePlan", "Scripted", "ZonePattern"]


class SamePlan:
    """Draws up one plan, whatever it is shown and told. Zones are ids, as they are in any plan.

    It is what a planner that does not read its failed attempts comes to: the same mistake until something stops it.
    """

    def __init__(self, drafts: Iterable[Draft], *, final: bool | None = None) -> None:
        self._plan = PlanDraft(steps=tuple(drafts), final=final)

    async def plan(self, context: PlanningContext) -> PlanDraft:
        return self._plan


class Scripted:
    """Gives the first answer to the first call, the second to the second; the last one is repeated.

    `contexts` has what it was told each time.
    """

    def __init__(self, *drafts: PlanDraft) -> None:
        if not drafts:
            raise TaskInvalid("a scripted planner needs at least one answer")
        self._drafts = drafts
        self.contexts: list[PlanningContext] = []

    async def plan(self, context: PlanningContext) -> PlanDraft:
        self.contexts.append(context)
        return self._drafts[min(len(self.contexts), len(self._drafts)) - 1]
