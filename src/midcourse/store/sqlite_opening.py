"""Opens an SQLite file of ours: creates it if it is missing, migrates it, and refuses other files."""

import sqlite3
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from midcourse.errors import FormatUnknown
from midcourse.files import private_file, private_folder
from midcourse.store.sqlite_connection import GuardedConnection, StoreLocked, translated

BUSY_SECONDS = 10.0
"""How long a write waits for another process's."""


def _nothing(_db: sqlite3.Connection, _found: int) -> None:
    pass


@dataclass(frozen=True, kw_only=True)
class Schema:
    changes: Mapping[int, tuple[str, ...]]
    """What each version added. A file gets those above its own, in this order; one older than the first is refused."""
    settle: Callable[[sqlite3.Connection, int], None] = _nothing
    """What else becomes of a file that was of this version, or had no tables yet (0), in the same transaction."""

    @property
    def version(self) -> int:
        """Kept as the file's `user_version`; 0 is a file that has no tables yet."""
        return max(self.changes)


def open_database(path: Path, schema: Schema) -> sqlite3.Connection:
    private_folder(path.parent)
    with translated(path):
        private_file(path)  # SQLite gives its write-ahead log the same mode
        db = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, factory=GuardedConnection)
        db.path = path
    try:
        _prepare(db, path, schema)
    except BaseException:
        db.close()
        raise
    return db


def _prepare(db: sqlite3.Connection, path: Path, schema: Schema) -> None:
    for pragma in ("synchronous = FULL", "fullfsync = ON", "foreign_keys = ON"):
        db.execute(f"PRAGMA {pragma}")
    if _version(db) < schema.version:
        _bring_up_to_date(db, path, schema)
    found = _version(db)
    if found != schema.version:
        raise FormatUnknown(f"{path} has schema {found}, this version reads {schema.version}")
    _use_write_ahead_log(db)


def _version(db: sqlite3.Connection) -> int:
    return db.execute("PRAGMA user_version").fetchone()[0]


def _bring_up_to_date(db: sqlite3.Connection, path: Path, schema: Schema) -> None:
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
    """SQLite's busy timeout does not cover this switch, so processes that open a new file together wait here."""
    give_up_at = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
            return
        except StoreLocked:
            if time.monotonic() > give_up_at:
                raise
            time.sleep(0.01)
