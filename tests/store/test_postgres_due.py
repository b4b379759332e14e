"""Runs that rest until a time, such as the end of a question: one statement over an index finds those that are due."""

import asyncio
from collections.abc import AsyncIterator

import psycopg
import pytest

from midcourse.store.postgres.address import convert_for_libpq
from midcourse.store.postgres.store import TAKE_DUE, PostgresStore
from midcourse.testing.conformance.store_samples import TASK, new_run


@pytest.fixture
async def store(postgres: str, tenant: str) -> AsyncIterator[PostgresStore]:
    async with PostgresStore(postgres, tenant=tenant) as store:
        yield store


async def rest_until(store: PostgresStore, run_id: str, wake_at: float | None) -> None:
    await store.begin(new_run(run_id), TASK)
    claim = await store.claim_run(run_id)
    assert await store.rest(claim, seq=0, known=0, wake_at=wake_at)


async def test_due_runs_are_those_that_rest_and_whose_time_has_come(store: PostgresStore):
    for run_id, wake_at in (
        ("past", 10.0),
        ("now", 20.0),
        ("later", 20.1),
        ("waits for a message", None),
        ("driven", 5.0),
    ):
        await rest_until(store, run_id, wake_at)
    await store.claim_run("driven")
    assert sorted(await store.take_due(20.0, 80.0)) == [("now", 0), ("past", 0)]
    assert await store.take_due(20.1, 80.0) == [("later", 0)]
    assert await store.take_due(79.0, 140.0) == []
    assert len(await store.take_due(80.0, 140.0)) == 3


async def test_a_due_run_is_given_to_one_of_many_workers(store: PostgresStore):
    for number in range(20):
        await rest_until(store, f"due-{number}", 10.0)
    taken = await asyncio.gather(*(store.take_due(11.0, 99.0) for _ in range(5)))
    runs = [run for part in taken for run, _ in part]
    assert sorted(runs) == sorted(f"due-{number}" for number in range(20))


async def test_due_runs_are_found_by_an_index(store: PostgresStore, postgres: str, tenant: str):
    """Among 20,000 runs that rest until later, of this tenant and another one."""
    filled = b"""INSERT INTO midcourse.drives (tenant, run, resting, wake_at)
        SELECT %s, 'r' || n, true, 1000 + n FROM generate_series(1, 10000) AS n"""
    async with await psycopg.AsyncConnection.connect(convert_for_libpq(postgres), autocommit=True) as connection:
        for owner in (tenant, f"{tenant}x"):
            await connection.execute(filled, (owner,))
        await connection.execute("ANALYZE midcourse.drives")
        await connection.execute(
            "SELECT set_config('midcourse.tenant', %s, false), set_config('role', %s, false)", (tenant, "midcourse_app")
        )
        plan = await connection.execute(b"EXPLAIN " + TAKE_DUE, {"now": 1003.0, "again_at": 2000.0})
        shown = "\n".join(line for (line,) in await plan.fetchall())
    assert "drives_due" in shown
    assert "Seq Scan" not in shown
    assert sorted(run for run, _ in await store.take_due(1003.0, 2000.0)) == ["r1", "r2", "r3"]
