"""Deletes the records of a tenant's ended runs. Results, keys, the audit log and irreversible acts stay.

The role of stores may not delete records, so this works only for a store that keeps the owner's role (`role=OWNER`). Statements name
the tenant, since row-level security does not apply to a superuser.
"""

import psycopg

from midcourse.errors import FleetUnavailable
from midcourse.store.postgres.database import Database

OWNER = "none"
"""The value for the role of a store that keeps the role which logged in."""

TENANT = "tenant = current_setting('midcourse.tenant')"
ENDED = """(SELECT (event::json ->> 'at')::float8 FROM midcourse.journal WHERE journal.tenant = runs.tenant AND journal.run = runs.id
    AND journal.month = runs.month ORDER BY seq DESC LIMIT 1)"""

PRUNED_AT = b"SELECT pruned_at FROM midcourse.runs WHERE id = %s"

PRUNABLE = f"""SELECT id FROM midcourse.runs WHERE {TENANT} AND pruned_at IS NULL AND phase = 'ended' AND began_at < %(before)s
    AND EXISTS (SELECT FROM midcourse.results WHERE results.tenant = runs.tenant AND results.run = runs.id)
    AND (runs.state IS NOT NULL OR EXISTS (SELECT FROM midcourse.drives
        WHERE drives.tenant = runs.tenant AND drives.run = runs.id AND drives.state IS NOT NULL))
    AND coalesce({ENDED}, began_at) < %(before)s ORDER BY began_at LIMIT %(limit)s""".encode()
"""Selects the runs that may be pruned.

A run that began too late also ended too late, so the index leaves few runs to look at. Runs of version 0.1, for which only the
journal has the state, are not selected: they are deleted with their month.
"""

MARK = f"""UPDATE midcourse.runs SET pruned_at = %s, ended_at = {ENDED}, opening = '{{}}'
WHERE {TENANT} AND id = ANY (%s) AND pruned_at IS NULL AND phase = 'ended' RETURNING id, month""".encode()

IN_MONTHS = ("journal", "observations", "blobs")
DELETED = ("plans", "consequences", "inbox", "approvals", "sessions")
FORGET_MONTH = """DELETE FROM midcourse.{table} AS old USING unnest(%s::text[], %s::date[]) AS gone (run, month)
WHERE old.tenant = current_setting('midcourse.tenant') AND old.run = gone.run AND old.month = gone.month"""
FORGET = f"DELETE FROM midcourse.{{table}} WHERE {TENANT} AND run = ANY (%s)"
FORGET_ACTS = f"""DELETE FROM midcourse.ledger WHERE {TENANT} AND run = ANY (%s)
AND coalesce(body::json ->> 'identity', '') = ''""".encode()
"""Deletes acts that may be repeated. The others stay, to prevent them from being done again."""


async def find_prunable(database: Database, before: float, limit: int | None) -> tuple[str, ...]:
    rows = await database.rows(PRUNABLE, {"before": before, "limit": limit})
    return tuple(run_id for (run_id,) in rows)


async def delete_records(database: Database, run_ids: tuple[str, ...], at: float) -> int:
    """Delete the records of these runs in one transaction. Raise `FleetUnavailable` if the role may not delete them."""
    try:
        async with database.connections.borrow() as connection, connection.transaction():
            marked = await (await connection.execute(MARK, (at, list(run_ids)))).fetchall()
            runs, months = [run for run, _ in marked], [month for _, month in marked]
            for table in IN_MONTHS:
                await connection.execute(FORGET_MONTH.format(table=table).encode(), (runs, months))
            for table in DELETED:
                await connection.execute(FORGET.format(table=table).encode(), (runs,))
            await connection.execute(FORGET_ACTS, (runs,))
    except psycopg.errors.InsufficientPrivilege as refused:
        raise FleetUnavailable(
            "this user may not delete records: use a database_url with the user that owns the tables"
        ) from refused
    for run_id in runs:
        database.forget(run_id)
    return len(runs)
