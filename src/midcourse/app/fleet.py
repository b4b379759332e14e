"""The composition root of a fleet: store, engine, worker and worlds, as the settings name them.

    async with connected(settings) as fleet:
        await enter(fleet, job, "r1")
        async with worker_of(fleet, home):
            result = await fleet.runs.handle("r1").result()

It needs `pip install 'midcourse[temporal]'`, so nothing that works on one machine imports it.
"""

import asyncio
import base64
import binascii
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from midcourse.app.agent import new_run
from midcourse.app.entry import Entry
from midcourse.app.fleet_ports import PortsMaker
from midcourse.app.fleet_settings import FleetSettings
from midcourse.app.fleet_store import opened_store
from midcourse.app.key import Done, Free, Unfinished, standing_of
from midcourse.app.wiring import Job, check_job, for_elsewhere, job_text
from midcourse.errors import FleetUnavailable, KeyTaken, TaskInvalid
from midcourse.runtimes.temporal.attributes import TENANT
from midcourse.runtimes.temporal.client import FleetClient, connect
from midcourse.runtimes.temporal.codec import Key
from midcourse.runtimes.temporal.wire import Pace, run_id_of
from midcourse.runtimes.temporal.worker import Capacity, FleetWorker, make_current
from midcourse.store.postgres import PostgresStore

KNOWN_WITHIN = 30.0
"""Seconds from a worker's start until Temporal knows of its build, at most."""


@dataclass(frozen=True, kw_only=True)
class Fleet:
    """One tenant's share of a fleet."""

    settings: FleetSettings
    store: PostgresStore
    client: Client
    runs: FleetClient


@asynccontextmanager
async def connected(settings: FleetSettings) -> AsyncGenerator[Fleet]:
    """To the database and to Temporal. Raises `FleetUnavailable` if one of them is not there."""
    async with opened_store(settings) as store:
        client = await _client(settings)
        yield Fleet(
            settings=settings,
            store=store,
            client=client,
            runs=FleetClient(client, store=store, tenant=settings.tenant, pace=pace_of(settings)),
        )


async def _client(settings: FleetSettings) -> Client:
    keys = keys_in(settings.keys_file) if settings.keys_file else ()
    where, namespace = settings.temporal_address, settings.temporal_namespace
    try:
        return await connect(where, namespace=namespace, keys=keys)
    except RuntimeError as trouble:
        raise FleetUnavailable(f"no Temporal answers at {where}") from trouble
    except RPCError as trouble:
        raise FleetUnavailable(f"Temporal at {where} does not take us in: {trouble.message}") from trouble


def keys_in(file: Path) -> tuple[Key, ...]:
    """One a line: a name, and 16, 24 or 32 bytes in base64. Empty lines and comments (#) do not count."""
    lines = [line.partition("#")[0].split() for line in file.read_text(encoding="utf-8").splitlines()]
    keys: list[Key] = []
    for words in lines:
        if not words:
            continue
        try:
            name, secret = words
            keys.append(Key(id=name, secret=base64.b64decode(secret, validate=True)))
        except (ValueError, binascii.Error):
            raise TaskInvalid(f"keys_file {file}: a key is a line with a name and base64") from None
        if len(keys[-1].secret) not in (16, 24, 32):
            raise TaskInvalid(f"keys_file {file}: the key '{name}' has to have 16, 24 or 32 bytes")
    if not keys:
        raise TaskInvalid(f"keys_file {file}: there is no key in it")
    return tuple(keys)


def pace_of(settings: FleetSettings) -> Pace:
    return Pace(
        heartbeat_seconds=settings.heartbeat_seconds,
        session_seconds=settings.session_seconds,
        continue_after=settings.continue_after,
        rest_after=settings.rest_after,
    )


# --- to begin a run


async def enter(fleet: Fleet, job: Job, run_id: str, *, again: bool = False) -> Entry:
    """A new run, or the earlier one under the same business key, and somebody is to drive it.

    What `again` means is said in `standing_of`. Raises `KeyTaken` if a person has to look first.
    """
    check_job(job)
    while True:
        match await standing_of(fleet.store, job.task.key, again=again):
            case Done(result=result):
                return Entry(run=result.run, job=job, result=result, earlier=True)
            case Unfinished(run=earlier):
                await fleet.runs.resume(earlier, world=job.task.world)
                return Entry(run=earlier, job=job, earlier=True)
            case Free(after=after):
                run, text = new_run(job.task, run_id), job_text(for_elsewhere(job))
                try:
                    await fleet.store.begin(run, job.task, after=after, job=text)
                except KeyTaken:  # somebody else was faster: see what they make of it
                    continue
                await fleet.runs.start(run, world=job.task.world)
                return Entry(run=run_id, job=job)


async def broken_runs(fleet: Fleet) -> set[str]:
    """Runs that nobody drives because a bug of ours or of an adapter ended their execution; `resume` goes on with them."""
    tenant = fleet.settings.tenant.replace("'", "\\'")
    query = f"{TENANT.name} = '{tenant}' AND ExecutionStatus IN ('Failed', 'Terminated', 'TimedOut', 'Canceled')"
    once = {run_id_of(execution.id) async for execution in fleet.client.list_workflows(query)}
    return {run_id for run_id in once if (await fleet.runs.handle(run_id).describe()).status == "broken"}


# --- to work


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
            early = trouble.status in (RPCStatusCode.NOT_FOUND, RPCStatusCode.FAILED_PRECONDITION)
            if not early or time.monotonic() > until:
                raise FleetUnavailable(f"build '{build}' cannot be made current: {trouble.message}") from trouble
        await asyncio.sleep(0.1)
