"""The store of a fleet: one tenant's runs in PostgreSQL."""

import re
from collections.abc import Generator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Self

import psycopg

from midcourse.errors import FleetUnavailable, RunBusy, TaskInvalid
from midcourse.holding import hold, holder_of, release_abandoned
from midcourse.sealing import Seals
from midcourse.store.postgres import retention
from midcourse.store.postgres.blobs import PostgresBlobs
from midcourse.store.postgres.connections import (
    APP_ROLE,
    SET_UP,
    SET_UP_TRANSACTION,
    ConnectionPool,
    Connections,
    translate_driver_errors,
)
from midcourse.store.postgres.database import Database
from midcourse.store.postgres.driving import PostgresDriving
from midcourse.store.postgres.durability import find_risk
from midcourse.store.postgres.memory import PostgresMemory
from midcourse.store.postgres.plan_cache import PostgresPlanCache
from midcourse.store.state import build_unknown_error

TENANT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")

CLAIM = b"SELECT pg_try_advisory_lock(hashtextextended(current_setting('midcourse.tenant') || ' run ' || %s, 0))"
CLAIM_FOR_TRANSACTION = CLAIM.replace(b"pg_try_advisory_lock", b"pg_try_advisory_xact_lock")


class PostgresStore(PostgresDriving):
    """A store in PostgreSQL. Writes are durable when a method returns.

    After a `ConnectionError` they may or may not be stored: write them again when the server is back. All writes are
    idempotent except `begin`, which then reports that the run exists.

    Many workers may share a database; each has one store per tenant, used in one event loop.
    """

    def __init__(
        self,
        url: str,
        *,
        tenant: str,
        role: str = APP_ROLE,
        connections: int = 10,
        seals: Seals | None = None,
        pool: ConnectionPool | None = None,
    ) -> None:
        """`connections` is the maximum number of connections, which are opened when needed. `seals` encrypt the handles of sessions.

        Without `seals`, handles are stored in plain text. A `pool` is shared with other stores, has its own role and size, and stays open.
        """
        if not TENANT.fullmatch(tenant):
            raise TaskInvalid(f"{tenant!r} is not a valid name for a tenant: letters, digits, '.', '_' and '-' only")
        self._pool = pool or ConnectionPool(url, role=role, size=connections)
        self._owns_pool = pool is None
        super().__init__(Database(Connections(self._pool, tenant), seals))
        self._set_up = tenant, self._pool.role

    @property
    def segments(self) -> PostgresPlanCache:
        """The plan cache of this tenant."""
        return PostgresPlanCache(self._database)

    @property
    def blobs(self) -> PostgresBlobs:
        """The screenshots of this tenant's runs."""
        return PostgresBlobs(self._database)

    def memory(self, agent: str) -> PostgresMemory:
        """Return the memory of an agent of this tenant, over the same connections."""
        return PostgresMemory(self._database, agent)

    async def pruned_at(self, run_id: str) -> float | None:
        rows = await self._database.rows(retention.PRUNED_AT, (run_id,))
        if not rows:
            raise build_unknown_error(run_id)
        return rows[0][0]

    async def find_prunable(self, before: float, limit: int | None) -> tuple[str, ...]:
        return await retention.find_prunable(self._database, before, limit)

    async def prune(self, run_ids: tuple[str, ...], at: float) -> int:
        """See the port. Raise `FleetUnavailable` for the role of workers, which may not delete records."""
        return await retention.delete_records(self._database, run_ids, at)

    @contextmanager
    def claim(self, run_id: str) -> Generator[None]:
        """Lock a run while driving it. Raise `RunBusy` if another process drives it.

        The server releases the lock when this process dies or the connection breaks.
        """
        by_transaction, what = self._pool.by_transaction, (self._pool.address, self._set_up, run_id)
        release_abandoned(what)
        with translate_driver_errors():
            connection = psycopg.connect(self._pool.address, autocommit=not by_transaction, prepare_threshold=None)
        # Behind a pooler this is one transaction, since only a transaction stays on one connection to the server.
        with connection:
            connection.execute(SET_UP_TRANSACTION if by_transaction else SET_UP, self._set_up)
            lock = CLAIM_FOR_TRANSACTION if by_transaction else CLAIM
            if connection.execute(lock, (run_id,)).fetchone() != (True,):
                here = holder_of(what)
                holder = f"this process ({here})" if here else "another process"
                raise RunBusy(f"{holder} is driving run {run_id!r}")

            def release() -> None:
                with suppress(psycopg.Error):  # a connection that broke holds nothing any more
                    connection.commit()
                connection.close()

            with hold(what, release):
                yield

    async def check_durability(self) -> None:
        """Raise `FleetUnavailable` if the server may lose commits that it has confirmed, because acts could then be repeated."""
        if risk := await find_risk(self._database):
            raise FleetUnavailable(f"the database is not safe for durable runs: {risk}, and start the worker again")

    async def close(self) -> None:
        """Close the connections, unless they are of a shared pool. It is safe to call this twice."""
        if self._owns_pool:
            await self._pool.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
