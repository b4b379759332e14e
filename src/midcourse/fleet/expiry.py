"""Deletes what a fleet stored about the runs of a month: journals, observations and screenshots, in any place."""

import asyncio
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import psycopg

from midcourse.config.fleet_settings import FleetSettings
from midcourse.errors import FleetUnavailable
from midcourse.fleet.blobs import blobs_outside
from midcourse.store.postgres.partitions import drop_month, find_runs_of_month


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
