"""The tables of a store's SQLite file, what each version changed in them, and how a file of an earlier version is migrated."""

import sqlite3
from pathlib import Path

from midcourse.store.sqlite.beside import SessionFiles
from midcourse.store.sqlite.connection import Schema, open_database

FIRST = (
    """CREATE TABLE runs (
        entered INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        key TEXT NOT NULL,
        goal TEXT NOT NULL,
        task TEXT NOT NULL,
        opening TEXT NOT NULL,
        state TEXT NOT NULL,
        phase TEXT NOT NULL,
        final_reason TEXT NOT NULL,
        began_at REAL NOT NULL DEFAULT 0,
        session TEXT NOT NULL DEFAULT '',
        result TEXT
    )""",
    "CREATE INDEX runs_with_key ON runs (key, entered) WHERE key <> ''",
    """CREATE TABLE journal (
        run TEXT NOT NULL REFERENCES runs (id),
        seq INTEGER NOT NULL,
        event TEXT NOT NULL,
        commands TEXT NOT NULL,
        PRIMARY KEY (run, seq)
    )""",
    """CREATE TABLE plans (
        run TEXT NOT NULL REFERENCES runs (id),
        version INTEGER NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (run, version)
    )""",
    """CREATE TABLE observations (
        run TEXT NOT NULL REFERENCES runs (id),
        id TEXT NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (run, id)
    )""",
    """CREATE TABLE consequences (
        run TEXT NOT NULL REFERENCES runs (id),
        digest TEXT NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (run, digest)
    )""",
    """CREATE TABLE ledger (
        run TEXT NOT NULL REFERENCES runs (id),
        command INTEGER NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (run, command)
    )""",
)

AUDIT = (
    """CREATE TABLE audit (
        n INTEGER PRIMARY KEY,
        run TEXT NOT NULL,
        seq INTEGER NOT NULL,
        body TEXT NOT NULL,
        hash TEXT NOT NULL
    )""",
    "CREATE TRIGGER audit_stays BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit log is only added to'); END",
    "CREATE TRIGGER audit_lasts BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit log is only added to'); END",
)

ASKED = (
    """CREATE TABLE asked (
        run TEXT NOT NULL REFERENCES runs (id),
        question INTEGER NOT NULL,
        consequence TEXT NOT NULL,
        shape TEXT NOT NULL,
        PRIMARY KEY (run, question, consequence)
    )""",
    "CREATE INDEX asked_by_shape ON asked (shape)",
    "CREATE INDEX audit_by_run ON audit (run, seq)",
)

PLACE = ("ALTER TABLE runs ADD COLUMN place TEXT NOT NULL DEFAULT ''",)
"""Adds the file that a run belongs to. A copy has another inode. Runs of an earlier version are bound when they are next driven."""

SESSIONS: tuple[str, ...] = ()
"""Changes no table. The column `session` is no longer used, because handles are in separate files."""

INBOX = (
    """CREATE TABLE inbox (
        run TEXT NOT NULL REFERENCES runs (id),
        number INTEGER NOT NULL,
        event TEXT NOT NULL,
        PRIMARY KEY (run, number)
    )""",
    """CREATE TABLE questions (
        run TEXT PRIMARY KEY REFERENCES runs (id),
        question INTEGER NOT NULL,
        body TEXT NOT NULL
    )""",
    "ALTER TABLE runs ADD COLUMN messages_decided INTEGER NOT NULL DEFAULT 0",
)
"""Adds messages from other processes to a run, and the question that it asks."""

DRIVING = (
    "ALTER TABLE runs ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE runs ADD COLUMN placed INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE runs ADD COLUMN resting INTEGER NOT NULL DEFAULT 1",
    "ALTER TABLE runs ADD COLUMN rested_epoch INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE runs ADD COLUMN rested_seq INTEGER NOT NULL DEFAULT -1",
)
"""Adds the latest claim of a run, and its last rest."""

PACKED: tuple[str, ...] = ()
"""Changes no table. Observations are compressed and refer to earlier ones, which earlier versions cannot read."""

RETENTION = ("ALTER TABLE runs ADD COLUMN pruned_at REAL",)
"""Adds the time at which the records of a run were deleted."""

OLDEST = 2
CHANGES: dict[int, tuple[str, ...]] = {
    OLDEST: FIRST,
    3: AUDIT,
    4: ASKED,
    5: PLACE,
    6: SESSIONS,
    7: INBOX,
    8: DRIVING,
    9: PACKED,
    10: RETENTION,
}
"""The changes of each schema version. A file gets those above its own version, in order."""
SCHEMA_VERSION = max(CHANGES)

CHAIN = ""
"""The chain of the audit log. A file has only one tenant, which has no name."""
ADD_TO_AUDIT = "INSERT INTO audit (n, run, seq, body, hash) VALUES (?, ?, ?, ?, ?)"


def open_file(path: Path) -> sqlite3.Connection:
    """Open the file of a store. It is created or migrated first if necessary."""

    def settle(db: sqlite3.Connection, found: int) -> None:
        if 0 < found < 3:
            _backfill_audit(db)
        if 0 < found < 6:
            _move_sessions(db, SessionFiles(path))

    return open_database(path, Schema(changes=CHANGES, settle=settle))


def _backfill_audit(db: sqlite3.Connection) -> None:
    """Add the human inputs of journals from before there was an audit log."""
    from midcourse.domain.records.audit import START, Head  # only here, since listing runs must not load all events
    from midcourse.policy.audit import HUMAN_INPUT_KINDS, next_row

    kinds = ", ".join("?" for _ in HUMAN_INPUT_KINDS)
    sql = f"""SELECT run, seq, event FROM journal JOIN runs ON runs.id = run
        WHERE json_extract(event, '$.kind') IN ({kinds}) ORDER BY entered, seq"""
    head = START
    for run_id, seq, event in db.execute(sql, HUMAN_INPUT_KINDS).fetchall():
        row = next_row(CHAIN, head, run_id, seq, event)
        db.execute(ADD_TO_AUDIT, (row.n, row.run, row.seq, row.body, row.hash))
        head = Head(n=row.n, hash=row.hash)


def _move_sessions(db: sqlite3.Connection, files: SessionFiles) -> None:
    """Move handles out of the database, where an earlier version had them in plain text."""
    db.execute("PRAGMA secure_delete = ON")
    for run_id, handle in db.execute("SELECT id, session FROM runs WHERE session <> ''").fetchall():
        files.save(run_id, handle)
    db.execute("UPDATE runs SET session = '' WHERE session <> ''")
