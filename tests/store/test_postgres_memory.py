"""Lessons in PostgreSQL: as in a file, with pgvector and without, and never across tenants."""

from pathlib import Path
from uuid import uuid4

import psycopg
import pytest

from midcourse.domain.records.lesson import Embedding
from midcourse.ports.memory import Memory
from midcourse.store.postgres import PostgresStore
from midcourse.store.postgres.memory import PostgresMemory
from midcourse.testing.conformance.memory import DENIED, FIX, MemoryConformance, at


class Shut(PostgresMemory):
    """A memory that takes its connections along."""

    async def close(self) -> None:
        await self._database.connections.pool.close()


class TestPostgresMemory(MemoryConformance):
    @pytest.fixture(autouse=True)
    def _server(self, postgres: str) -> None:
        self.url, self.tenant = postgres, f"t{uuid4().hex[:12]}"

    def make_memory(self, tmp_path: Path, agent: str) -> Memory:
        return Shut(PostgresStore(self.url, tenant=self.tenant)._database, agent)


class TestWithoutPgvector(TestPostgresMemory):
    def make_memory(self, tmp_path: Path, agent: str) -> Memory:
        memory = Shut(PostgresStore(self.url, tenant=self.tenant)._database, agent)
        memory._pgvector = False
        return memory


def test_pgvector_is_there_to_be_tested(postgres: str) -> None:
    with psycopg.connect(postgres) as owner:
        assert owner.execute("SELECT count(*) FROM pg_extension WHERE extname = 'vector'").fetchone() == (1,)


async def test_both_ways_to_compare_find_the_same(postgres: str, tenant: str) -> None:
    async with PostgresStore(postgres, tenant=tenant) as store:
        memory = store.memory("ann")
        await memory.save(DENIED, Embedding(model="m", values=(0.6, 0.8)))
        found = []
        for pgvector in (True, False):
            memory._pgvector = pgvector
            found.append(await memory.alike(Embedding(model="m", values=(0.28, 0.96)), above=0.9))
        assert found[0][0].alike == pytest.approx(found[1][0].alike)
        assert found[0][0].alike == pytest.approx(0.936)


async def test_nothing_of_a_lesson_crosses_from_one_tenant_to_another(postgres: str, tenant: str) -> None:
    async with PostgresStore(postgres, tenant=tenant) as ours, PostgresStore(postgres, tenant=f"{tenant}x") as theirs:
        mine, other = ours.memory("ann"), theirs.memory("ann")
        await mine.save(DENIED, at(1.0))
        await mine.credit(DENIED.key, "r1", FIX)
        assert await mine.share(DENIED.key, "ann", "Eve")
        assert not await other.share(DENIED.key, "ann", "Mallory")
        assert (await other.track(DENIED.key)).fixed == 0
        assert await other.recall(DENIED.signature) == ()
        assert await other.alike(at(1.0), above=0.0) == ()
        assert await other.lessons() == ()
        assert await other.forget(DENIED.key) == 0
        await other.debit(DENIED.key, "r2")
        await other.save(DENIED)
        assert (await mine.track(DENIED.key)).not_fixed == 0
        (lesson,) = await mine.lessons()
        assert (lesson.fix, lesson.shared_by) == (FIX, "Eve")
