"""The schema: migrations make what the tables say, once and for everybody, and partitions are there in time."""

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date
from pathlib import Path

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import inspect, make_url

from midcourse.domain.events import Started
from midcourse.errors import FormatUnknown, TaskInvalid
from midcourse.store.postgres import PostgresStore, migrations, statements
from midcourse.store.postgres.connections import APP_ROLE, SCHEMA_VERSION
from midcourse.store.postgres.migrate import make_engine, migrate
from midcourse.store.postgres.partitions import AHEAD, make_partitions
from midcourse.store.postgres.records import EVENTS_ABOVE
from midcourse.store.postgres.statements import Statement
from midcourse.store.postgres.tables import PARTITIONED, SCHEMA, metadata
from midcourse.testing.conformance.blobs import PICTURE
from midcourse.testing.conformance.store_samples import OBSERVATION, TASK, new_run
from tests.store.batches import batch_of, state

INSERT = re.compile(r"INSERT INTO midcourse\.(\w+) AS old \(([\w, ]+)\)")


def rows(url: str, sql: str, *values: object) -> list[tuple[object, ...]]:
    with psycopg.connect(url) as owner:
        return owner.execute(sql.encode(), values).fetchall()


def partitions_of(url: str, table: str) -> list[str]:
    sql = "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = %s::regclass ORDER BY 1"
    return [str(name).removeprefix("midcourse.") for (name,) in rows(url, sql, f"midcourse.{table}")]


# --- migrations


def test_migrated_schema_is_what_the_tables_say(postgres: str):
    parts = {part for table in PARTITIONED for part in partitions_of(postgres, table.name)}

    def ours(name: str | None, kind: str, parents: object) -> bool:
        return name == SCHEMA if kind == "schema" else name not in parts | {"alembic_version"}

    options = {
        "include_schemas": True,
        "include_name": ours,
        "compare_server_default": True,
        "version_table_schema": SCHEMA,
    }
    with make_engine(postgres).connect() as connection:
        connection.exec_driver_sql("SET midcourse.tenant = ''")  # defaults are compared by what they come to
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, metadata) == []
        for table in metadata.sorted_tables:
            key = inspect(connection).get_pk_constraint(table.name, SCHEMA)["constrained_columns"]
            assert key == [column.name for column in table.primary_key]


def test_statements_write_the_columns_of_their_tables() -> None:
    found = [one for one in vars(statements).values() if isinstance(one, Statement)]
    inserts = [(one, match) for one in found if (match := INSERT.match(one.sql))]
    assert len(inserts) >= 11
    for statement, match in inserts:
        table, written = metadata.tables[f"{SCHEMA}.{match[1]}"], match[2].split(", ")
        assert ["tenant", *written[: statement.key]] == [column.name for column in table.primary_key]
        required = {column.name for column in table.columns if not column.nullable and column.server_default is None}
        assert required <= {"tenant", *written} <= set(table.columns.keys())


def test_last_migration_is_the_one_that_stores_ask_for(postgres: str):
    assert rows(postgres, "SELECT version_num FROM midcourse.alembic_version") == [(SCHEMA_VERSION,)]
    assert ScriptDirectory(str(Path(migrations.__file__).parent)).get_heads() == [SCHEMA_VERSION]


def test_many_may_migrate_at_once_and_again(empty_database: str):
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(migrate, [empty_database] * 4))
    assert rows(empty_database, "SELECT version_num FROM midcourse.alembic_version") == [(SCHEMA_VERSION,)]


@pytest.mark.parametrize("role", ["", "a b", 'a"; DROP TABLE runs; --', "App"])
def test_role_that_is_no_name_is_refused(role: str):
    with pytest.raises(TaskInvalid, match="role"):
        migrate("postgresql:///nowhere", role=role)


@pytest.mark.parametrize("role", ["midcourse_app", "no_such_role"])
async def test_database_that_was_never_migrated_is_refused(empty_database: str, tenant: str, role: str):
    async with PostgresStore(empty_database, tenant=tenant, role=role) as store:
        with pytest.raises(FormatUnknown, match="migrate it first"):
            await store.runs()


async def test_older_schema_is_refused_and_a_newer_one_is_not(empty_database: str, tenant: str):
    migrate(empty_database)
    for version, refused in (("0000", True), ("0009", False)):
        with psycopg.connect(empty_database) as owner:
            owner.execute("UPDATE midcourse.alembic_version SET version_num = %s", (version,))
        async with PostgresStore(empty_database, tenant=tenant) as store:
            if refused:
                with pytest.raises(FormatUnknown, match="has schema 0000"):
                    await store.runs()
            else:
                assert await store.runs() == ()


