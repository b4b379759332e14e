"""The audit log in PostgreSQL: the database chains what people decide, and not even its owner changes that unnoticed."""

import asyncio

import psycopg
import pytest

from midcourse.domain.events import ApprovalDecided, CancelAsked, Guided, Observed, PauseAsked, ResumeAsked
from midcourse.domain.run import Run
from midcourse.domain.task import Task
from midcourse.policy.audit import verify_log
from midcourse.store.postgres import PostgresStore
from tests.store.batches import write


async def decide(store: PostgresStore, run_id: str = "a", text: str = "take the blue ones") -> None:
    """Somebody says something at every other event."""
    await store.begin(Run(id=run_id), Task(goal="Order"))
    said = (
        ApprovalDecided(question=3, verdict="approved", by="Ann", at=2.0),
        PauseAsked(at=4.0),
        ResumeAsked(at=6.0),
        Guided(text=text, at=8.0),
        CancelAsked(at=10.0),
    )
    for number, event in enumerate(said):
        await write(store, run_id, 2 * number + 1, Observed(answers=number, at=event.at))
        await write(store, run_id, 2 * number + 2, event)


async def test_what_people_decide_is_chained_by_the_database(postgres: str, tenant: str):
    async with PostgresStore(postgres, tenant=tenant) as store:
        await decide(store, text="“Grüße” \\ \n\0 🖊")
        log = await store.audit()
        assert [row.seq for row in log.rows] == [2, 4, 6, 8, 10]
        assert '"by":"Ann"' in log.rows[0].body
        assert sorted(word.seq for word in log.inputs) == [2, 4, 6, 8, 10]
        assert verify_log(log).problem == ""


async def test_event_that_is_written_again_is_audited_once(postgres: str, tenant: str):
    async with PostgresStore(postgres, tenant=tenant) as store:
        await store.begin(Run(id="a"), Task(goal="Order"))
        for _ in range(3):
            await write(store, "a", 1, CancelAsked(at=1.0))
        assert [row.n for row in (await store.audit()).rows] == [1]


async def test_many_at_once_make_one_chain(postgres: str, tenant: str):
    async with PostgresStore(postgres, tenant=tenant) as store:
        await asyncio.gather(*(decide(store, f"run {number}") for number in range(8)))
        verified = verify_log(await store.audit())
        assert (verified.problem, verified.head.n) == ("", 40)


@pytest.mark.parametrize(
    "tampering",
    [
        "UPDATE midcourse.audit SET body = replace(body, 'approved', 'rejected') WHERE tenant = %s",
        "UPDATE midcourse.audit SET run = 'b' WHERE tenant = %s AND n = 3",
        "DELETE FROM midcourse.audit WHERE tenant = %s AND n = 3",
        "DELETE FROM midcourse.audit WHERE tenant = %s AND n = 5",
    ],
)
async def test_even_the_owner_cannot_change_it_unnoticed(postgres: str, tenant: str, tampering: str):
    async with PostgresStore(postgres, tenant=tenant) as store:
        await decide(store)
        head = verify_log(await store.audit()).head
        with psycopg.connect(postgres) as owner:
            owner.execute(tampering.encode(), (tenant,))
        assert verify_log(await store.audit(), through=head).problem


async def test_application_can_neither_change_nor_number_it(postgres: str, tenant: str):
    async with PostgresStore(postgres, tenant=tenant) as store:
        await decide(store)
    with psycopg.connect(postgres, autocommit=True) as application:
        application.execute("SELECT set_config('midcourse.tenant', %s, false)", (tenant,))
        application.execute("SET ROLE midcourse_app")
        for statement in ("UPDATE midcourse.audit SET body = ''", "DELETE FROM midcourse.audit"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                application.execute(statement.encode())
        application.execute("INSERT INTO midcourse.audit (n, run, seq, body, hash) VALUES (99, 'a', 99, '{}', 'mine')")
        last = application.execute("SELECT n, hash <> 'mine' FROM midcourse.audit ORDER BY n DESC LIMIT 1").fetchone()
        assert last == (6, True)
