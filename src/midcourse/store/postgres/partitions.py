"""Creates monthly partitions ahead of time, and deletes old ones. `migrate` creates them; call it at least a few times a year.

A month without a partition is harmless: its rows go to the default partition, and are moved when its partition is made.
"""

from datetime import date
from typing import LiteralString

import psycopg
from psycopg.sql import SQL, Identifier, Literal

from midcourse.errors import TaskInvalid
from midcourse.store.postgres.address import convert_for_libpq
from midcourse.store.postgres.tables import PARTITIONED, SCHEMA

AHEAD = 3
"""The number of months, after the current one, for which partitions are created."""


def make_partitions(url: str, *, ahead: int = AHEAD) -> tuple[str, ...]:
    """Create missing partitions and return their names. The URL is that of the tables' owner."""
    made: list[str] = []
    with psycopg.connect(convert_for_libpq(url)) as connection:
        connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('midcourse partitions', 0))")
        for table in PARTITIONED:
            for first, after in _months(connection, ahead):
                name = f"{table.name}_{first:%Y_%m}"
                if not _exists(connection, name):
                    _make(connection, table.name, name, first, after)
                    made.append(name)
    return tuple(made)


def find_runs_of_month(url: str, month: date) -> tuple[tuple[str, str], ...]:
    """Return tenant and id of the runs that were created in this month and observed something.

    The URL is that of the tables' owner. Raise `TaskInvalid` for a month that is not over.
    """
    part = f"observations_{month:%Y_%m}"
    with psycopg.connect(convert_for_libpq(url)) as connection:
        _check_over(connection, month)
        if not _exists(connection, part):
            return ()
        table = Identifier(SCHEMA, part)
        connection.execute(SQL("ALTER TABLE {} NO FORCE ROW LEVEL SECURITY").format(table))
        found = connection.execute(SQL("SELECT DISTINCT tenant, run FROM {}").format(table)).fetchall()
        connection.execute(SQL("ALTER TABLE {} FORCE ROW LEVEL SECURITY").format(table))
    return tuple((tenant, run) for tenant, run in found)


def drop_month(url: str, month: date) -> tuple[str, ...]:
    """Delete journals, observations and screenshots of the runs of a month. Return the names of the dropped partitions.

    The URL is that of the tables' owner. Raise `TaskInvalid` for a month that is not over.
    """
    dropped: list[str] = []
    with psycopg.connect(convert_for_libpq(url)) as connection:
        _check_over(connection, month)
        for table in PARTITIONED:
            name = f"{table.name}_{month:%Y_%m}"
            if _exists(connection, name):
                connection.execute(SQL("DROP TABLE {}").format(Identifier(SCHEMA, name)))
                dropped.append(name)
    return tuple(dropped)


def _check_over(connection: psycopg.Connection, month: date) -> None:
    ((this, _),) = _months(connection, 0)
    if month >= this:
        raise TaskInvalid(f"{month:%Y-%m} is not over: only earlier months can be deleted")


def _months(connection: psycopg.Connection, ahead: int) -> list[tuple[date, date]]:
    return connection.execute(
        """SELECT (this + n * interval '1 month')::date, (this + (n + 1) * interval '1 month')::date
        FROM date_trunc('month', now() AT TIME ZONE 'utc') AS this, generate_series(0, %s) AS n""",
        (ahead,),
    ).fetchall()


def _exists(connection: psycopg.Connection, name: str) -> bool:
    found = connection.execute("SELECT to_regclass(%s) IS NOT NULL", (f"{SCHEMA}.{name}",)).fetchone()
    return found is not None and found[0]


MAKE: tuple[LiteralString, ...] = (
    "CREATE TABLE {month} (LIKE {parent} INCLUDING ALL)",
    "ALTER TABLE {month} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY",  # no policy: accessible only through the parent
    "ALTER TABLE {default} NO FORCE ROW LEVEL SECURITY",  # otherwise even the owner sees no rows of it
    "ALTER TABLE {month} NO FORCE ROW LEVEL SECURITY",
    """WITH late AS (DELETE FROM {default} WHERE month >= {first} AND month < {after} RETURNING *)
    INSERT INTO {month} SELECT * FROM late""",
    "ALTER TABLE {default} FORCE ROW LEVEL SECURITY",
    "ALTER TABLE {month} FORCE ROW LEVEL SECURITY",
    "ALTER TABLE {parent} ATTACH PARTITION {month} FOR VALUES FROM ({first}) TO ({after})",
)
"""Statements that create a partition separately and attach it. Creating it in place would lock the parent against readers."""


def _make(connection: psycopg.Connection, parent: str, name: str, first: date, after: date) -> None:
    for statement in MAKE:
        connection.execute(
            SQL(statement).format(
                parent=Identifier(SCHEMA, parent),
                default=Identifier(SCHEMA, f"{parent}_default"),
                month=Identifier(SCHEMA, name),
                first=Literal(first),
                after=Literal(after),
            )
        )
