"""Connections of one tenant, shared by everything a store does at the same time.

Not SQLAlchemy's engine: it takes as long to hand out a connection as PostgreSQL to write a step (design/0005).
"""

import asyncio
import select
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager

import psycopg
from psycopg import AsyncConnection
from psycopg.pq import TransactionStatus

from midcourse.errors import FormatUnknown
from midcourse.store.postgres.address import for_libpq

APP_ROLE = "midcourse_app"
"""Who a store is to the database: owns nothing, and sees one tenant's rows."""
SCHEMA_VERSION = "0004"
"""The oldest schema that this version works with. A newer one is fine: workers outlive migrations."""

GREETING = "SELECT set_config('midcourse.tenant', %s, false), set_config('role', %s, false)"
"""Once a connection, not once a transaction: a statement alone is a transaction then. A pooler between us and the
server that hands out its connections by transaction would mix tenants' settings: there must be none."""


class Connections:
    """At most `size`, each opened when it is first needed and given back after every use.

    A broken one is dropped, and the next caller opens another, so a restarted server is found again. For
    use in one event loop.
    """

    def __init__(self, url: str, tenant: str, role: str, size: int) -> None:
        self._address = for_libpq(url)
        self.tenant = tenant
        self._role = role
        self._free = asyncio.Semaphore(size)
        self._idle: list[AsyncConnection] = []

    @asynccontextmanager
    async def one(self) -> AsyncGenerator[AsyncConnection]:
        """Raises `ConnectionError` if the server cannot be reached, or went away in the middle."""
        async with self._free:
            with driver_errors_translated():
                connection = await self._alive() or await self._open()
                try:
                    yield connection
                finally:
                    if connection.info.transaction_status == TransactionStatus.IDLE:
                        self._idle.append(connection)
                    else:
                        await connection.close()

    async def close(self) -> None:
        while self._idle:
            await self._idle.pop().close()

    async def _alive(self) -> AsyncConnection | None:
        while self._idle:
            connection = self._idle.pop()
            if not _has_something_to_say(connection):
                return connection
            await connection.close()
        return None

    async def _open(self) -> AsyncConnection:
        connection = await AsyncConnection.connect(self._address, autocommit=True)
        try:
            await self._greet(connection)
        except BaseException:
            await connection.close()
            raise
        return connection

    async def _greet(self, connection: AsyncConnection) -> None:
        try:
            await connection.execute(GREETING, (self.tenant, self._role))
            found = await (await connection.execute("SELECT version_num FROM midcourse.alembic_version")).fetchone()
        except (psycopg.errors.InvalidParameterValue, psycopg.errors.UndefinedTable):  # no such role, no such table
            found = None
        if found is None or found[0] < SCHEMA_VERSION:
            has = f"schema {found[0]}" if found else "no schema of ours"
            raise FormatUnknown(f"the database has {has}, this version needs {SCHEMA_VERSION}: migrate it first")


@contextmanager
def driver_errors_translated() -> Generator[None]:
    """Translates errors of the driver, so that callers can tell an unreachable server from a bug."""
    try:
        yield
    except psycopg.OperationalError as error:
        raise ConnectionError(f"PostgreSQL: {str(error).strip()}") from error


def _has_something_to_say(connection: AsyncConnection) -> bool:
    """A server speaks up on an idle connection only to say goodbye, or nothing that is worth keeping it for."""
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return bool(poll.poll(0))
