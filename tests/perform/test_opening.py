"""The commands OpenWorld, Observe, Record and Wait."""

import asyncio
from typing import Any

import pytest

from midcourse.domain.argument import Pairs
from midcourse.domain.budget import Cost
from midcourse.domain.commands import Observe, OpenWorld, Record, Wait
from midcourse.domain.events import Observed, Recorded, TimerFired, WorldOpened
from midcourse.domain.observation import Unseen
from midcourse.domain.task import Task
from midcourse.errors import TaskInvalid
from midcourse.perform import Performer
from midcourse.worlds.base import Scene
from tests.harness import Bench, Safe, Shop


async def look(bench: Bench, **more: Any) -> Observed:
    event = await Performer(bench.ports).perform(Observe(id=5, timeout=0.05, **more))
    assert isinstance(event, Observed)
    return event


async def test_a_session_is_taken_over_if_there_is_one() -> None:
    bench = Bench()
    performer = await bench.prepare()
    assert await performer.reach_world() == "reopened"
    assert await bench.store.session("run") == "session"
    assert await performer.reach_world() == "kept"


async def test_a_world_is_told_what_to_conceal_before_it_is_looked_at() -> None:
    class Gallery(Shop):
        concealed = ()

        async def conceal(self, secrets: Pairs) -> None:
            self.concealed = secrets

    world = Gallery()
    bench = Bench(world=world, task=Task(goal="", secrets=("pin", "unknown")), vault=Safe(pin="2580", other="1470"))
    await bench.store.begin(bench.first(), bench.task)
    await Performer(bench.ports).perform(OpenWorld(id=1, timeout=1.0))
    assert world.concealed == (("pin", "2580"),)


async def test_a_world_that_cannot_be_told_is_not_open() -> None:
    class Deaf(Shop):
        async def conceal(self, secrets: Pairs) -> None:
            raise ConnectionError(f"no answer to {secrets}")

    bench = Bench(world=Deaf(), task=Task(goal="", secrets=("pin",)), vault=Safe(pin="2580"))
    await bench.store.begin(bench.first(), bench.task)
    event = await Performer(bench.ports).perform(OpenWorld(id=1, timeout=1.0))
    assert event == WorldOpened(
        answers=1, opened=False, detail="ConnectionError: no answer to (('pin', '<secret pin>'),)"
    )


@pytest.mark.parametrize("trouble", ["raises", "hangs", "cannot be"])
async def test_a_world_that_does_not_open_is_reported(trouble: str) -> None:
    class Closed(Shop):
        async def open(self) -> str:
            if trouble == "hangs":
                await asyncio.sleep(60)
            raise TaskInvalid("no such option") if trouble == "cannot be" else RuntimeError("no display")

    bench = Bench(world=Closed())
    await bench.store.begin(bench.first(), bench.task)
    event = await Performer(bench.ports).perform(OpenWorld(id=1, timeout=0.05))
    assert isinstance(event, WorldOpened)
    assert (event.opened, event.invalid) == (False, trouble == "cannot be")


async def test_a_world_that_opens_at_the_second_try_is_used() -> None:
    class Sluggish(Shop):
        tries = 0

        async def open(self) -> str:
            self.tries += 1
            if self.tries == 1:
                raise ConnectionError("it takes too long")
            return await super().open()

    bench = Bench(world=(world := Sluggish()))
    assert (await bench.run()).success
    assert (world.tries, world.orders) == (2, ["pens"])


async def test_a_look_is_kept_under_its_command() -> None:
    bench = Bench().with_limits(look_calls=3)
    await bench.prepare()
    event = await look(bench)
    assert event.seen is not None
    assert (event.seen.id, event.seen.zones, event.seen.surface) == ("o5", 3, "Shop")
    assert event.cost == Cost(calls=3)
    assert (await look(bench, free=True)).cost == Cost()
    assert await bench.store.observation("run", "o5") is not None


@pytest.mark.parametrize("trouble", ["failed", "empty", "timeout", "world_lost", "raises", "no zones", "nonsense"])
async def test_a_look_that_fails_says_how(trouble: str) -> None:
    class Dark(Shop):
        async def observe(self) -> Any:
            match trouble:
                case "timeout":
                    return await asyncio.sleep(60)
                case "raises":
                    raise RuntimeError("no camera")
                case "no zones":
                    return Scene("Empty").observed()
                case "nonsense":
                    return "a shop, I think"
                case _:
                    return Unseen(reason=trouble)  # pyrefly: ignore[bad-argument-type]

    bench = Bench(world=Dark())
    await bench.prepare()
    event = await look(bench)
    assert event.seen is None
    assert event.reason == {"raises": "failed", "no zones": "empty", "nonsense": "failed"}.get(trouble, trouble)


async def test_time_passes_and_things_are_written_down() -> None:
    bench = Bench()
    performer = await bench.prepare()
    before = bench.clock.now()
    assert await performer.perform(Wait(id=3, seconds=900.0)) == TimerFired(answers=3)
    assert bench.clock.now() - before == 900.0
    assert await performer.perform(Record(id=4)) == Recorded(answers=4)
