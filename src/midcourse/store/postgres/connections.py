"""Connections to the database, shared by all concurrent calls to the stores of one or many tenants.

SQLAlchemy's engine is not used: to hand out a connection, it takes as long as PostgreSQL takes to write a step (design/0005).
"""

import select
from collections.abc import AsyncGenerator, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from typing import Any

import psycopg
from psycopg import AsyncConnection
from psycopg.pq import TransactionStatus

from midcourse.errors import FormatUnknown
from midcourse.fair_semaphore import FairSemaphore
from midcourse.store.postgres.address import convert_for_libpq

APP_ROLE = "midcourse_app"
"""The database role of a store, which owns nothing and sees only one tenant's rows."""
OWNER = "none"
"""The value for the role of a store that keeps the role which logged in, as for deleting records."""
SCHEMA_VERSION = "0009"
"""The oldest schema that this version works with. A newer one is accepted, since workers outlive migrations."""

SET_UP = "SELECT set_config('midcourse.tenant', %s, false), set_config('role', %s, false)"
"""Sets the tenant and role of a connection. It is sent only when the tenant changes, so that a single statement is a transaction."""
SET_UP_TRANSACTION = "SELECT set_config('midcourse.tenant', %s, true), set_config('role', %s, true)"
"""Sets the tenant and role for one transaction. Behind a pooler, the next one may use another connection to the server."""
VERSION = "SELECT version_num FROM midcourse.alembic_version"


class ConnectionPool:
    """At most `size` connections, opened when first needed, for stores of any number of tenants in one event loop.

    If all are in use, the next one that is free goes to the tenant that had one least often lately.

    A broken connection is dropped, and the next caller opens another one, so the pool recovers when the server restarts.
    `by_transaction` means that a pooler in between lends each connection to the server for one transaction only.
    """

    def __init__(
        self, url: str, *, role: str = APP_ROLE, size: int = 10, by_transaction: bool = False, listens: bool = True
    ) -> None:
        """`listens` says whether each store may open a further connection for notifications.

        Behind a pooler there are no notifications, because they belong to a connection to the server.
        """
        self.address = convert_for_libpq(url)
        self.role = role
        self.by_transaction = by_transaction
        self.listens = listens and not by_transaction
        self._semaphore = FairSemaphore(size)
        self._idle: list[AsyncConnection] = []
        self._tenants: dict[AsyncConnection, str] = {}
        """The tenant that each connection is set to, or an empty string if that is not certain."""

    @asynccontextmanager
    async def borrow(self, tenant: str) -> AsyncGenerator[AsyncConnection]:
        """Borrow a connection for this tenant. Raise `ConnectionError` if the server cannot be reached or the connection is lost."""
        async with self._semaphore.acquire(tenant):
            with translate_driver_errors():
                connection = await self._take_idle(tenant) or await self._open(tenant)
                try:
                    if self.by_transaction:
                        async with connection.transaction():
                            await connection.execute(SET_UP_TRANSACTION, (tenant, self.role))
                            yield connection
                    else:
                        await self._set_tenant(connection, tenant)
                        yield connection
                finally:
                    if connection.info.transaction_status == TransactionStatus.IDLE:
                        self._idle.append(connection)
                    else:
                        await self._close(connection)

    @asynccontextmanager
    async def open_separate(self, tenant: str) -> AsyncGenerator[AsyncConnection]:
        """Open a connection outside the pool, for a caller that keeps it. Raise `ConnectionError` like `borrow`."""
        with translate_driver_errors():
            connection = await self._open(tenant)
            try:
                yield connection
            finally:
                await self._close(connection)

    async def close(self) -> None:
        while self._idle:
            await self._close(self._idle.pop())

    async def _take_idle(self, tenant: str) -> AsyncConnection | None:
        """Take an idle connection, if possible one that is set to this tenant already."""
        self._idle.sort(key=lambda connection: self._tenants.get(connection) == tenant)
        while self._idle:
            connection = self._idle.pop()
            if not _has_unread_data(connection):
                return connection
            await self._close(connection)
        return None

    async def _open(self, tenant: str) -> AsyncConnection:
        prepares: dict[str, Any] = {"prepare_threshold": None} if self.by_transaction else {}
        connection = await AsyncConnection.connect(self.address, autocommit=True, **prepares)
        try:
            await self._check_schema(connection, tenant)
        except BaseException:
            await connection.close()
            raise
        self._tenants[connection] = "" if self.by_transaction else tenant
        return connection

    async def _set_tenant(self, connection: AsyncConnection, tenant: str) -> None:
        if self._tenants.get(connection) != tenant:
            # If the next statement is interrupted, it is not known what the connection is set to.
            self._tenants[connection] = ""
            await connection.execute(SET_UP, (tenant, self.role))
            self._tenants[connection] = tenant

    async def _close(self, connection: AsyncConnection) -> None:
        self._tenants.pop(connection, None)
        await connection.close()

    async def _check_schema(self, connection: AsyncConnection, tenant: str) -> None:
        """Set the connection up, and check that the database has the tables of this version."""
        try:
            if self.by_transaction:
                async with connection.transaction():
                    await connection.execute(SET_UP_TRANSACTION, (tenant, self.role))
                    found = await (await connection.execute(VERSION)).fetchone()
            else:
                await connection.execute(SET_UP, (tenant, self.role))
                found = await (await connection.execute(VERSION)).fetchone()
        except (psycopg.errors.InvalidParameterValue, psycopg.errors.UndefinedTable):  # no such role, no such table
            found = None
        if found is None or found[0] < SCHEMA_VERSION:
            has = f"schema {found[0]}" if found else "no schema of ours"
            raise FormatUnknown(f"the database has {has}, this version needs {SCHEMA_VERSION}: migrate it first")


class Connections:
    """The connections of one tenant, from a pool that others may share."""

    def __init__(self, pool: ConnectionPool, tenant: str) -> None:
        self.pool = pool
        self.tenant = tenant

    def borrow(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """Borrow a connection. Raise `ConnectionError` if the server cannot be reached or the connection is lost."""
        return self.pool.borrow(self.tenant)

    def open_separate(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """Open a connection outside the pool, for a caller that keeps it. Raise `ConnectionError` like `borrow`."""
        return self.pool.open_separate(self.tenant)


@contextmanager
def translate_driver_errors() -> Generator[None]:
    """Translate errors of the driver, so that callers can distinguish an unreachable server from a bug."""
    try:
        yield
    except psycopg.OperationalError as error:
        raise ConnectionError(f"PostgreSQL: {str(error).strip()}") from error


def _has_unread_data(connection: AsyncConnection) -> bool:
    """Return whether an idle connection has unread data, which usually means that the server has closed it."""
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return bool(poll.poll(0))
