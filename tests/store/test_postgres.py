"""The PostgreSQL store: the suite of every store, on the store itself and on a batch that is never flushed."""

from pathlib import Path

import pytest

from midcourse.ports.store import Store
from midcourse.store.postgres import PostgresStore
from midcourse.testing.conformance.store import StoreConformance


class TestPostgresStore(StoreConformance):
    @pytest.fixture(autouse=True)
    def _database(self, postgres: str, tenant: str) -> None:
        self.url, self.tenant = postgres, tenant

    def make_store(self, tmp_path: Path) -> Store:
        return PostgresStore(self.url, tenant=self.tenant)

    def reopen(self, store: Store) -> Store | None:
        return self.make_store(Path())


class TestPostgresBatch(TestPostgresStore):
    """What waits is read as if it were stored."""

    def make_store(self, tmp_path: Path) -> Store:
        self.store = PostgresStore(self.url, tenant=self.tenant)
        return self.store.batch()

    async def close_store(self, store: Store) -> None:
        await self.store.close()

    def reopen(self, store: Store) -> Store | None:
        return None
