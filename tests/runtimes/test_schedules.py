"""Schedules on the real Temporal: one run for each day, however often and late its firings are; with sealed payloads too."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from temporalio.client import ScheduleBackfill, ScheduleOverlapPolicy

from midcourse.agent.wiring import encode_job, load_job
from midcourse.config.fleet_settings import FleetSettings
from midcourse.errors import TaskInvalid
from midcourse.fleet.connection import Fleet, connect_fleet
from midcourse.fleet.schedules import RunEntry, add_schedule, build_schedules
from midcourse.fleet.timetable import Timetable
from midcourse.fleet.worker import build_worker
from midcourse.runtimes.temporal.schedule import Firing, Overlap, ScheduledTask
from midcourse.runtimes.temporal.wire import Placement
from tests.cli.test_fleet import count_orders

pytestmark = pytest.mark.slow

BUFFERED = ScheduleOverlapPolicy.BUFFER_ALL


@pytest.fixture
async def fleet(temporal: str, postgres: str, tenant: str, tmp_path: Path) -> AsyncGenerator[Fleet]:
    keys = tmp_path / "keys"
    keys.write_text("2026 b29vb29vb29vb29vb29vbw==\n")
    keys.chmod(0o600)
    named = {"temporal_address": temporal, "database_url": postgres, "tenant": tenant, "keys_file": str(keys)}
    async with connect_fleet(FleetSettings.load(tmp_path, named)) as fleet:
        yield fleet


async def add(fleet: Fleet, when: str, *, overlap: Overlap = "wait", approvals: str = "never") -> None:
    job = load_job("order", {"approvals": approvals})
    day = datetime(2025, 10, 1, tzinfo=UTC).date()
    await add_schedule(
        fleet, "lamp", Timetable.parse(when), job, overlap=overlap, catch_up=timedelta(hours=24), today=day
    )


async def fire(fleet: Fleet, *days: tuple[int, int, int], overlap: ScheduleOverlapPolicy = BUFFERED) -> None:
    """As at all times of these days, which were missed or are repeated."""
    handle = fleet.client.get_schedule_handle(f"{fleet.settings.tenant}/lamp")
    ranges = [datetime(*day, tzinfo=UTC) for day in days]
    await handle.backfill(
        *(
            ScheduleBackfill(start_at=day - timedelta(hours=1), end_at=day + timedelta(hours=20), overlap=overlap)
            for day in ranges
        )
    )


async def fired(fleet: Fleet, number: int) -> None:
    """Wait until so many firings are over."""
    handle = fleet.client.get_schedule_handle(f"{fleet.settings.tenant}/lamp")
    await until(lambda info: info.num_actions >= number and not info.running_actions, handle)


async def until(found: Callable[..., bool], handle: object) -> None:
    async with asyncio.timeout(300):
        while not found((await handle.describe()).info):  # pyrefly: ignore[missing-attribute]
            await asyncio.sleep(0.1)


async def names(fleet: Fleet) -> list[str]:
    return sorted(run.id for run in await fleet.store.runs())


async def test_missed_repeated_and_shifted_firings_give_one_run_a_day(fleet: Fleet, tmp_path: Path) -> None:
    """2:30 is skipped by the clocks of Berlin on 29 March 2026, and Temporal fires at 3:30; on other days at both."""
    await add(fleet, "daily 2:30 Europe/Berlin")
    async with build_worker(fleet, tmp_path):
        await fire(fleet, (2025, 10, 26), (2026, 3, 29), (2026, 4, 1))
        await fired(fleet, 5)
        await fire(fleet, (2025, 10, 26), (2026, 4, 1))
        await fired(fleet, 9)
    assert await names(fleet) == ["lamp-2025-10-26", "lamp-2026-03-29", "lamp-2026-04-01"]
    assert [count_orders(tmp_path, name) for name in await names(fleet)] == [1, 1, 1]


async def test_concurrent_firings_for_the_time_that_clocks_show_twice_enter_one_run(fleet: Fleet) -> None:
    """2:30 is twice on 26 October 2025 in Berlin."""
    job = encode_job(load_job("order", {}))
    task = ScheduledTask(schedule="lamp", zone="Europe/Berlin", job=job, tenant="any", placement=Placement())
    firings = [Firing(task=task, at=datetime(2025, 10, 26, hour, 30, tzinfo=UTC).timestamp()) for hour in (0, 1, 0, 1)]
    entry = RunEntry(store=fleet.store, settings=fleet.settings)
    entered = await asyncio.gather(*map(entry.enter, firings))
    assert {one.run for one in entered} == {"lamp-2025-10-26"}
    assert await names(fleet) == ["lamp-2025-10-26"]


async def test_a_run_that_waits_for_a_person_is_skipped_or_waited_for(fleet: Fleet, tmp_path: Path) -> None:
    await add(fleet, "daily 9:00 UTC", overlap="skip", approvals="always")
    async with build_worker(fleet, tmp_path):
        await fire(fleet, (2026, 4, 1))
        async with asyncio.timeout(300):
            while not await fleet.store.open_questions(1):
                await asyncio.sleep(0.1)
        await fire(fleet, (2026, 4, 2), overlap=ScheduleOverlapPolicy.SKIP)
        handle = fleet.client.get_schedule_handle(f"{fleet.settings.tenant}/lamp")
        await until(lambda info: info.num_actions_skipped_overlap >= 1, handle)
        assert (await handle.describe()).schedule.policy.overlap == ScheduleOverlapPolicy.SKIP
        await fire(fleet, (2026, 4, 3))
        assert await names(fleet) == ["lamp-2026-04-01"]
        await fleet.runs.handle("lamp-2026-04-01").cancel()
        async with asyncio.timeout(300):
            while len(await names(fleet)) < 2:
                await asyncio.sleep(0.1)
    assert await names(fleet) == ["lamp-2026-04-01", "lamp-2026-04-03"]


async def test_schedules_are_listed_and_removed(fleet: Fleet) -> None:
    await add(fleet, "weekdays 9:00 Europe/Berlin")
    with pytest.raises(TaskInvalid, match="there is a schedule 'lamp'"):
        await add(fleet, "daily 9:00 UTC")
    async with asyncio.timeout(300):
        while not (found := [one async for one in build_schedules(fleet).list_all()]):
            await asyncio.sleep(0.1)
    assert [(one.name, one.says) for one in found] == [("lamp", "order: weekdays 09:00 Europe/Berlin; overlap wait")]
    assert found[0].next_at is not None
    await build_schedules(fleet).remove("lamp")
    with pytest.raises(TaskInvalid, match="there is no schedule"):
        await build_schedules(fleet).remove("lamp")
