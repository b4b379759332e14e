"""The composition root of a fleet: connects to the store and Temporal that the settings name. Workers are in worker.py.

    async with connected(settings) as fleet:
        started = await start_durable_run(fleet, job, "r1")
        result = await fleet.runs.handle(started.run).result()

It needs `pip install 'midcourse[temporal]'`, so nothing that runs on one machine imports it.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TypeAlias

from temporalio.client import Client
from temporalio.service import RPCError

from midcourse.app.fleet.settings import FleetSettings
from midcourse.app.fleet.store import open_fleet_store, read_keys
from midcourse.app.start import StartedRun, found_run, new_run_of, start_under_key
from midcourse.app.wiring import Job, check_job, for_elsewhere, job_text
from midcourse.errors import FleetUnavailable
from midcourse.runtimes.temporal.attributes import TENANT
from midcourse.runtimes.temporal.client import FleetClient, connect
from midcourse.runtimes.temporal.client import RunBroken as RunBroken
from midcourse.runtimes.temporal.client import RunHandle as RunHandle
from midcourse.runtimes.temporal.wire import Pace, run_id_of
from midcourse.store.postgres import PostgresStore

RequestFailed: TypeAlias = RPCError
"""Temporal did not accept a request."""


@dataclass(frozen=True, kw_only=True)
class Fleet:
    """A connected fleet, as one tenant sees it."""

    settings: FleetSettings
    store: PostgresStore
    client: Client
    runs: FleetClient


@asynccontextmanager
async def connected(settings: FleetSettings) -> AsyncGenerator[Fleet]:
    """Connect to the database and to Temporal. Raises `FleetUnavailable` if one of them does not answer."""
    async with open_fleet_store(settings) as store:
        client = await _client(settings)
        yield Fleet(
            settings=settings,
            store=store,
            client=client,
            runs=FleetClient(client, store=store, tenant=settings.tenant, pace=pace_of(settings)),
        )


async def _client(settings: FleetSettings) -> Client:
    keys = read_keys(settings.keys_file) if settings.keys_file else ()
    where, namespace = settings.temporal_address, settings.temporal_namespace
    try:
        return await connect(where, namespace=namespace, keys=keys)
    except RuntimeError as trouble:
        raise FleetUnavailable(f"no Temporal answers at {where}") from trouble
    except RPCError as trouble:
        raise FleetUnavailable(f"Temporal at {where} rejected the connection: {trouble.message}") from trouble


def pace_of(settings: FleetSettings) -> Pace:
    return Pace(
        heartbeat_seconds=settings.heartbeat_seconds,
        session_seconds=settings.session_seconds,
        continue_after=settings.continue_after,
        rest_after=settings.rest_after,
    )


# --- to start a run


async def start_durable_run(fleet: Fleet, job: Job, run_id: str, *, again: bool = False) -> StartedRun:
    """Store a new run and have it driven; or resume the earlier one under the same business key.

    `again` and `KeyTaken`: see `check_key`.
    """
    check_job(job)

    async def begin(after: str) -> StartedRun:
        run, task = new_run_of(job, run_id)
        await fleet.store.begin(run, task, after=after, job=job_text(for_elsewhere(job)))
        await fleet.runs.start(run, world=job.task.world)
        return StartedRun(run=run_id, job=job)

    async def resume(earlier: str) -> StartedRun:
        await fleet.runs.resume(earlier, world=job.task.world)
        return StartedRun(run=earlier, job=job, earlier=True)

    return found_run(await start_under_key(fleet.store, job.task.key, begin=begin, resume=resume, again=again), job)


async def broken_runs(fleet: Fleet) -> set[str]:
    """Runs that are not driven because a bug in Midcourse or an adapter ended their execution; `resume` continues them."""
    tenant = fleet.settings.tenant.replace("'", "\\'")
    query = f"{TENANT.name} = '{tenant}' AND ExecutionStatus IN ('Failed', 'Terminated', 'TimedOut', 'Canceled')"
    once = {run_id_of(execution.id) async for execution in fleet.client.list_workflows(query)}
    return {run_id for run_id in once if (await fleet.runs.handle(run_id).describe()).status == "broken"}
