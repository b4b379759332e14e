"""Deletes what a fleet stored about runs of long ago, in the database and where screenshots are: a tenant's runs, or a whole month."""

import asyncio
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import psycopg

from midcourse.config.fleet_settings import FleetSettings
from midcourse.errors import FleetUnavailable
from midcourse.fleet.blobs import blobs_outside
from midcourse.home.fleet_store import open_pool
from midcourse.home.retention import Pruned, delete_folder
from midcourse.store.postgres import PostgresStore
from midcourse.store.postgres.connections import OWNER
from midcourse.store.postgres.partitions import drop_month, find_runs_of_month

AT_ONCE = 500
"""The number of runs that are pruned in one transaction."""


async def prune_tenant(
    settings: FleetSettings, home: Path, before: float, at: float, *, dry_run: bool = False
) -> Pruned:
    """Prune the runs of the settings' tenant that ended before this time, or only count them.

    The database URL must be that of the tables' owner. Files outside the database are deleted first: the database names them,
    so if that fails halfway, it can be repeated.
    """
    pruned = 0
    blobs = blobs_outside(settings, home, settings.tenant)
    try:
        async with open_pool(settings, role=OWNER) as pool:
            store = PostgresStore("", tenant=settings.tenant, pool=pool)
            if dry_run:
                return Pruned(runs=len(await store.find_prunable(before, None)))
            while found := await store.find_prunable(before, AT_ONCE):
                for run_id in found:
                    if blobs is not None:
                        await blobs.delete(run_id)
                    delete_folder(home, settings.tenant, run_id)
                if not (done := await store.prune(found, at)):
                    break  # another process prunes the same ones
                pruned += done
    except ConnectionError as trouble:
        raise FleetUnavailable(f"the database cannot be reached: {trouble}") from trouble
    return Pruned(runs=pruned)


@dataclass(frozen=True, kw_only=True)
class Expired:
    runs: int
    """The number of runs of the month that observed something."""
    dropped: tuple[str, ...] = ()
    """The partitions of the database that were deleted."""


async def expire_month(settings: FleetSettings, home: Path, month: date, *, really: bool) -> Expired:
    """Delete the records of a month, of all tenants. Without `really`, only count its runs.

    The database URL must be that of the tables' owner. Screenshots outside the database are deleted first: the database names
    them, so if that fails halfway, it can be repeated. Raises `TaskInvalid` for a month that is not over.
    """
    url = settings.database_url.get_secret_value()
    try:
        runs = await asyncio.to_thread(find_runs_of_month, url, month)
        if not really:
            return Expired(runs=len(runs))
        for tenant, run in runs:
            if blobs := blobs_outside(settings, home, tenant):
                await blobs.delete(run)
        return Expired(runs=len(runs), dropped=await asyncio.to_thread(drop_month, url, month))
    except psycopg.OperationalError as trouble:
        raise FleetUnavailable(f"the database cannot be reached: {str(trouble).strip()}") from trouble
