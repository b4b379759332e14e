"""One long run: no step costs more because many came before it."""

from midcourse import Agent, BaseWorld, Draft, PlanDraft, Scene, Settings, Zone, skill
from midcourse.domain.plan import PlanVersion
from midcourse.domain.records.ledger import LedgerEntry
from midcourse.ports.planner import PlanningContext
from midcourse.testing import MemoryStore

STEPS = 60


class Book(BaseWorld):
    page = 0

    def look(self) -> Scene:
        return Scene(f"Page {self.page}", Zone(id="next", role="button", label=f"Next {self.page}"))

    @skill(effect="set_state", transition=True)
    def turn(self, zone: Zone) -> None:
        self.page += 1


class Counting(MemoryStore):
    reads = 0

    async def plans(self, run_id: str, since: int = 0) -> tuple[PlanVersion, ...]:
        found = await super().plans(run_id, since)
        self.reads += len(found)
        return found

    async def ledger(self, run_id: str, since: int = 0) -> tuple[LedgerEntry, ...]:
        found = await super().ledger(run_id, since)
        self.reads += len(found)
        return found


async def test_planning_does_not_read_all_plans_and_the_whole_ledger_again() -> None:
    world, store = Book(), Counting()
    reads: list[int] = []

    class Turning:
        async def plan(self, context: PlanningContext) -> PlanDraft:
            reads.append(store.reads)
            assert len(context.completed) == world.page
            if world.page == STEPS:
                return PlanDraft(verdict="done", detail="the last page")
            return PlanDraft(steps=(Draft(zone="next", skill="turn"),))

    most = str(3 * STEPS)
    settings = Settings.load(overrides={"max_calls": most, "max_replans": most, "max_segments": most})
    result = await Agent(world=world, planner=Turning(), store=store, settings=settings).run("Read the book")
    assert (result.success, world.page) == (True, STEPS)
    assert reads[-1] - reads[-11] == reads[21] - reads[11]
