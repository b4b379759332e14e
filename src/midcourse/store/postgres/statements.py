"""The SQL that writes.

What is written together is one statement: a `WITH` of which each part writes one row. So it is one transaction and one
round trip, and costs the client less than half of what its parts would one by one (design/0005).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from sqlalchemy import Table

from midcourse.store.postgres.tables import (
    SCHEMA,
    approvals,
    asked,
    consequences,
    journal,
    ledger,
    observations,
    plans,
    results,
    segments,
    sessions,
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Statement:
    """Writes one row of this tenant's. The first `key` parameters say which."""

    sql: str
    key: int


Values: TypeAlias = tuple[Any, ...]


def _upsert(table: Table, *, where: str = "", leave: tuple[str, ...] = ()) -> Statement:
    """Insert or replace. Its parameters are the columns: those of the key, then the others but for those to `leave`."""
    key = [column.name for column in table.primary_key if column.name != "tenant"]
    rest = [column.name for column in table.columns if not column.primary_key and column.name not in leave]
    columns = ", ".join(key + rest)
    values = ", ".join("%s" for _ in key + rest)
    replaced = ", ".join(f"{name} = excluded.{name}" for name in rest)
    sql = (
        f"INSERT INTO {SCHEMA}.{table.name} AS old ({columns}) VALUES ({values})"
        f" ON CONFLICT (tenant, {', '.join(key)}) DO UPDATE SET {replaced}"
    )
    return Statement(sql=f"{sql} WHERE {where}" if where else sql, key=len(key))


SAVE_OBSERVATION = _upsert(observations)
SAVE_PLAN = _upsert(plans, where="old.made_by <= excluded.made_by")
SAVE_CONSEQUENCE = _upsert(consequences)
WRITE_LEDGER = _upsert(ledger)
SAVE_RESULT = _upsert(results)
SAVE_SESSION = _upsert(sessions)
SAVE_EVENT = _upsert(journal)
KEEP_SEGMENT = _upsert(segments)
SAVE_ASKED = _upsert(asked)
SAVE_QUESTION = _upsert(approvals, leave=("asked_at", "open", "decision"))

ADD_TO_AUDIT = Statement(
    sql="INSERT INTO midcourse.audit (run, seq, body) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
    key=2,
)
CLOSE_QUESTION = Statement(
    sql="""UPDATE midcourse.approvals AS old SET open = false, decision = new.decision
    FROM (VALUES (%s, %s, %s)) AS new (run, question, decision)
    WHERE old.run = new.run AND old.question = new.question AND old.open""",
    key=2,
)
WITHDRAW_QUESTIONS = Statement(
    sql="UPDATE midcourse.approvals SET open = false WHERE run = %s AND question <> %s AND open",
    key=1,
)
"""All of a run but one: it asks one at a time."""
NO_QUESTION = 0
TAKE_TURN = Statement(
    sql="""INSERT INTO midcourse.turns AS old (run, turn, attempt) VALUES (%s, %s, %s)
    ON CONFLICT (tenant, run) DO UPDATE SET attempt = excluded.attempt,
        turn = CASE WHEN (old.turn, old.attempt) <= (excluded.turn, excluded.attempt) THEN excluded.turn END""",
    key=1,
)
"""A writer that is behind gets a null turn, which the table refuses, and with it the whole transaction."""
TELL_STANDING = Statement(
    sql="""UPDATE midcourse.runs AS old SET phase = new.phase, final_reason = new.final_reason, told_at = new.seq,
        began_at = CASE WHEN old.began_at = 0 THEN new.at ELSE old.began_at END
    FROM (VALUES (%s, %s, %s, %s, %s)) AS new (id, seq, phase, final_reason, at)
    WHERE old.id = new.id AND old.told_at <= new.seq
        AND (old.began_at = 0 OR (old.phase, old.final_reason) <> (new.phase, new.final_reason))""",
    key=1,
)
"""Writes nothing where nothing is new, and nothing on behalf of a writer that is behind."""

ENTER = b"""WITH known AS (INSERT INTO midcourse.tenants DEFAULT VALUES ON CONFLICT DO NOTHING)
INSERT INTO midcourse.runs (id, key, goal, task, job, opening, seq, phase, final_reason)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT (tenant, id) DO NOTHING RETURNING month"""

HOLD_KEY = b"SELECT pg_advisory_xact_lock(hashtextextended(current_setting('midcourse.tenant') || ' key ' || %s, 0))"

KEEP = b"""WITH turned AS (
    UPDATE midcourse.runs SET state = %(state)s, seq = %(seq)s, told_at = %(seq)s, phase = %(phase)s,
        final_reason = %(final_reason)s, began_at = CASE WHEN began_at = 0 THEN %(at)s ELSE began_at END
    WHERE id = %(run)s AND seq < %(seq)s RETURNING id, month
), audited AS (
    INSERT INTO midcourse.audit (run, seq, body) SELECT id, %(seq)s, %(event)s FROM turned WHERE %(audited)s
    ON CONFLICT DO NOTHING
), closed AS (
    UPDATE midcourse.approvals AS old SET open = false, decision = %(event)s FROM turned
    WHERE old.run = turned.id AND old.question = %(question)s AND old.open
) INSERT INTO midcourse.journal (run, month, seq, kind, event, commands)
SELECT id, month, %(seq)s, %(kind)s, %(event)s, %(commands)s FROM turned
ON CONFLICT (tenant, run, month, seq) DO UPDATE
SET kind = excluded.kind, event = excluded.event, commands = excluded.commands"""
"""A turn that takes the run further. Changes nothing if the run does not exist, or has reached that turn already."""


@lru_cache(maxsize=256)
def _together(statements: tuple[Statement, ...]) -> bytes:
    *first, last = (statement.sql for statement in statements)
    parts = ", ".join(f"w{number} AS ({sql})" for number, sql in enumerate(first))
    return (f"WITH {parts} {last}" if parts else last).encode()


def together(writes: Iterable[tuple[Statement, Values]]) -> tuple[bytes, list[Any]]:
    """One statement for all of these. No two may be about the same row."""
    statements, values = zip(*writes, strict=True)
    return _together(statements), [value for row in values for value in row]
