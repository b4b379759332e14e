"""The fleet that the tests of a runtime share: one server, one database, and for each test a tenant of its own."""

from collections.abc import AsyncGenerator

import pytest

from midcourse.runtimes.temporal.client import connect
from midcourse.store.postgres import PostgresStore
from tests.runtimes.fleet import Fleet


@pytest.fixture
async def fleet(temporal: str, postgres: str, tenant: str) -> AsyncGenerator[Fleet]:
    async with PostgresStore(postgres, tenant=tenant) as store:
        yield Fleet(client=await connect(temporal), store=store, tenant=tenant)
