"""A database that loses its last commits, as in a fail-over to a standby that did not have them yet."""

from typing import Any, TypeAlias

from psycopg import AsyncConnection
from psycopg.sql import SQL, Identifier, Placeholder

from midcourse.store.postgres.address import convert_for_libpq
from midcourse.store.postgres.tables import metadata

Rows: TypeAlias = dict[str, tuple[list[str], list[tuple[Any, ...]]]]
"""Columns and rows, by table."""

TABLES = [table.name for table in metadata.tables.values() if "tenant" in table.columns]
WRITTEN = """SELECT column_name FROM information_schema.columns WHERE table_schema = 'midcourse' AND table_name = %s
AND is_generated = 'NEVER' ORDER BY ordinal_position"""


async def save_rows(url: str, tenant: str) -> Rows:
    """All rows of a tenant."""
    found: Rows = {}
    async with await AsyncConnection.connect(convert_for_libpq(url)) as connection:
        for table in TABLES:
            columns = [name for (name,) in await (await connection.execute(WRITTEN, (table,))).fetchall()]
            names = SQL(", ").join(map(Identifier, columns))
            query = SQL("SELECT {} FROM {} WHERE tenant = %s").format(names, Identifier("midcourse", table))
            found[table] = columns, await (await connection.execute(query, (tenant,))).fetchall()
    return found


async def restore_rows(url: str, tenant: str, saved: Rows) -> None:
    """Take back everything that was committed since."""
    async with await AsyncConnection.connect(convert_for_libpq(url)) as connection:
        await connection.execute("SET LOCAL session_replication_role = replica")  # without triggers
        for table, (columns, rows) in saved.items():
            where = Identifier("midcourse", table)
            await connection.execute(SQL("DELETE FROM {} WHERE tenant = %s").format(where), (tenant,))
            insert = SQL("INSERT INTO {} ({}) OVERRIDING SYSTEM VALUE VALUES ({})").format(
                where, SQL(", ").join(map(Identifier, columns)), SQL(", ").join([Placeholder()] * len(columns))
            )
            for row in rows:
                await connection.execute(insert, row)
