"""Kept segments in PostgreSQL: the suite of every keeper, for each tenant its own."""

from collections.abc import AsyncIterator

import pytest

from midcourse.ports.plan_cache import PlanCache
from midcourse.store.postgres import PostgresStore
from midcourse.testing.conformance.plan_cache import SEGMENT, PlanCacheConformance

pytestmark = pytest.mark.slow


class TestPostgres(PlanCacheConformance):
    @pytest.fixture(autouse=True)
    async def _store(self, postgres: str, tenant: str) -> AsyncIterator[None]:
        async with PostgresStore(postgres, tenant=tenant) as self.store:
            yield

    async def make_segments(self) -> PlanCache:
        return self.store.segments


async def test_what_one_tenant_keeps_no_other_finds_or_drops(postgres: str, tenant: str):
    async with PostgresStore(postgres, tenant=tenant) as store, PostgresStore(postgres, tenant=f"{tenant}x") as other:
        await store.segments.keep(SEGMENT)
        assert await other.segments.all() == ()
        assert await other.segments.find(SEGMENT.task, SEGMENT.surface) == ()
        assert not await other.segments.drop(SEGMENT.id)
        assert await store.segments.all() == (SEGMENT,)
