"""Places for turns: drivers of one process take their turns in them, and a tenant with few runs goes before one with many."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest

from midcourse.fair_semaphore import FairSemaphore
from midcourse.runtimes.driver import Driver, Turns
from tests.harness import Bench


async def test_a_driver_stores_its_turns_in_its_places_and_performs_commands_outside():
    each, is_open, turns = Bench(), False, 0
    await each.store.begin(each.first(), each.task)

    @asynccontextmanager
    async def place() -> AsyncGenerator[None]:
        nonlocal is_open, turns
        assert not is_open
        is_open, turns = True, turns + 1
        yield
        is_open = False

    save_turn, act = each.store.save_turn, each.world.act

    async def save(*args: Any, **named: Any) -> None:
        assert is_open
        await save_turn(*args, **named)

    async def perform(*args: Any, **named: Any) -> object:
        assert not is_open
        return await act(*args, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(each.store, "save_turn", save)
        patch.setattr(each.world, "act", perform)
        rested = await Driver(each.ports, must_stop=lambda: False, turns=place).drive(placed=1)
    assert rested.why == "ended"
    assert turns == rested.run.seq


async def test_a_place_is_given_back_if_the_store_fails():
    each, places = Bench(), FairSemaphore(1)
    await each.store.begin(each.first(), each.task)

    async def fail(*args: Any, **named: Any) -> None:
        raise ValueError("a bug in the store")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(each.store, "save_turn", fail)
        with pytest.raises(ValueError, match="a bug"):
            await Driver(each.ports, must_stop=lambda: False, turns=partial(places.acquire, "a")).drive(placed=1)
    async with asyncio.timeout(10), places.acquire("b"):
        pass


async def test_a_place_is_given_back_while_a_driver_waits_for_its_store():
    each, places, was_free = Bench(), FairSemaphore(1), list[bool]()
    await each.store.begin(each.first(), each.task)
    save_turn, sleep, fails = each.store.save_turn, each.clock.sleep, iter([True, True])

    async def save(*args: Any, **named: Any) -> None:
        if next(fails, False):
            raise ConnectionError("away")
        await save_turn(*args, **named)

    async def pause(seconds: float) -> None:
        async with asyncio.timeout(10), places.acquire("b"):
            was_free.append(True)
        await sleep(seconds)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(each.store, "save_turn", save)
        patch.setattr(each.clock, "sleep", pause)
        rested = await Driver(each.ports, must_stop=lambda: False, turns=partial(places.acquire, "a")).drive(placed=1)
    assert rested.why == "ended"
    assert len(was_free) >= 2


async def test_a_turn_of_a_tenant_with_one_run_goes_before_those_of_one_with_many():
    places, stored = FairSemaphore(1), list[str]()
    turns_before: list[int] = []

    @asynccontextmanager
    async def place() -> AsyncGenerator[None]:
        asked = len(stored)
        async with places.acquire("few"):
            turns_before.append(len(stored) - asked)
            yield

    async def run(tenant: str, turns: Turns) -> None:
        each = Bench()
        await each.store.begin(each.first(), each.task)
        save_turn = each.store.save_turn

        async def save(*args: Any, **named: Any) -> None:
            await asyncio.sleep(0.001)  # so that turns wait for each other, as with a real store
            await save_turn(*args, **named)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(each.store, "save_turn", save)
            driver = Driver(each.ports, lambda _: stored.append(tenant), must_stop=lambda: False, turns=turns)
            await driver.drive(placed=1)

    many = [asyncio.create_task(run("many", partial(places.acquire, "many"))) for _ in range(30)]
    while stored.count("many") < 60:
        await asyncio.sleep(0.001)
    await run("few", place)
    for each in many:
        each.cancel()
    await asyncio.gather(*many, return_exceptions=True)
    assert turns_before
    assert max(turns_before) <= 1  # the one under way
