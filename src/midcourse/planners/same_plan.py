"""A planner that proposes the same plan every time, for tasks whose every screen is known."""

from collections.abc import Iterable

from midcourse.domain.plan import Draft
from midcourse.ports.planner import PlanDraft, PlanningContext


class SamePlan:
    """Proposes the same plan for every context. Zones are ids, as in any plan.

    Like a planner that ignores failed attempts, it repeats a mistake until the run is stopped.
    """

    given = True

    def __init__(self, drafts: Iterable[Draft], *, final: bool | None = None) -> None:
        self._plan = PlanDraft(steps=tuple(drafts), final=final)

    async def plan(self, context: PlanningContext) -> PlanDraft:
        return self._plan
