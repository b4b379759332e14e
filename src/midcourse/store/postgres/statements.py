"""The SQL that writes records.

Several writes become one statement, a `WITH` in which each part writes one row. So they need one transaction and one round trip,
and cost the client less than half of what separate statements cost (design/0005).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias


@dataclass(frozen=True, kw_only=True, eq=False)
class Statement:
    """A statement that writes one row. The first `key` parameters identify the row."""

    sql: str
    key: int


Values: TypeAlias = tuple[Any, ...]


def _upsert(table: str, key: str, rest: str, *, where: str = "") -> Statement:
    """Build a statement that inserts or replaces a row. Its parameters are the columns of the key, then the rest."""
    columns = f"{key}, {rest}".split(", ")
    values = ", ".join("%s" for _ in columns)
    replaced = ", ".join(f"{name} = excluded.{name}" for name in rest.split(", "))
    sql = (
        f"INSERT INTO midcourse.{table} AS old ({', '.join(columns)}) VALUES ({values})"
        f" ON CONFLICT (tenant, {key}) DO UPDATE SET {replaced}"
    )
    return Statement(sql=f"{sql} WHERE {where}" if where else sql, key=len(key.split(", ")))


SAVE_OBSERVATION = _upsert("observations", "run, month, id", "body")
SAVE_PLAN = _upsert("plans", "run, version", "made_by, body", where="old.made_by <= excluded.made_by")
SAVE_CONSEQUENCE = _upsert("consequences", "run, digest", "body")
WRITE_LEDGER = _upsert("ledger", "run, command", "body")
SAVE_RESULT = _upsert("results", "run", "body")
SAVE_SESSION = _upsert("sessions", "run", "handle")
SAVE_EVENT = _upsert("journal", "run, month, seq", "kind, event, commands")
KEEP_SEGMENT = _upsert("segments", "id", "task, surface, worked_at, body")
SAVE_ASKED = _upsert("asked", "run, question, consequence", "place, shape")
SAVE_BASE = _upsert("states", "run", "seq, body")
SAVE_QUESTION = _upsert("approvals", "run, question", "body")

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
"""Closes all questions of a run except one, since a run asks one at a time."""
NO_QUESTION = 0
FENCE = Statement(
    sql="""UPDATE midcourse.drives AS old
    SET epoch = CASE WHEN old.epoch = new.epoch AND old.holder = new.holder THEN old.epoch END
    FROM (VALUES (%s, %s::int, %s)) AS new (run, epoch, holder) WHERE old.run = new.run""",
    key=1,
)
"""Makes the whole transaction fail, by setting the epoch to null, unless this claim is the latest."""
KEEP_TURN = Statement(
    sql="""UPDATE midcourse.drives AS old SET decided = greatest(old.decided, new.decided), seq = new.seq, base = new.base,
        state = new.state, epoch = CASE WHEN old.epoch = new.epoch AND old.holder = new.holder AND old.seq < new.seq
            AND (new.known IS NULL OR old.messages = new.known) AND (new.after IS NULL OR old.seq = new.after)
            THEN old.epoch END
    FROM (VALUES (%s, %s::int, %s, %s::int, %s::int, %s::int, %s::int, %s::int, %s::bytea))
        AS new (run, epoch, holder, known, decided, after, seq, base, state) WHERE old.run = new.run""",
    key=1,
)
"""Writes a turn. Like `FENCE`, it fails unless this claim is the latest.

It also fails if the turn is stored already, if an unread message precedes it, or if the database has lost the turn before it.
"""
UPDATE_STANDING = Statement(
    sql="""UPDATE midcourse.runs AS old SET phase = new.phase, final_reason = new.final_reason, told_at = new.seq,
        began_at = CASE WHEN old.began_at = 0 THEN new.at ELSE old.began_at END
    FROM (VALUES (%s, %s, %s, %s, %s)) AS new (id, seq, phase, final_reason, at)
    WHERE old.id = new.id AND old.told_at <= new.seq
        AND (old.began_at = 0 OR (old.phase, old.final_reason) <> (new.phase, new.final_reason))""",
    key=1,
)
"""Updates what the list of runs shows. It writes nothing if nothing is new, or if the writer is outdated."""

ENTER = b"""WITH known AS (INSERT INTO midcourse.tenants DEFAULT VALUES ON CONFLICT DO NOTHING)
INSERT INTO midcourse.runs (id, key, goal, task, job, opening, seq, phase, final_reason)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT (tenant, id) DO NOTHING RETURNING month"""

HOLD_KEY = b"SELECT pg_advisory_xact_lock(hashtextextended(current_setting('midcourse.tenant') || ' key ' || %s, 0))"

CLAIM_RUN = b"""INSERT INTO midcourse.drives AS old (run, epoch, holder, placed, resting)
VALUES (%(run)s, 1, %(holder)s, %(placed)s, false)
ON CONFLICT (tenant, run) DO UPDATE SET epoch = old.epoch + 1, holder = excluded.holder, resting = false,
    placed = greatest(old.placed, excluded.placed)
WHERE old.placed <= excluded.placed OR excluded.placed = 0
RETURNING epoch, decided, rested_epoch, rested_seq"""
"""Claims a run with a new epoch, unless a driver that was placed later has claimed it."""

REST = b"""UPDATE midcourse.drives SET resting = true, rested_epoch = epoch, rested_seq = %(seq)s, wake_at = %(wake_at)s
WHERE run = %(run)s AND epoch = %(epoch)s AND holder = %(holder)s AND messages = %(known)s"""

POST = b"""WITH counted AS (
    UPDATE midcourse.drives SET messages = messages + 1 WHERE run = %(run)s RETURNING messages
), told AS (
    SELECT pg_notify('midcourse_' || md5(current_setting('midcourse.tenant')), %(run)s)
) INSERT INTO midcourse.inbox (run, number, event) SELECT %(run)s, messages, %(event)s FROM counted, told RETURNING number"""
"""Posts a message and notifies. Turns never notify, because a notification locks the whole server during the commit."""


@lru_cache(maxsize=256)
def _combine_statements(statements: tuple[Statement, ...]) -> bytes:
    *first, last = (statement.sql for statement in statements)
    parts = ", ".join(f"w{number} AS ({sql})" for number, sql in enumerate(first))
    return (f"WITH {parts} {last}" if parts else last).encode()


def combine(writes: Iterable[tuple[Statement, Values]]) -> tuple[bytes, list[Any]]:
    """Combine these writes into one statement. No two of them may write the same row."""
    statements, values = zip(*writes, strict=True)
    return _combine_statements(statements), [value for row in values for value in row]
