"""Opens the database of a fleet, and reads the keys that seal it. It does not import Temporal, so commands that only read are fast."""

import base64
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeAlias

import psycopg

from midcourse.config.fleet_settings import FleetSettings
from midcourse.errors import FleetUnavailable, TaskInvalid
from midcourse.sealing import Key, Seals
from midcourse.store.postgres import PostgresStore
from midcourse.store.postgres.address import label_address
from midcourse.store.postgres.connections import APP_ROLE, ConnectionPool

FleetStore: TypeAlias = PostgresStore

HINTS = {
    "certificate verify failed": "sslrootcert in database_url names the file with the certificate of its authority",
    "does not match host name": "database_url has to name the server as its certificate does",
    "requires a valid client certificate": "sslcert and sslkey in database_url name the files of one",
    "certificate authentication failed": "sslcert and sslkey in database_url name the files of the user's certificate",
    "alert": "sslcert and sslkey in database_url name the files of the client certificate",
    "no encryption": "the server wants TLS: sslmode=verify-full in database_url",
}
"""What to change after a refused connection, by a phrase in the message of libpq. The first match counts."""


@asynccontextmanager
async def open_pool(
    settings: FleetSettings, *, role: str = APP_ROLE, listens: bool = True
) -> AsyncGenerator[ConnectionPool]:
    """Open the connections of a process, for the stores of one or many tenants."""
    pool = ConnectionPool(
        settings.database_url.get_secret_value(),
        role=role,
        size=settings.max_connections,
        by_transaction=settings.database_pooler,
        listens=listens,
    )
    try:
        yield pool
    finally:
        await pool.close()


@asynccontextmanager
async def open_fleet_store(settings: FleetSettings) -> AsyncGenerator[PostgresStore]:
    """Open the store. Raises `FleetUnavailable` if no database answers, and `FormatUnknown` if it has another version's schema."""
    async with open_pool(settings) as pool:
        yield await open_tenant_store(settings, pool)


async def open_tenant_store(settings: FleetSettings, pool: ConnectionPool) -> PostgresStore:
    """The store of the settings' tenant. Raises what `open_fleet_store` raises."""
    seals = Seals(read_keys(settings.keys_file)) if settings.keys_file else None
    store = PostgresStore("", tenant=settings.tenant, seals=seals, pool=pool)
    try:
        await store.runs(limit=1)
    except OSError as trouble:
        raise FleetUnavailable(_explain(str(trouble))) from trouble
    return store


def read_keys(file: Path) -> tuple[Key, ...]:
    """Parse a file of keys. Each line is a name and 16, 24 or 32 bytes in base64. Comments begin with #."""
    lines = [line.partition("#")[0].split() for line in file.read_text(encoding="utf-8").splitlines()]
    keys: list[Key] = []
    for words in filter(None, lines):
        try:
            name, secret = words
            keys.append(Key(id=name, secret=base64.b64decode(secret, validate=True)))
        except ValueError:
            raise TaskInvalid(f"keys_file {file}: a key is a line with a name and base64") from None
        if len(keys[-1].secret) not in (16, 24, 32):
            raise TaskInvalid(f"keys_file {file}: the key '{name}' must have 16, 24 or 32 bytes")
    if not keys:
        raise TaskInvalid(f"keys_file {file}: there is no key in it")
    return tuple(keys)


def database_label(settings: FleetSettings) -> str:
    """The database's URL without passwords and keys."""
    return label_address(settings.database_url.get_secret_value())


def migrate_database(settings: FleetSettings) -> str:
    """Bring the database to the schema of this version. Returns its label; raises `FleetUnavailable`."""
    from sqlalchemy.exc import OperationalError  # it takes longer to import than all the rest of this module

    from midcourse.store.postgres.migrate import migrate

    try:
        label = database_label(settings)
        migrate(settings.database_url.get_secret_value())
    except (OperationalError, psycopg.OperationalError) as trouble:
        raise FleetUnavailable(_explain(str(getattr(trouble, "orig", trouble)))) from trouble
    return label


def _explain(trouble: str) -> str:
    hint = next((hint for sign, hint in HINTS.items() if sign in trouble), "")
    return f"the database cannot be reached: {trouble.strip()}" + (f" ({hint})" if hint else "")
