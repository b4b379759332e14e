"""The store of a fleet, for whoever only reads it: nothing here needs Temporal."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from sqlalchemy.exc import ArgumentError

from midcourse.app.fleet.keys import seals_in
from midcourse.app.fleet.settings import FleetSettings
from midcourse.errors import FleetUnavailable
from midcourse.store.postgres import PostgresStore


@asynccontextmanager
async def opened_store(settings: FleetSettings) -> AsyncGenerator[PostgresStore]:
    """Raises `FleetUnavailable` if there is no database, and `FormatUnknown` if it has not the schema of this version."""
    url = settings.database_url.get_secret_value()
    seals = seals_in(settings.keys_file)
    try:
        store = PostgresStore(url, tenant=settings.tenant, connections=settings.max_connections, seals=seals)
        await store.runs(limit=1)
    except (OSError, ArgumentError) as trouble:
        raise FleetUnavailable(f"the database cannot be reached: {trouble}") from trouble
    async with store:
        yield store
