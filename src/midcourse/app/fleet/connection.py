"""The composition root of a fleet: store and engine, as the settings name them. Workers are in fleet_worker.py.

    async with connected(settings) as fleet:
        entry = await enter(fleet, job, "r1")
        result = await fleet.runs.handle(entry.run).result()

It needs `pip install 'midcourse[temporal]'`, so nothing that works on one machine imports it.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from temporalio.client import Client
from temporalio.service import RPCError

from midcourse.app.entry import Entry
from midcourse.app.fleet.settings import FleetSettings
from midcourse.app.fleet.store import open_fleet_store, read_keys
from midcourse.app.key import Done, Free, Unfinished, standing_of
from midcourse.app.wiring import Job, check_job, for_elsewhere, job_text, run_to_begin
from midcourse.errors import FleetUnavailable, KeyTaken
from midcourse.runtimes.temporal.attributes import TENANT
from midcourse.runtimes.temporal.client import FleetClient, connect
from midcourse.runtimes.temporal.wire import Pace, run_id_of
from midcourse.store.postgres import PostgresStore


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
        raise FleetUnavailable(f"Temporal at {where} does not take us in: {trouble.message}") from trouble


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
                run, task = run_to_begin(job, run_id)
                try:
                    await fleet.store.begin(run, task, after=after, job=job_text(for_elsewhere(job)))
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
