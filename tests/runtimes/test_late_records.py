"""A driver that was given up and goes on after all: what it writes is stored before the next one reads anything, or never."""

import asyncio
import contextlib
from dataclasses import replace
from typing import Any

import pytest

from midcourse.domain.events import Acted
from midcourse.domain.outcome import Outcome
from midcourse.drive import Progress
from midcourse.errors import RunBusy
from midcourse.ports.world import Call
from midcourse.runtimes.driver import Driver
from tests.runtimes.fleet import Cast, Fleet, effects, order


class Frozen:
    """A world whose order is placed, and whose answer to it does not arrive until it is let go."""

    def __init__(self, world: Any) -> None:
        self._world = world
        self.ordered = asyncio.Event()
        self.let_go = asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._world, name)

    async def act(self, call: Call) -> Outcome:
        outcome = await self._world.act(call)
        if call.skill == "place_order":
            self.ordered.set()
            await self.let_go.wait()
        return outcome


class Barring:
    """A world in which the act in doubt ends at the very moment at which it is barred."""

    def __init__(self, world: Any, frozen: Frozen, given_up: "asyncio.Task[Any]") -> None:
        self._world = world
        self._frozen = frozen
        self._given_up = given_up
        self.barred = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._world, name)

    async def bar(self, command: int) -> None:
        self.barred += 1
        self._frozen.let_go.set()
        with pytest.raises(RunBusy):
            await self._given_up
        await self._world.bar(command)


async def begun(fleet: Fleet) -> tuple[Cast, str]:
    cast = order()
    run = fleet.add_run(cast)
    await fleet.store.begin(run, cast.task)
    return cast, run.id


async def driver(fleet: Fleet, run_id: str, world: Any, listener: Any = None) -> Driver:
    ports = replace(await fleet.build_ports(run_id), world=world)
    return Driver(ports, listener, must_stop=lambda: False)


async def kinds(fleet: Fleet, run_id: str) -> list[str]:
    return [row.event.kind for row in await fleet.store.journal(run_id)]


async def test_what_comes_after_the_next_claim_is_never_recorded(fleet: Fleet) -> None:
    cast, run_id = await begun(fleet)
    frozen = Frozen(cast.world)
    given_up = asyncio.create_task((await driver(fleet, run_id, frozen)).drive(placed=1))
    await frozen.ordered.wait()
    barring = Barring(cast.world, frozen, given_up)
    left = await (await driver(fleet, run_id, barring)).drive(placed=2)
    result = await fleet.store.result(run_id)
    assert (left.why, result and result.final_reason, barring.barred) == ("ended", "goal_reached", 1)
    assert "verified" in await kinds(fleet, run_id), "it was in doubt, and found out"
    assert len(effects(cast)) == 1


async def test_what_came_before_the_next_claim_is_known(fleet: Fleet) -> None:
    cast, run_id = await begun(fleet)
    stored = asyncio.Event()

    def listener(turn: Progress) -> None:
        if isinstance(turn.event, Acted) and turn.event.identity:
            stored.set()

    given_up = asyncio.create_task((await driver(fleet, run_id, cast.world, listener)).drive(placed=1))
    await stored.wait()
    left = await (await driver(fleet, run_id, cast.world)).drive(placed=2)
    with contextlib.suppress(RunBusy):
        await given_up
    assert left.why == "ended"
    assert "verified" not in await kinds(fleet, run_id), "there was never any doubt"
    assert len(effects(cast)) == 1


async def test_a_driver_of_an_earlier_placement_does_not_begin(fleet: Fleet) -> None:
    cast, run_id = await begun(fleet)
    assert (await (await driver(fleet, run_id, cast.world)).drive(placed=2)).why == "ended"
    with pytest.raises(RunBusy):
        await (await driver(fleet, run_id, cast.world)).drive(placed=1)
