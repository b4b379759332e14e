"""Tenants: a connection sees and writes the rows of the tenant it named, and without one it sees nothing."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import psycopg
import pytest
from psycopg.sql import SQL, Identifier
from sqlalchemy import make_url

from midcourse.director.decide import decide
from midcourse.domain.events import ApprovalDecided, Guided, Started
from midcourse.domain.records.answers import AskedConsequence
from midcourse.domain.records.audit import START, AuditLog
from midcourse.errors import RunUnknown, TaskInvalid
from midcourse.store.postgres import PostgresStore
from midcourse.store.postgres.migrate import migrate
from midcourse.store.postgres.tables import metadata
from midcourse.testing.conformance.blobs import PICTURE
from midcourse.testing.conformance.memory import DENIED
from midcourse.testing.conformance.plan_cache import SEGMENT
from midcourse.testing.conformance.store_samples import (
    CONSEQUENCE,
    ENTRY,
    OBSERVATION,
    PLAN,
    TASK,
    new_run,
    result,
)
from tests.store.batches import batch_of, state
from tests.store.test_postgres_batch import question

TABLES = [table.name for table in metadata.sorted_tables]


async def fill(store: PostgresStore) -> None:
    """A row in every table."""
    await store.begin(new_run("a"), replace(TASK, key="order 1"))
    batch = await batch_of(store)
    await batch.save_session("a", "handle")
    await batch.save_observation("a", OBSERVATION)
    await batch.save_plan("a", PLAN)
    await batch.save_consequence("a", "c1", CONSEQUENCE)
    await batch.write_ledger("a", ENTRY)
    await batch.save_question(question("a", 3))
    await batch.save_asked_consequences((AskedConsequence(run="a", question=2, shape="s1", consequence="c1"),))
    await batch.save_turn(state("a", 1, "asking"), Started(at=1.0), ())
    await batch.save_turn(state("a", 2, "asking"), ApprovalDecided(question=2, verdict="approved", by="Ann"), ())
    await store.save_result(result("a"))
    await store.blobs.put("a", PICTURE)
    await store.segments.keep(SEGMENT)
    await store.memory("ann").save(DENIED)
    await store.memory("ann").debit(DENIED.key, "a")
    await store.begin(new_run("b"), TASK)
    claim = await store.claim_run("b")
    run, commands = decide(new_run("b"), Started(at=1.0))
    await store.records(claim).save_turn(run, Started(at=1.0), commands)
    await store.post("b", Guided(text="no hurry", at=2.0))


@contextmanager
def as_application(url: str, tenant: str | None) -> Iterator[psycopg.Connection]:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET ROLE midcourse_app")
        if tenant is not None:
            connection.execute("SELECT set_config('midcourse.tenant', %s, false)", (tenant,))
        yield connection


def count(connection: psycopg.Connection, table: str) -> int:
    row = connection.execute(SQL("SELECT count(*) FROM {}").format(Identifier("midcourse", table))).fetchone()
    assert row is not None
    return row[0]


@pytest.mark.parametrize("table", TABLES)
async def test_each_tenant_sees_its_own_rows_and_nobody_without_one_sees_any(postgres: str, tenant: str, table: str):
    async with PostgresStore(postgres, tenant=tenant) as store:
        await fill(store)
    with as_application(postgres, tenant) as own:
        assert count(own, table) > 0
    for stranger in (None, "", f"{tenant}x", "%"):
        with as_application(postgres, stranger) as other:
            assert count(other, table) == 0


async def test_store_of_another_tenant_finds_nothing(postgres: str, tenant: str):
    async with PostgresStore(postgres, tenant=tenant) as store, PostgresStore(postgres, tenant=f"{tenant}x") as other:
        await fill(store)
        assert await other.runs() == ()
        assert await other.run_with_key("order 1") is None
        assert (await other.audit(), await other.audit_head()) == (AuditLog(chain=f"{tenant}x"), START)
        assert (await other.asked_consequences("a"), await other.answered_consequences("s1", 9)) == ((), ())
        assert await other.open_questions() == ()
        assert await other.ledger("a") == ()
        assert await other.result("a") is None
        for refused in (other.load("a"), other.journal("a"), other.save_session("a", "mine")):
            with pytest.raises(RunUnknown):
                await refused
        await other.begin(new_run("a"), replace(TASK, goal="Another", key="order 1"))
        assert (await other.load("a"))[1].goal == "Another"
        assert (await store.load("a"))[1].goal == TASK.goal


@pytest.mark.parametrize("table", TABLES)
async def test_nobody_writes_for_another_tenant(postgres: str, tenant: str, table: str):
    async with PostgresStore(postgres, tenant=tenant) as store:
        await fill(store)
    columns = [c.name for c in metadata.tables[f"midcourse.{table}"].columns if not c.computed and not c.identity]
    copied = [SQL("'other'") if name == "tenant" else Identifier(name) for name in columns]
    copy = SQL("INSERT INTO {table} ({columns}) SELECT {copied} FROM {table}").format(
        table=Identifier("midcourse", table),
        columns=SQL(", ").join(map(Identifier, columns)),
        copied=SQL(", ").join(copied),
    )
    with as_application(postgres, tenant) as own, pytest.raises(psycopg.errors.InsufficientPrivilege):
        own.execute(copy)


async def test_row_cannot_be_given_away(postgres: str, tenant: str):
    async with PostgresStore(postgres, tenant=tenant) as store:
        await fill(store)
    with as_application(postgres, tenant) as own, pytest.raises(psycopg.errors.InsufficientPrivilege):
        own.execute("UPDATE midcourse.runs SET tenant = 'other'")


async def test_no_record_can_be_deleted_nor_a_partition_be_read_past_its_table(postgres: str, tenant: str):
    async with PostgresStore(postgres, tenant=tenant) as store:
        await fill(store)
    with as_application(postgres, tenant) as own:
        for table in set(TABLES) - {
            "segments",
            "lessons",
            "lesson_words",
            "blobs",
        }:  # which are not records, or are deleted with one
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                own.execute(SQL("DELETE FROM {}").format(Identifier("midcourse", table)))
        for table in ("journal_default", "observations_default", "blobs_default"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                count(own, table)


async def test_store_is_the_application_even_for_a_superuser(postgres: str, tenant: str):
    async with PostgresStore(postgres, tenant=tenant) as store:
        rows = await store._database.rows(
            b"""SELECT rolname, rolsuper, rolbypassrls,
            (SELECT count(*) FROM pg_class WHERE relowner = pg_roles.oid)
            FROM pg_roles WHERE rolname = current_user""",
            (),
        )
    assert rows == [("midcourse_app", False, False, 0)]


def test_security_is_forced_on_every_table_and_partition(postgres: str):
    with psycopg.connect(postgres) as owner:
        tables = owner.execute(
            """SELECT relname, relrowsecurity AND relforcerowsecurity FROM pg_class
            WHERE relnamespace = 'midcourse'::regnamespace AND relkind IN ('r', 'p')"""
        ).fetchall()
    assert len(tables) > len(TABLES)
    assert [name for name, forced in tables if not forced] == ["alembic_version"]


@pytest.mark.parametrize("name", ["", "a b", "a'b", "-a", "ä", "a" * 64])
def test_an_invalid_tenant_name_is_refused(name: str):
    with pytest.raises(TaskInvalid, match="tenant"):
        PostgresStore("postgresql:///nowhere", tenant=name)


def test_role_above_the_rules_is_refused(empty_database: str):
    superuser = make_url(empty_database).username
    assert superuser
    with pytest.raises(TaskInvalid, match="above row-level security"):
        migrate(empty_database, role=superuser)


async def test_the_role_of_the_application_may_have_another_name(empty_database: str, tenant: str):
    role = f"app_{tenant}"
    migrate(empty_database, role=role)
    try:
        async with PostgresStore(empty_database, tenant=tenant, role=role) as store:
            await fill(store)
            assert await store._database.rows(b"SELECT current_user", ()) == [(role,)]
    finally:
        with psycopg.connect(empty_database) as owner:
            owner.execute(SQL("DROP OWNED BY {}").format(Identifier(role)))
            owner.execute(SQL("DROP ROLE {}").format(Identifier(role)))
