"""A worker of a fleet, as the settings have it.

    async with connected(settings) as fleet, worker_of(fleet, home):
        await stopped.wait()

Separate from the rest, since a client that only starts and answers runs does not need half of Temporal's library.
"""

import asyncio
import time
from pathlib import Path

from temporalio.service import RPCError, RPCStatusCode

from midcourse.app.fleet.connection import Fleet
from midcourse.app.fleet.ports import PortsMaker
from midcourse.app.fleet.settings import FleetSettings
from midcourse.errors import FleetUnavailable
from midcourse.runtimes.temporal.worker import Capacity, FleetWorker, make_current

KNOWN_WITHIN = 120.0
"""Seconds from a worker's start until Temporal knows of its build, at most."""
NOT_YET = {
    RPCStatusCode.NOT_FOUND,
    RPCStatusCode.FAILED_PRECONDITION,
    RPCStatusCode.UNAVAILABLE,
    RPCStatusCode.DEADLINE_EXCEEDED,
    RPCStatusCode.RESOURCE_EXHAUSTED,
}
"""What Temporal answers before it knows of a build, or while it is too busy to say."""


def worker_of(fleet: Fleet, home: Path) -> FleetWorker:
    """What worlds in processes of their own write goes below `home`."""
    settings = fleet.settings
    return FleetWorker(
        fleet.client,
        store=fleet.store,
        ports_for=PortsMaker(fleet.store, settings, home).ports_for,
        tenant=settings.tenant,
        build=settings.build,
        capacity=capacity_of(settings),
    )


def capacity_of(settings: FleetSettings) -> Capacity:
    return Capacity(
        runs=settings.max_cached_runs,
        sessions=settings.max_sessions,
        commands=settings.max_commands,
        heartbeat_seconds=settings.heartbeat_seconds,
        sticky_seconds=settings.sticky_seconds,
        shutdown_seconds=settings.shutdown_seconds,
    )


async def make_build_current(fleet: Fleet) -> None:
    """New runs begin on the build of these settings from now on. One of its workers is up, and Temporal will soon know."""
    tenant, build = fleet.settings.tenant, fleet.settings.build
    until = time.monotonic() + KNOWN_WITHIN
    while True:
        try:
            await make_current(fleet.client, tenant=tenant, build=build)
            return
        except RPCError as trouble:
            if trouble.status not in NOT_YET or time.monotonic() > until:
                raise FleetUnavailable(f"build '{build}' cannot be made current: {trouble.message}") from trouble
        await asyncio.sleep(0.1)
