"""Deletes the records of ended runs from an SQLite file. Results, keys, the audit log and irreversible acts stay."""

import sqlite3

from midcourse.store.sqlite_connection import StoreLocked

DELETED = ("journal", "plans", "observations", "consequences", "inbox", "questions")
"""Tables from which all rows of a pruned run are deleted."""

PRUNABLE = """SELECT id FROM runs WHERE pruned_at IS NULL AND phase = 'ended' AND result IS NOT NULL
    AND json_extract(state, '$.now') < ? ORDER BY entered LIMIT ?"""
FORGET_ACTS = "DELETE FROM ledger WHERE run = ? AND coalesce(json_extract(body, '$.identity'), '') = ''"
"""Deletes acts that may be repeated. The others stay, to prevent them from being done again."""
MARK = """UPDATE runs SET opening = '{}', pruned_at = ?
    WHERE id = ? AND pruned_at IS NULL AND phase = 'ended' AND result IS NOT NULL"""


def find_prunable(db: sqlite3.Connection, before: float, limit: int | None) -> tuple[str, ...]:
    return tuple(run_id for (run_id,) in db.execute(PRUNABLE, (before, -1 if limit is None else limit)))


def delete_records(db: sqlite3.Connection, run_id: str, at: float) -> bool:
    """Delete the records of a run within a write transaction. Return False if it has not ended, so that nothing was deleted."""
    if not db.execute(MARK, (at, run_id)).rowcount:
        return False
    for table in DELETED:
        db.execute(f"DELETE FROM {table} WHERE run = ?", (run_id,))
    db.execute(FORGET_ACTS, (run_id,))
    return True


def shrink(db: sqlite3.Connection) -> bool:
    """Give free pages back to the file system. Return False if another process uses the file; then they are only reused."""
    try:
        db.execute("VACUUM")
        return db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
    except StoreLocked:
        return False
