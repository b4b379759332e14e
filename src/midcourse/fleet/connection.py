"""The composition root of a fleet: connects to the store and Temporal that the settings name. Workers are in worker.py.

    async with connect_fleet(settings) as fleet:
        started = await start_durable_run(fleet, job, "r1")
        result = await fleet.runs.handle(started.run).result()

It needs `pip install 'midcourse[temporal]'`, so nothing that runs on one machine imports it.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TypeAlias

from temporalio.client import Client
from temporalio.service import RPCError

from midcourse.agent.start import StartedRun, new_run_of, start_under_key
from midcourse.agent.wiring import BUILT_IN, Job, check_job, encode_job, make_portable
from midcourse.config.fleet_settings import FleetSettings
from midcourse.config.task.modules import AllowedModules
from midcourse.domain.result import Result
from midcourse.errors import FleetUnavailable
from midcourse.home.fleet_store import open_pool, open_tenant_store, read_keys
from midcourse.redact import keep_out_of_logs
from midcourse.runtimes.temporal.attributes import TENANT
from midcourse.runtimes.temporal.client import FleetClient, connect
from midcourse.runtimes.temporal.client import RunBroken as RunBroken
from midcourse.runtimes.temporal.client import RunHandle as RunHandle
from midcourse.runtimes.temporal.profile import Profile, describe_security, explain_failure, read_profile
from midcourse.runtimes.temporal.wire import Placement, read_run_id
from midcourse.store.postgres import PostgresStore

RequestFailed: TypeAlias = RPCError
"""The error of a request that Temporal did not accept."""


@dataclass(frozen=True, kw_only=True)
class Fleet:
    """A connected fleet, as one tenant sees it."""

    settings: FleetSettings
    store: PostgresStore
    client: Client
    runs: FleetClient
    security: str = ""
    """How the connection to Temporal is secured, in words."""

    @property
    def temporal(self) -> str:
        """Temporal's address, which may come from a profile."""
        return self.client.service_client.config.target_host


@asynccontextmanager
async def connect_fleet(settings: FleetSettings) -> AsyncGenerator[Fleet]:
    """Connect to the database and to Temporal. Raises `FleetUnavailable` if one of them does not answer."""
    async with connect_tenants(settings, (settings.tenant,)) as (fleet,):
        yield fleet


@asynccontextmanager
async def connect_tenants(settings: FleetSettings, tenants: Sequence[str]) -> AsyncGenerator[tuple[Fleet, ...]]:
    """Connect for several tenants over the same connections. Raises what `connect_fleet` raises.

    With more than one tenant, stores check for messages every second: to listen for them, each would need a connection.
    """
    async with open_pool(settings, listens=len(tenants) == 1) as pool:
        stores = [await open_tenant_store(settings.model_copy(update={"tenant": tenant}), pool) for tenant in tenants]
        profile = read_profile(settings.temporal_profile) if settings.temporal_profile else None
        client = await _connect_temporal(settings, profile)
        yield tuple(
            _make_fleet(settings.model_copy(update={"tenant": tenant}), store, client, describe_security(profile))
            for tenant, store in zip(tenants, stores, strict=True)
        )


def _make_fleet(settings: FleetSettings, store: PostgresStore, client: Client, security: str) -> Fleet:
    placement = Placement(heartbeat_seconds=settings.heartbeat_seconds)
    runs = FleetClient(client, store=store, tenant=settings.tenant, placement=placement)
    return Fleet(settings=settings, store=store, client=client, runs=runs, security=security)


async def _connect_temporal(settings: FleetSettings, profile: Profile | None) -> Client:
    keys = read_keys(settings.keys_file) if settings.keys_file else ()
    where, namespace = settings.temporal_address, settings.temporal_namespace
    if profile is not None:
        keep_out_of_logs(profile.secrets)
        where = where or profile.address
        if "temporal_namespace" not in settings.model_fields_set:
            namespace = profile.namespace or namespace
    if "://" in where:  # a scheme would override what the profile says about TLS
        raise FleetUnavailable(f"Temporal's address is HOST:PORT, not '{where}'")
    if not where:
        raise FleetUnavailable(
            f"temporal_profile '{settings.temporal_profile}' names no address: add one, or set temporal_address"
        )
    try:
        return await connect(where, namespace=namespace, keys=keys, profile=profile)
    except RuntimeError as trouble:
        why = explain_failure(str(trouble), profile)
        says = f"Temporal at {where} cannot be used: {why}" if why else f"no Temporal answers at {where}"
        raise FleetUnavailable(says) from trouble
    except RPCError as trouble:
        raise FleetUnavailable(f"Temporal at {where} rejected the connection: {trouble.message}") from trouble


# --- starting a run


async def start_durable_run(fleet: Fleet, job: Job, run_id: str, *, again: bool = False) -> StartedRun:
    """Store a new run and start driving it, or resume the earlier run with the same business key.

    For `again` and `KeyTaken` see `check_key`.
    """
    AllowedModules(fleet.settings.task_modules).check(job.file.named_objects(), BUILT_IN)
    check_job(job)

    async def begin(after: str) -> StartedRun:
        run, task = new_run_of(job, run_id)
        await fleet.store.begin(run, task, after=after, job=encode_job(make_portable(job)))
        await fleet.runs.start(run, world=job.task.world)
        return StartedRun(run=run_id, job=job)

    async def resume(earlier: str) -> StartedRun:
        await fleet.runs.resume(earlier, world=job.task.world)
        return StartedRun(run=earlier, job=job, earlier=True)

    started = await start_under_key(fleet.store, job.task.key, begin=begin, resume=resume, again=again)
    if isinstance(started, Result):
        return StartedRun(run=started.run, job=job, result=started, earlier=True)
    return started


async def broken_runs(fleet: Fleet) -> set[str]:
    """Runs that are not driven because a bug in Midcourse or an adapter ended their execution; `resume` continues them."""
    tenant = fleet.settings.tenant.replace("'", "\\'")
    query = f"{TENANT.name} = '{tenant}' AND ExecutionStatus IN ('Failed', 'Terminated', 'TimedOut', 'Canceled')"
    once = {read_run_id(execution.id) async for execution in fleet.client.list_workflows(query)}
    return {run_id for run_id in once if (await fleet.runs.handle(run_id).describe()).status == "broken"}
