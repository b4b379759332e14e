"""Connections of one tenant, shared by all concurrent calls to a store.

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
"""The database role of a store: it owns nothing, and sees one tenant's rows."""
SCHEMA_VERSION = "0008"
"""The oldest schema that this version works with. A newer one is accepted, since workers outlive migrations."""

SET_UP = "SELECT set_config('midcourse.tenant', %s, false), set_config('role', %s, false)"
"""Sent once per connection instead of per transaction, so that a single statement is a transaction. Do not use a pooler that
assigns connections per transaction: it would mix tenants' settings."""


class Connections:
    """A pool of at most `size` connections, opened when first needed. For use in one event loop.

    A broken connection is dropped, and the next caller opens another, so a restarted server is found again.
    """

    def __init__(self, url: str, tenant: str, role: str, size: int) -> None:
        self._address = for_libpq(url)
        self.tenant = tenant
        self._role = role
        self._free = asyncio.Semaphore(size)
        self._idle: list[AsyncConnection] = []

    @asynccontextmanager
    async def one(self) -> AsyncGenerator[AsyncConnection]:
        """A connection. Raises `ConnectionError` if the server cannot be reached or is lost meanwhile."""
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

    @asynccontextmanager
    async def own(self) -> AsyncGenerator[AsyncConnection]:
        """A connection besides those of the pool, for a caller that keeps it. Raises as `one` does."""
        with driver_errors_translated():
            connection = await self._open()
            try:
                yield connection
            finally:
                await connection.close()

    async def close(self) -> None:
        while self._idle:
            await self._idle.pop().close()

    async def _alive(self) -> AsyncConnection | None:
        while self._idle:
            connection = self._idle.pop()
            if not _has_unread_data(connection):
                return connection
            await connection.close()
        return None

    async def _open(self) -> AsyncConnection:
        connection = await AsyncConnection.connect(self._address, autocommit=True)
        try:
            await self._set_up(connection)
        except BaseException:
            await connection.close()
            raise
        return connection

    async def _set_up(self, connection: AsyncConnection) -> None:
        try:
            await connection.execute(SET_UP, (self.tenant, self._role))
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


def _has_unread_data(connection: AsyncConnection) -> bool:
    """Whether an idle connection has unread data, which usually means that the server has closed it."""
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return bool(poll.poll(0))
