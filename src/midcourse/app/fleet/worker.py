"""Builds the workers of a fleet from its settings.

    async with connect_fleet(settings) as fleet, worker_of(fleet, home):
        await stopped.wait()

It is a separate module because a client that only starts and answers runs does not need half of Temporal's library.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from midcourse.app.fleet.connection import Fleet
from midcourse.app.fleet.ports import PortsMaker
from midcourse.app.fleet.schedules import RunEntry
from midcourse.app.fleet.settings import FleetSettings
from midcourse.runtimes.temporal.worker import Capacity, FleetWorker


@asynccontextmanager
async def run_workers(fleets: Sequence[Fleet], home: Path) -> AsyncGenerator[None]:
    """Run one worker for each of these tenants. Each has its own queue and capacity, so that no tenant waits for another's runs."""
    workers = [worker_of(fleet, home, shared=len(fleets) > 1) for fleet in fleets]
    async with AsyncExitStack() as started:
        for worker in workers:
            await worker.__aenter__()
            started.push_async_exit(worker)
        yield
        started.pop_all()
        await asyncio.gather(*(worker.__aexit__(None, None, None) for worker in workers))


def worker_of(fleet: Fleet, home: Path, *, shared: bool = False) -> FleetWorker:
    """Build a worker for the tenant of this fleet. Worlds in separate processes write below `home`, which tenants may share (`shared`)."""
    settings = fleet.settings
    return FleetWorker(
        fleet.client,
        store=fleet.store,
        ports_for=PortsMaker(fleet.store, settings, home, shared=shared).ports_for,
        tenant=settings.tenant,
        capacity=capacity_of(settings),
        enter=RunEntry(store=fleet.store, settings=settings).enter,
    )


def capacity_of(settings: FleetSettings) -> Capacity:
    return Capacity(
        drivers=settings.max_runs,
        supervisors=settings.max_cached_runs,
        sessions=settings.max_sessions,
        heartbeat_seconds=settings.heartbeat_seconds,
        shutdown_seconds=settings.shutdown_seconds,
    )
