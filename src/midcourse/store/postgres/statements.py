"""The SQL that writes records, and the kinds of records that are stored as a whole under a run and a key.

Several writes become one statement, a `WITH` in which each part writes one row. So they need one transaction and one round trip,
and cost the client less than half of what separate statements cost (design/0005).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Generic, TypeAlias, TypeVar

from midcourse.codec import decode
from midcourse.domain.approval import Consequence
from midcourse.domain.observation import Observation
from midcourse.domain.plan import PlanVersion
from midcourse.domain.records.ledger import LedgerEntry
from midcourse.domain.result import Result
from midcourse.store.observations import ObservationBase

T = TypeVar("T")


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


@lru_cache(maxsize=256)
def _combine_statements(statements: tuple[Statement, ...]) -> bytes:
    *first, last = (statement.sql for statement in statements)
    parts = ", ".join(f"w{number} AS ({sql})" for number, sql in enumerate(first))
    return (f"WITH {parts} {last}" if parts else last).encode()


def combine(writes: Iterable[tuple[Statement, Values]]) -> tuple[bytes, list[Any]]:
    """Combine these writes into one statement. No two of them may write the same row."""
    statements, values = zip(*writes, strict=True)
    return _combine_statements(statements), [value for row in values for value in row]


# --- kinds of records

Key: TypeAlias = str | int


@dataclass(frozen=True, kw_only=True, eq=False)
class Kind(Generic[T]):
    """One kind of record: how it is written, read and decoded."""

    write: Statement
    select_one: bytes
    """SQL that selects the body by run and key."""
    decode: Callable[[str], T]
    select_since: bytes = b""
    """SQL that selects keys and bodies of a run from a key on, in order; empty for kinds that are never read this way."""
    is_cached: bool = False
    choose: Callable[[T, T], T] | None = None
    """Chooses between the stored and the new value. If it is None, the new value replaces the stored one."""


_OBSERVATION = b"""SELECT body FROM midcourse.observations WHERE run = %(run)s AND id = %(key)s
    AND month = (SELECT month FROM midcourse.runs WHERE id = %(run)s)"""

OBSERVATION = Kind(write=SAVE_OBSERVATION, select_one=_OBSERVATION, decode=partial(decode, Observation), is_cached=True)
"""Observations of a run. The body may refer to a base."""
BASE = Kind(write=SAVE_OBSERVATION, select_one=_OBSERVATION, decode=partial(ObservationBase, ""), is_cached=True)
"""The latest base of a run. It is cached under one key for each run, and stored under its id."""
PLAN = Kind(
    write=SAVE_PLAN,
    select_one=b"SELECT body FROM midcourse.plans WHERE run = %(run)s AND version = %(key)s",
    select_since=b"""SELECT version, body FROM midcourse.plans WHERE run = %(run)s AND version >= %(since)s
    ORDER BY version""",
    decode=partial(decode, PlanVersion),
    is_cached=True,
    choose=lambda stored, new: new if new.made_by >= stored.made_by else stored,
)
CONSEQUENCE = Kind(
    write=SAVE_CONSEQUENCE,
    select_one=b"SELECT body FROM midcourse.consequences WHERE run = %(run)s AND digest = %(key)s",
    decode=partial(decode, Consequence),
)
ENTRY = Kind(
    write=WRITE_LEDGER,
    select_one=b"SELECT body FROM midcourse.ledger WHERE run = %(run)s AND command = %(key)s",
    select_since=b"""SELECT command, body FROM midcourse.ledger WHERE run = %(run)s AND command >= %(since)s
    ORDER BY command""",
    decode=partial(decode, LedgerEntry),
)
RESULT = Kind(
    write=SAVE_RESULT,
    select_one=b"SELECT body FROM midcourse.results WHERE run = %(run)s",
    decode=partial(decode, Result),
)
SESSION = Kind(
    write=SAVE_SESSION,
    select_one=b"SELECT handle FROM midcourse.sessions WHERE run = %(run)s",
    decode=str,
)
SINGLE = ""
"""The key of kinds with one record per run."""
