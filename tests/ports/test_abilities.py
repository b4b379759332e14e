"""What a port offers besides what it must is used through a wrapper, too, on every version of Python."""

from pathlib import Path
from typing import Any, cast

from midcourse import Agent, Decision
from midcourse.domain.approval import Question
from midcourse.ports.abilities import offers
from midcourse.ports.planner import Remembering
from midcourse.ports.world import Ordered, Turn, World
from midcourse.runtimes.driver import Driver
from midcourse.store.sqlite import SqliteStore
from midcourse.testing import Scripted
from tests.harness import ORDER_PENS, Bench, Shop, steps


class Wrapper:
    """A port that delegates everything, as one that logs or counts calls does."""

    def __init__(self, port: Any) -> None:
        self._port = port

    def __getattr__(self, name: str) -> Any:
        return getattr(self._port, name)


class OrderedShop(Shop):
    turns: tuple[Turn, ...] = ()

    def set_turn(self, turn: Turn) -> None:
        self.turns += (turn,)


class Looks:
    """An approver that looks from outside at the run that asks."""

    def __init__(self, store: SqliteStore) -> None:
        self._store = store
        self.seen: list[tuple[bool | None, Question | None]] = []

    async def ask(self, question: Question) -> Decision:
        self.seen.append((self._store.is_claimed(question.run), await self._store.open_question(question.run)))
        return Decision(verdict="approved", by="ada")


def test_an_ability_is_seen_through_a_wrapper() -> None:
    assert offers(Wrapper(OrderedShop()), Ordered)
    assert not offers(Wrapper(Shop()), Ordered)


def test_an_attribute_without_a_value_is_asked_for_as_well() -> None:
    class Planner:
        remembers = True

    assert offers(Planner(), Remembering)
    assert not offers(object(), Remembering)


async def test_a_run_in_a_wrapped_store_is_locked_and_shows_its_question(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "runs.db") as store, SqliteStore(tmp_path / "runs.db") as other:
        wrapped: Any = Wrapper(store)
        approver = Looks(other)
        result = await Agent(Shop(), Scripted(steps(ORDER_PENS)), approver=approver, store=wrapped).run("order pens")
    assert result.final_reason == "plan_complete"
    ((claimed, question),) = approver.seen
    assert claimed
    assert question is not None
    assert question.run == result.run


async def test_a_wrapped_world_is_told_the_turn_it_acts_for() -> None:
    shop = OrderedShop()
    bench = Bench(world=cast(World, Wrapper(shop)))
    await bench.store.begin(bench.first(), bench.task)
    await Driver(bench.ports, lambda progress: None).drive(placed=1)
    assert shop.turns == ((1, 1),)
    assert shop.orders == ["pens"]
