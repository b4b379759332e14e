"""Creates monthly partitions ahead of time. `migrate` does it; call it at least a few times a year.

A month without a partition is harmless: its rows go to the default partition, and move when it is made.
"""

from datetime import date
from typing import LiteralString

import psycopg
from psycopg.sql import SQL, Identifier, Literal

from midcourse.store.postgres.address import for_libpq
from midcourse.store.postgres.tables import PARTITIONED, SCHEMA

AHEAD = 3
"""Months beyond the present one."""


def make_partitions(url: str, *, ahead: int = AHEAD) -> tuple[str, ...]:
    """The names of those that were missing. The URL is that of the tables' owner."""
    made: list[str] = []
    with psycopg.connect(for_libpq(url)) as connection:
        connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('midcourse partitions', 0))")
        for table in PARTITIONED:
            for first, after in _months(connection, ahead):
                name = f"{table.name}_{first:%Y_%m}"
                if not _exists(connection, name):
                    _make(connection, table.name, name, first, after)
                    made.append(name)
    return tuple(made)


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
    "ALTER TABLE {month} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY",  # and no policy: through the parent only
    "ALTER TABLE {default} NO FORCE ROW LEVEL SECURITY",  # even the owner sees nothing of it otherwise
    "ALTER TABLE {month} NO FORCE ROW LEVEL SECURITY",
    """WITH late AS (DELETE FROM {default} WHERE month >= {first} AND month < {after} RETURNING *)
    INSERT INTO {month} SELECT * FROM late""",
    "ALTER TABLE {default} FORCE ROW LEVEL SECURITY",
    "ALTER TABLE {month} FORCE ROW LEVEL SECURITY",
    "ALTER TABLE {parent} ATTACH PARTITION {month} FOR VALUES FROM ({first}) TO ({after})",
)
"""Attached, not created in place: that would lock the parent against readers."""


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
