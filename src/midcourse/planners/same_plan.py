"""A planner that proposes the same plan every time, for tasks whose every screen is known."""

from collections.abc import Iterable

from midcourse.domain.plan import Draft
from midcourse.ports.planner import PlanDraft, PlanningContext


class SamePlan:
    """Draws up one plan, whatever it is shown and told. Zones are ids, as they are in any plan.

    It is what a planner that does not read its failed attempts comes to: the same mistake until something stops it.
    """

    def __init__(self, drafts: Iterable[Draft], *, final: bool | None = None) -> None:
        self._plan = PlanDraft(steps=tuple(drafts), final=final)

    async def plan(self, context: PlanningContext) -> PlanDraft:
        return self._plan