# --- partitions


def test_this_month_and_the_next_have_their_partitions(postgres: str):
    ((today,),) = rows(postgres, "SELECT (now() AT TIME ZONE 'utc')::date")
    assert isinstance(today, date)
    for table in PARTITIONED:
        names = partitions_of(postgres, table.name)
        assert f"{table.name}_{today:%Y_%m}" in names
        assert f"{table.name}_default" in names
        assert len(names) >= 1 + 1 + AHEAD


def test_those_that_are_there_are_not_made_again(postgres: str):
    assert make_partitions(postgres) == ()


async def enter(beginner: PostgresStore, store: PostgresStore, url: str, run_id: str, month: str) -> None:
    """A run that was entered in that month, with a row in each partitioned table."""
    await beginner.begin(new_run(run_id), TASK)
    rows(url, "UPDATE midcourse.runs SET month = %s WHERE id = %s RETURNING id", month, run_id)
    batch = await batch_of(store, run_id)
    await batch.save_observation(run_id, OBSERVATION)
    await batch.save_turn(state(run_id, 1), Started(at=1.0), ())
    await store.blobs.put(run_id, PICTURE)


async def try_late_months(url: str, owner: str, tenant: str, role: str) -> None:
    """Rows of months without a partition go to the default, and move when theirs is made; `url` is a superuser's."""
    migrate(owner, role=role)
    made = {table.name: partitions_of(url, table.name) for table in PARTITIONED}
    places = "SELECT run, tableoid::regclass::text FROM midcourse.{} ORDER BY run DESC"
    async with (
        PostgresStore(owner, tenant=tenant, role=role) as beginner,
        PostgresStore(owner, tenant=tenant, role=role) as store,
    ):
        for run_id, ahead in (("near", AHEAD + 1), ("far", AHEAD + 9)):
            sql = "SELECT (date_trunc('month', now()) + %s * interval '1 month')::date::text"
            ((month,),) = rows(url, sql, ahead)
            await enter(beginner, store, url, run_id, str(month))
        for table in made:
            default = f"midcourse.{table}_default"
            assert rows(url, places.format(table)) == [("near", default), ("far", default)]
        new = make_partitions(owner, ahead=AHEAD + 1)
        assert len(new) == len(made)
        for table in made:
            (part,) = set(partitions_of(url, table)) - set(made[table])
            assert part in new
            found = rows(url, places.format(table))
            assert found == [("near", f"midcourse.{part}"), ("far", f"midcourse.{table}_default")]
        assert await store.observation("near", "o1") == OBSERVATION
        assert [row.seq for row in await store.journal("near")] == [1]
        assert await store.blobs.read("near", PICTURE.digest) == PICTURE
        await store.save_observation("near", replace(OBSERVATION, stale=True))
        assert rows(url, "SELECT count(*) FROM midcourse.observations WHERE run = 'near'") == [(1,)]


async def test_month_that_was_not_made_in_time_loses_nothing(empty_database: str, tenant: str):
    await try_late_months(empty_database, empty_database, tenant, APP_ROLE)


async def test_owner_need_not_be_a_superuser(empty_database: str, tenant: str):
    """Row-level security is forced, so that even moving rows needs care."""
    url = make_url(empty_database)
    owner, role = f"owner_{tenant}", f"app_{tenant}"
    with psycopg.connect(empty_database, autocommit=True) as superuser:
        superuser.execute(f"CREATE ROLE {owner} LOGIN CREATEROLE PASSWORD '{tenant}'".encode())
        superuser.execute(f"ALTER DATABASE {url.database} OWNER TO {owner}".encode())
        try:
            own = url.set(username=owner, password=tenant).render_as_string(hide_password=False)
            await try_late_months(empty_database, own, tenant, role)
        finally:
            superuser.execute(f"ALTER DATABASE {url.database} OWNER TO CURRENT_USER".encode())
            superuser.execute(f"DROP OWNED BY {role}, {owner} CASCADE".encode())
            superuser.execute(f"DROP ROLE {role}, {owner}".encode())


async def test_reading_a_run_looks_into_one_partition(postgres: str, tenant: str):
    async with PostgresStore(postgres, tenant=tenant) as store:
        await store.begin(new_run("a"), TASK)
        plan = await store._database.rows(
            b"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) " + EVENTS_ABOVE, {"run": "a", "seq": 0}
        )
    parts = {
        part
        for (line,) in plan
        if "never executed" not in line
        for part in re.findall(r" on (journal_\d+_\d+)\b", line)
    }
    assert len(parts) == 1, "\n".join(line for (line,) in plan)
