"""Deletes the records of ended runs from an SQLite file. Results, keys, the audit log and irreversible acts stay."""

import sqlite3

from midcourse.store.sqlite_connection import StoreLocked

DELETED = ("journal", "plans", "observations", "consequences", "inbox", "questions")
"""Tables of which nothing is left of a pruned run."""

PRUNABLE = """SELECT id FROM runs WHERE pruned_at IS NULL AND phase = 'ended' AND result IS NOT NULL
    AND json_extract(state, '$.now') < ? ORDER BY entered LIMIT ?"""
FORGET_ACTS = "DELETE FROM ledger WHERE run = ? AND coalesce(json_extract(body, '$.identity'), '') = ''"
"""Acts that may be repeated. The others keep what they did from being done again."""
MARK = """UPDATE runs SET opening = '{}', pruned_at = ?
    WHERE id = ? AND pruned_at IS NULL AND phase = 'ended' AND result IS NOT NULL"""


def find_prunable(db: sqlite3.Connection, before: float, limit: int | None) -> tuple[str, ...]:
    return tuple(run_id for (run_id,) in db.execute(PRUNABLE, (before, -1 if limit is None else limit)))


def delete_records(db: sqlite3.Connection, run_id: str, at: float) -> bool:
    """Delete within a write transaction. False: the run has not ended, and nothing was deleted."""
    if not db.execute(MARK, (at, run_id)).rowcount:
        return False
    for table in DELETED:
        db.execute(f"DELETE FROM {table} WHERE run = ?", (run_id,))
    db.execute(FORGET_ACTS, (run_id,))
    return True


def shrink(db: sqlite3.Connection) -> bool:
    """Return free pages to the file system. False: another process uses the file, so that they are only used again."""
    try:
        db.execute("VACUUM")
        return db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
    except StoreLocked:
        return False
