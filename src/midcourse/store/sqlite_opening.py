"""Opens an SQLite file: creates it if missing, migrates it, and refuses files of other programs."""

import sqlite3
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from midcourse.errors import FormatUnknown
from midcourse.files import private_file, private_folder
from midcourse.store.sqlite_connection import GuardedConnection, StoreLocked, translate_errors

BUSY_SECONDS = 10.0
"""Seconds that a write waits for the write of another process."""


def _do_nothing(_db: sqlite3.Connection, _found: int) -> None:
    pass


@dataclass(frozen=True, kw_only=True)
class Schema:
    """The schema of a kind of file, as changes from version to version."""

    changes: Mapping[int, tuple[str, ...]]
    """The changes of each version. A file gets those above its own version, in order. A file older than the first version is refused."""
    settle: Callable[[sqlite3.Connection, int], None] = _do_nothing
    """Makes further changes in the same transaction. It gets the version that the file had, or 0 for a new one."""

    @property
    def version(self) -> int:
        """The current version, which is stored as the file's `user_version`. A new file has 0."""
        return max(self.changes)


def open_database(path: Path, schema: Schema) -> sqlite3.Connection:
    """Open a file, and bring it to this schema first if it is missing or older."""
    private_folder(path.parent)
    private_file(path)  # SQLite gives its write-ahead log the same mode
    db = _connect(path)
    try:
        _prepare(db, path, schema)
    except BaseException:
        db.close()
        raise
    return db


def open_current(path: Path, version: int) -> sqlite3.Connection | None:
    """Open a file that has this schema. Return None if it has another schema or does not exist."""
    if not path.is_file():
        return None
    db = _connect(path)
    try:
        if _version(db) == version:
            return db
    except BaseException:
        db.close()
        raise
    db.close()
    return None


def _connect(path: Path) -> GuardedConnection:
    with translate_errors(path):
        db = sqlite3.connect(
            path, timeout=BUSY_SECONDS, isolation_level=None, factory=GuardedConnection, check_same_thread=False
        )  # one thread uses it at a time, but a store that stays open may be used or closed by another thread later
    db.path = path
    return db


def _prepare(db: sqlite3.Connection, path: Path, schema: Schema) -> None:
    for pragma in ("synchronous = FULL", "fullfsync = ON", "foreign_keys = ON"):
        db.execute(f"PRAGMA {pragma}")
    if _version(db) < schema.version:
        _migrate(db, path, schema)
    found = _version(db)
    if found != schema.version:
        raise FormatUnknown(f"{path} has schema {found}, this version reads {schema.version}")
    _use_write_ahead_log(db)


def _version(db: sqlite3.Connection) -> int:
    return db.execute("PRAGMA user_version").fetchone()[0]


def _migrate(db: sqlite3.Connection, path: Path, schema: Schema) -> None:
    with db:
        db.execute("BEGIN IMMEDIATE")
        found = _version(db)
        if 0 < found < min(schema.changes) or found >= schema.version:
            return  # too old, or another process was faster
        if found == 0 and db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise FormatUnknown(f"{path} is some other program's database")
        for version in sorted(version for version in schema.changes if version > found):
            for statement in schema.changes[version]:
                db.execute(statement)
        schema.settle(db, found)
        db.execute(f"PRAGMA user_version = {schema.version}")


def _use_write_ahead_log(db: sqlite3.Connection) -> None:
    """Switch to the write-ahead log.

    SQLite's busy timeout does not cover this, so processes that open a new file at the same time wait here.
    """
    give_up_at = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
            return
        except StoreLocked:
            if time.monotonic() > give_up_at:
                raise
            time.sleep(0.01)
