"""Builds the workers of a fleet from its settings.

    async with connect_fleet(settings) as fleet, build_worker(fleet, home):
        await stopped.wait()

It is a separate module because a client that only starts and answers runs does not need half of Temporal's library.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from functools import partial
from pathlib import Path

from midcourse.config.fleet_settings import FleetSettings
from midcourse.fair_semaphore import FairSemaphore
from midcourse.fleet.connection import Fleet
from midcourse.fleet.ports import PortsMaker
from midcourse.fleet.schedules import RunEntry
from midcourse.runtimes.driver import Turns
from midcourse.runtimes.temporal.worker import Capacity, FleetWorker

TURNS_AT_ONCE = 4
"""Turns that all tenants of a process take at a time: more would only wait for each other's processor time, in order of arrival."""


@asynccontextmanager
async def run_workers(fleets: Sequence[Fleet], home: Path) -> AsyncGenerator[None]:
    """Run one worker for each of these tenants.

    Each has its own queue and capacity, and they share places for turns, so that no tenant waits for another's runs.
    """
    if len(fleets) == 1:
        workers = [build_worker(fleets[0], home)]
    else:
        places = FairSemaphore(TURNS_AT_ONCE)
        workers = [
            build_worker(fleet, home, shared=True, turns=partial(places.acquire, fleet.settings.tenant))
            for fleet in fleets
        ]
    async with AsyncExitStack() as started:
        for worker in workers:
            await worker.__aenter__()
            started.push_async_exit(worker)
        yield
        started.pop_all()
        await asyncio.gather(*(worker.__aexit__(None, None, None) for worker in workers))


def build_worker(fleet: Fleet, home: Path, *, shared: bool = False, turns: Turns = nullcontext) -> FleetWorker:
    """Build a worker for the tenant of this fleet. Worlds in separate processes write below `home`, which tenants may share (`shared`).

    `turns` is as in `Driver`.
    """
    settings = fleet.settings
    return FleetWorker(
        fleet.client,
        store=fleet.store,
        build_ports=PortsMaker(fleet.store, settings, home, shared=shared).build_ports,
        tenant=settings.tenant,
        capacity=read_capacity(settings),
        enter=RunEntry(store=fleet.store, settings=settings).enter,
        turns=turns,
    )


def read_capacity(settings: FleetSettings) -> Capacity:
    return Capacity(
        drivers=settings.max_runs,
        supervisors=settings.max_cached_runs,
        sessions=settings.max_sessions,
        heartbeat_seconds=settings.heartbeat_seconds,
        shutdown_seconds=settings.shutdown_seconds,
    )
