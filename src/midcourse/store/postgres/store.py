"""The store of a fleet: one tenant's runs in PostgreSQL."""

import re
from collections.abc import Generator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

import psycopg

from midcourse.errors import RunBusy, TaskInvalid
from midcourse.sealing import Seals
from midcourse.store.postgres.address import for_libpq
from midcourse.store.postgres.batch import PostgresBatch
from midcourse.store.postgres.connections import APP_ROLE, GREETING, Connections, driver_errors_translated
from midcourse.store.postgres.database import Database
from midcourse.store.postgres.memory import PostgresMemory
from midcourse.store.postgres.plan_cache import PostgresPlanCache
from midcourse.store.postgres.records import Records

TENANT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")

CLAIM = b"SELECT pg_try_advisory_lock(hashtextextended(current_setting('midcourse.tenant') || ' run ' || %s, 0))"


class PostgresStore(Records):
    """What a method wrote is on the server's disk when it returns.

    If it raises `ConnectionError`, it may be there or not: write it again when the server is back, which the next call
    finds out. Only `begin` minds, and says that there is such a run.

    Many workers may share a database; each has one store for each tenant it works for, used in one event loop.
    """

    def __init__(
        self, url: str, *, tenant: str, role: str = APP_ROLE, connections: int = 10, seals: Seals | None = None
    ) -> None:
        """`connections`: how many at most. The first is opened when something is first written or read.
        `seals`: seal the handles of worlds' sessions; without them these are in the database in clear.
        """
        if not TENANT.fullmatch(tenant):
            raise TaskInvalid(f"{tenant!r} is not a valid name for a tenant: letters, digits, '.', '_' and '-' only")
        super().__init__(Database(Connections(url, tenant, role, connections), seals))
        self._url = url
        self._greeting = tenant, role

    def batch(self, run_id: str = "", turn: int = 0, attempt: int = 0) -> PostgresBatch:
        return PostgresBatch(self._database, run_id, turn, attempt)

    async def ping(self) -> None:
        await self._database.rows(b"SELECT 1", ())

    @property
    def segments(self) -> PostgresPlanCache:
        """What this tenant's runs may do again."""
        return PostgresPlanCache(self._database)

    def memory(self, agent: str) -> PostgresMemory:
        """What this tenant's agent has learned, over the same connections."""
        return PostgresMemory(self._database, agent)

    @contextmanager
    def claim(self, run_id: str) -> Generator[None]:
        """Hold a run while driving it; `RunBusy` if another process does.

        The server lets go of it when this process dies or the connection breaks, so the process that takes over after that may
        find itself refused by `keep`.
        """
        with driver_errors_translated():
            connection = psycopg.connect(for_libpq(self._url), autocommit=True)
        with connection:
            connection.execute(GREETING, self._greeting)
            if connection.execute(CLAIM, (run_id,)).fetchone() != (True,):
                raise RunBusy(f"another process is driving run {run_id!r}")
            yield

    async def close(self) -> None:
        """Closing twice is allowed."""
        await self._database.connections.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
