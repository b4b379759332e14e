"""An hour passes at once, but never while somebody works."""

import asyncio
import time

import pytest

from midcourse.testing import FakeClock

START = 1_800_000_000.0


async def test_an_hour_takes_no_time():
    clock = FakeClock()
    began = time.monotonic()
    await clock.sleep(3600)
    assert clock.now() == START + 3600
    assert time.monotonic() - began < 60


async def test_time_stands_still_by_itself():
    clock = FakeClock(start=5.0)
    for _ in range(200):
        await asyncio.sleep(0)
    assert clock.now() == 5.0


async def test_sleepers_wake_in_the_order_of_their_due_times():
    clock = FakeClock(start=0.0)
    woken: list[tuple[str, float]] = []

    async def sleeper(name: str, seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append((name, clock.now()))

    await asyncio.gather(sleeper("late", 30), sleeper("early", 10), sleeper("middle", 20), sleeper("twin", 10))
    assert woken == [("early", 10), ("twin", 10), ("middle", 20), ("late", 30)]


async def test_each_sleeper_is_done_with_its_work_before_the_next_one_wakes():
    clock = FakeClock(start=0.0)
    log: list[str] = []

    async def worker(name: str, due: float) -> None:
        await clock.sleep(due)
        for turn in range(20):
            await asyncio.sleep(0)
            log.append(f"{name}{turn}")

    await asyncio.gather(worker("b", 2), worker("a", 1))
    assert log == [f"a{n}" for n in range(20)] + [f"b{n}" for n in range(20)]


async def test_a_long_timer_does_not_fire_while_another_task_takes_short_steps():
    clock = FakeClock(start=0.0)
    expiry = asyncio.create_task(clock.sleep(3600))
    for _ in range(1000):
        for _ in range(10):
            await asyncio.sleep(0)
        clock.now()
    assert not expiry.done()
    assert clock.now() == 0.0
    for step in range(100):
        await clock.sleep(1)
        assert clock.now() == step + 1
        assert not expiry.done()
    await expiry
    assert clock.now() == 3600


async def test_the_long_timer_would_fire_without_patience():
    """The counterpart of the test above: it can fail."""
    clock = FakeClock(start=0.0, patience=5)
    expiry = asyncio.create_task(clock.sleep(3600))
    for _ in range(10):
        await asyncio.sleep(0)
    assert expiry.done()


async def test_sleeping_for_no_time_lets_others_go_first():
    clock = FakeClock(start=0.0)
    log: list[str] = []

    async def other() -> None:
        log.append("other")

    task = asyncio.create_task(other())
    await clock.sleep(0)
    log.append("me")
    await task
    assert log == ["other", "me"]
    assert clock.now() == 0.0
    await clock.sleep(-5)
    assert clock.now() == 0.0


async def test_cancelled_sleeper_does_not_block_the_clock():
    clock = FakeClock(start=0.0)
    sleeper = asyncio.create_task(clock.sleep(10))
    await asyncio.sleep(0)
    sleeper.cancel()
    await clock.sleep(60)
    assert clock.now() == 60
    assert sleeper.cancelled()


async def test_advancing_by_hand_wakes_who_is_due_in_order():
    clock = FakeClock(start=0.0, patience=None)
    woken: list[int] = []

    async def sleeper(seconds: int) -> None:
        await clock.sleep(seconds)
        woken.append(seconds)

    tasks = [asyncio.create_task(sleeper(seconds)) for seconds in (30, 20, 10, 500)]
    for _ in range(300):
        await asyncio.sleep(0)
    assert woken == []
    clock.advance(100)
    for _ in range(20):
        await asyncio.sleep(0)
    assert woken == [10, 20, 30]
    assert clock.now() == 100
    clock.advance(400)
    await asyncio.gather(*tasks)
    assert woken == [10, 20, 30, 500]


def test_time_does_not_go_back():
    with pytest.raises(ValueError, match="back"):
        FakeClock().advance(-1)
