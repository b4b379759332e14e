"""The SQLite file of a store: its tables, and how a file of an earlier version comes by those it lacks."""

import sqlite3
import time
from pathlib import Path

from midcourse.domain.audit import START, Head
from midcourse.errors import FormatUnknown
from midcourse.policy.audit import SAID_KINDS, next_row

BUSY_SECONDS = 10.0
"""How long a write waits for another process's."""

CHAIN = ""
"""Whose audit log it is: a file has one tenant, which needs no name."""

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

OLDEST = 2
CHANGES: dict[int, tuple[str, ...]] = {OLDEST: FIRST, 3: AUDIT}
"""What each version of the schema added. A file gets those above its own, in this order."""
SCHEMA_VERSION = max(CHANGES)
"""Kept as the file's `user_version`; 0 is a file that has no tables yet."""

ADD_TO_AUDIT = "INSERT INTO audit (n, run, seq, body, hash) VALUES (?, ?, ?, ?, ?)"


def open_file(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    db = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    try:
        _prepare(db, path)
    except BaseException as error:
        db.close()
        if isinstance(error, sqlite3.DatabaseError) and error.sqlite_errorname == "SQLITE_NOTADB":
            raise FormatUnknown(f"{path} is not an SQLite file") from error
        raise
    return db


def add_to_audit(db: sqlite3.Connection, run_id: str, seq: int, body: str) -> None:
    """Within a transaction that nobody else can write in."""
    row = next_row(CHAIN, audit_head(db), run_id, seq, body)
    db.execute(ADD_TO_AUDIT, (row.n, row.run, row.seq, row.body, row.hash))


def audit_head(db: sqlite3.Connection) -> Head:
    found = db.execute("SELECT n, hash FROM audit ORDER BY n DESC LIMIT 1").fetchone()
    return Head(n=found[0], hash=found[1]) if found else START


def _prepare(db: sqlite3.Connection, path: Path) -> None:
    for pragma in ("synchronous = FULL", "fullfsync = ON", "foreign_keys = ON"):
        db.execute(f"PRAGMA {pragma}")
    if _schema_version(db) < SCHEMA_VERSION:
        _bring_up_to_date(db, path)
    found = _schema_version(db)
    if found != SCHEMA_VERSION:
        raise FormatUnknown(f"{path} has schema {found}, this version reads {SCHEMA_VERSION}")
    _use_write_ahead_log(db)


def _schema_version(db: sqlite3.Connection) -> int:
    return db.execute("PRAGMA user_version").fetchone()[0]


def _bring_up_to_date(db: sqlite3.Connection, path: Path) -> None:
    with db:
        db.execute("BEGIN IMMEDIATE")
        found = _schema_version(db)
        if 0 < found < OLDEST or found >= SCHEMA_VERSION:
            return  # too old, or another process was faster
        if found == 0 and db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise FormatUnknown(f"{path} is some other program's database")
        for version in sorted(version for version in CHANGES if version > found):
            for statement in CHANGES[version]:
                db.execute(statement)
        if 0 < found < 3:
            _log_what_was_said(db)
        db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _log_what_was_said(db: sqlite3.Connection) -> None:
    """What people said before there was a log, as far as journals have it."""
    kinds = ", ".join("?" for _ in SAID_KINDS)
    sql = f"""SELECT run, seq, event FROM journal JOIN runs ON runs.id = run
        WHERE json_extract(event, '$.kind') IN ({kinds}) ORDER BY entered, seq"""
    for run_id, seq, event in db.execute(sql, SAID_KINDS).fetchall():
        add_to_audit(db, run_id, seq, event)


def _use_write_ahead_log(db: sqlite3.Connection) -> None:
    """SQLite's busy timeout does not cover this switch, so processes that open a new file together wait here."""
    give_up_at = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if not error.sqlite_errorname.startswith("SQLITE_BUSY") or time.monotonic() > give_up_at:
                raise
            time.sleep(0.01)
