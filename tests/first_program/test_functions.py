"""A world of plain functions: nothing to see, no zones, and the run works."""

import pytest

from midcourse import Agent, BaseWorld, Draft, PlanDraft, Scene, Zone, probe, skill
from midcourse.testing import Approves, MemoryStore


class Invoices(BaseWorld):
    """No `look`: there is nothing to be seen."""

    def __init__(self) -> None:
        super().__init__()
        self.booked: list[str] = []

    @skill(effect="read")
    def total(self, number: str) -> dict[str, float]:
        return {"total": 12.5}

    @skill(effect="irreversible", probe="is_booked")
    def book(self, number: str) -> None:
        self.booked.append(number)

    @probe
    def is_booked(self, number: str) -> bool:
        return number in self.booked


class EmptyRoom(Invoices):
    """Looks, and sees nothing to act on."""

    def look(self) -> Scene:
        return Scene("Empty room")


class Books:
    async def plan(self, context: object) -> PlanDraft:
        steps = [Draft(skill="total", arguments={"number": "R-1"}), Draft(skill="book", arguments={"number": "R-1"})]
        return PlanDraft(steps=steps)


@pytest.mark.parametrize("world", [Invoices, EmptyRoom])
def test_a_world_without_zones_is_not_lost(world: type[Invoices]) -> None:
    books = world()
    result = Agent(books, Books(), approver=Approves(), store=MemoryStore()).run_sync("Book R-1")
    assert (result.success, result.final_reason) == (True, "plan_complete")
    assert books.booked == ["R-1"]


async def test_a_world_with_zones_still_has_to_say_what_is_seen() -> None:
    class Lamp(BaseWorld):
        @skill
        def turn(self, zone: Zone) -> None: ...

    with pytest.raises(NotImplementedError, match="Lamp does not say what is seen: give it a `look` method"):
        Lamp().look()
