"""Opens the SQLite file of a store, and migrates it if it is from an earlier version."""

import sqlite3
from pathlib import Path

from midcourse.domain.records.audit import START, Head
from midcourse.policy.audit import HUMAN_INPUT_KINDS, next_row
from midcourse.store.session_files import SessionFiles
from midcourse.store.sqlite_opening import Schema, open_database
from midcourse.store.sqlite_schema import CHANGES

CHAIN = ""
"""The chain of the audit log. A file has only one tenant, which has no name."""

ADD_TO_AUDIT = "INSERT INTO audit (n, run, seq, body, hash) VALUES (?, ?, ?, ?, ?)"


def open_file(path: Path) -> sqlite3.Connection:
    def settle(db: sqlite3.Connection, found: int) -> None:
        _backfill_audit(db, found)
        _move_sessions(db, found, SessionFiles(path))

    return open_database(path, Schema(changes=CHANGES, settle=settle))


def add_to_audit(db: sqlite3.Connection, run_id: str, seq: int, body: str) -> None:
    """Append to the audit log, within an exclusive write transaction."""
    row = next_row(CHAIN, audit_head(db), run_id, seq, body)
    db.execute(ADD_TO_AUDIT, (row.n, row.run, row.seq, row.body, row.hash))


def audit_head(db: sqlite3.Connection) -> Head:
    found = db.execute("SELECT n, hash FROM audit ORDER BY n DESC LIMIT 1").fetchone()
    return Head(n=found[0], hash=found[1]) if found else START


def _backfill_audit(db: sqlite3.Connection, found: int) -> None:
    """Add the human inputs of journals from before there was an audit log."""
    if not 0 < found < 3:
        return
    kinds = ", ".join("?" for _ in HUMAN_INPUT_KINDS)
    sql = f"""SELECT run, seq, event FROM journal JOIN runs ON runs.id = run
        WHERE json_extract(event, '$.kind') IN ({kinds}) ORDER BY entered, seq"""
    for run_id, seq, event in db.execute(sql, HUMAN_INPUT_KINDS).fetchall():
        add_to_audit(db, run_id, seq, event)


def _move_sessions(db: sqlite3.Connection, found: int, files: SessionFiles) -> None:
    """Move handles out of the database, where an earlier version had them in plain text."""
    if not 0 < found < 6:
        return
    db.execute("PRAGMA secure_delete = ON")
    for run_id, handle in db.execute("SELECT id, session FROM runs WHERE session <> ''").fetchall():
        files.save(run_id, handle)
    db.execute("UPDATE runs SET session = '' WHERE session <> ''")
