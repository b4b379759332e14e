"""The database of a fleet and the keys it is sealed with. Nothing here imports Temporal, so commands that only read are fast."""

import base64
import binascii
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeAlias

from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError, OperationalError

from midcourse.app.fleet.settings import FleetSettings
from midcourse.errors import FleetUnavailable, TaskInvalid
from midcourse.sealing import Key, Seals
from midcourse.store.postgres import PostgresStore

FleetStore: TypeAlias = PostgresStore


@asynccontextmanager
async def open_fleet_store(settings: FleetSettings) -> AsyncGenerator[PostgresStore]:
    """Raises `FleetUnavailable` without a database, and `FormatUnknown` if it has the schema of another version."""
    url = settings.database_url.get_secret_value()
    seals = Seals(read_keys(settings.keys_file)) if settings.keys_file else None
    try:
        store = PostgresStore(url, tenant=settings.tenant, connections=settings.max_connections, seals=seals)
        await store.runs(limit=1)
    except (OSError, ArgumentError) as trouble:
        raise FleetUnavailable(f"the database cannot be reached: {trouble}") from trouble
    async with store:
        yield store


def read_keys(file: Path) -> tuple[Key, ...]:
    """Parse a keys file: one key a line, a name and 16, 24 or 32 bytes in base64. Comments begin with #."""
    lines = [line.partition("#")[0].split() for line in file.read_text(encoding="utf-8").splitlines()]
    keys: list[Key] = []
    for words in filter(None, lines):
        try:
            name, secret = words
            keys.append(Key(id=name, secret=base64.b64decode(secret, validate=True)))
        except (ValueError, binascii.Error):
            raise TaskInvalid(f"keys_file {file}: a key is a line with a name and base64") from None
        if len(keys[-1].secret) not in (16, 24, 32):
            raise TaskInvalid(f"keys_file {file}: the key '{name}' must have 16, 24 or 32 bytes")
    if not keys:
        raise TaskInvalid(f"keys_file {file}: there is no key in it")
    return tuple(keys)


def database_label(settings: FleetSettings) -> str:
    """The database's URL without its password."""
    return make_url(settings.database_url.get_secret_value()).render_as_string(hide_password=True)


def migrate_database(settings: FleetSettings) -> str:
    """Bring the database to the schema of this version. Returns its label; raises `FleetUnavailable`."""
    from midcourse.store.postgres.migrate import migrate

    try:
        label = database_label(settings)
        migrate(settings.database_url.get_secret_value())
    except (ArgumentError, OperationalError) as trouble:
        raise FleetUnavailable(f"the database cannot be reached: {trouble}") from trouble
    return label
