"""The audit log: the database chains what people decide, and whatever is done to a row afterwards shows."""

import asyncio
import random
from dataclasses import replace

import psycopg
import pytest

from midcourse.domain.event import ApprovalDecided, CancelAsked, Guided, Observed, PauseAsked, ResumeAsked, Started
from midcourse.domain.run import Run
from midcourse.domain.task import Task
from midcourse.ports.store import Happened
from midcourse.store.postgres import PostgresStore
from midcourse.store.postgres.audit import START, AuditRow, Head, hash_of, verify_chain

TAMPERINGS = 10_000


def chain(length: int) -> list[AuditRow]:
    rows: list[AuditRow] = []
    before = ""
    for n in range(1, length + 1):
        row = AuditRow(n=n, run=f"run {n % 7}", seq=n, body=f'{{"kind":"guided","text":"{n}"}}', hash="")
        before = hash_of("acme", row, before)
        rows.append(replace(row, hash=before))
    return rows


def tampered(rows: list[AuditRow], chance: random.Random) -> list[AuditRow]:
    """One of the ways to change what was written, the last row's and all hashes included."""
    rows = list(rows)
    at = chance.randrange(len(rows))
    row = rows[at]
    match chance.randrange(7):
        case 0:
            text = list(row.body)
            text[chance.randrange(len(text))] += chance.choice("x 0")
            rows[at] = replace(row, body="".join(text))
        case 1:
            rows[at] = replace(row, run=row.run + " ")
        case 2:
            rows[at] = replace(row, seq=row.seq + chance.randint(1, 9))
        case 3:
            rows[at] = replace(row, hash=row.hash[::-1])
        case 4:
            del rows[at]
        case 5:
            changed = replace(row, body=row.body.replace("guided", "guarded"))
            before = rows[at - 1].hash if at else ""
            rows[at] = replace(changed, hash=hash_of("acme", changed, before))
        case _:
            rows.insert(at, replace(row, n=row.n, body="{}"))
    return rows


def test_what_was_written_verifies():
    rows = chain(50)
    assert verify_chain("acme", rows).problem == ""
    assert verify_chain("acme", rows).head == Head(n=50, hash=rows[-1].hash)
    assert verify_chain("acme", []).head == START


def test_whatever_is_done_to_a_chain_shows():
    rows = chain(20)
    head = verify_chain("acme", rows).head
    chance = random.Random(22)
    assert all(verify_chain("acme", tampered(rows, chance), through=head).problem for _ in range(TAMPERINGS))


def test_end_that_was_cut_off_shows_to_whoever_kept_the_head():
    rows = chain(20)
    head = verify_chain("acme", rows).head
    assert verify_chain("acme", rows[:15]).problem == ""
    assert verify_chain("acme", rows[:15], through=head).problem == "row 16 is missing: there were 20"
    assert verify_chain("acme", chain(25), through=head).problem == ""


def test_chain_made_up_anew_shows_to_whoever_kept_the_head():
    rows = chain(20)
    before = ""
    for at, row in enumerate(rows):
        row = replace(row, body=row.body.replace("guided", "guarded"))
        before = hash_of("acme", row, before)
        rows[at] = replace(row, hash=before)
    assert verify_chain("acme", rows).problem == ""
    assert verify_chain("acme", rows, through=verify_chain("acme", chain(20)).head).problem


def test_another_tenants_chain_is_none_of_ours():
    assert verify_chain("other", chain(3)).problem


# --- in the database


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
        batch = store.batch()
        seen = Observed(answers=number, at=event.at)
        await batch.append(
            run_id, (Happened(seq=2 * number + 1, event=seen), Happened(seq=2 * number + 2, event=event))
        )
        await batch.flush()


async def test_what_people_decide_is_chained_by_the_database(postgres: str, tenant: str):
    async with PostgresStore(postgres, tenant=tenant) as store:
        await decide(store, text="“Grüße” \\ \n\0 🖊")
        rows = await store.audit()
        assert [row.seq for row in rows] == [2, 4, 6, 8, 10]
        assert '"by":"Ann"' in rows[0].body
        assert verify_chain(tenant, rows).problem == ""


async def test_turns_that_are_kept_are_audited_too(postgres: str, tenant: str):
    async with PostgresStore(postgres, tenant=tenant) as store:
        run = Run(id="a")
        await store.begin(run, Task(goal="Order"))
        for _ in range(2):
            await store.keep(replace(run, seq=1), Started(at=1.0), ())
            await store.keep(replace(run, seq=2), CancelAsked(at=2.0), ())
        assert [(row.run, row.seq) for row in await store.audit()] == [("a", 2)]


async def test_event_that_is_written_again_is_audited_once(postgres: str, tenant: str):
    async with PostgresStore(postgres, tenant=tenant) as store:
        await store.begin(Run(id="a"), Task(goal="Order"))
        for _ in range(3):
            batch = store.batch()
            await batch.append("a", (Happened(seq=1, event=CancelAsked(at=1.0)),))
            await batch.flush()
        assert [row.n for row in await store.audit()] == [1]


async def test_many_at_once_make_one_chain(postgres: str, tenant: str):
    async with PostgresStore(postgres, tenant=tenant) as store:
        await asyncio.gather(*(decide(store, f"run {number}") for number in range(8)))
        verified = verify_chain(tenant, await store.audit())
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
        head = verify_chain(tenant, await store.audit()).head
        with psycopg.connect(postgres) as owner:
            owner.execute(tampering.encode(), (tenant,))
        assert verify_chain(tenant, await store.audit(), through=head).problem


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
