"""Opens an SQLite file: creates it if missing, migrates it, and refuses files of other programs.

The errors of its connection say what is wrong with the file and what to do about it.
"""

import sqlite3
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, cast

from midcourse.errors import FormatUnknown, StoreUnusable
from midcourse.files import private_file, private_folder

BUSY_SECONDS = 10.0
"""Seconds that a write waits for the write of another process."""

ADVICE = {
    "SQLITE_BUSY": "is locked by another process; try again when that has finished",
    "SQLITE_LOCKED": "is locked by another process; try again when that has finished",
    "SQLITE_FULL": "cannot be written: the disk is full; free some space and try again",
    "SQLITE_READONLY": "cannot be written: it is read-only; check its permissions and those of its folder",
    "SQLITE_CANTOPEN": "cannot be opened; check that its folder exists and may be written",
    "SQLITE_IOERR": "cannot be read or written: the disk reported an error",
    "SQLITE_PERM": "may not be opened by this user",
}
"""Explanations of errors, by the start of their names."""

DAMAGED = "is damaged; restore the whole folder from a backup, or set MIDCOURSE_HOME to a new one"
DAMAGED_BY = ("SQLITE_CORRUPT", "SQLITE_SCHEMA", "SQLITE_FORMAT")
DAMAGED_SAYS = ("malformed", "could not decode", "no such table", "no such column", "has no column named")
"""Messages about damaged contents for which SQLite and Python have no error code."""


class StoreLocked(StoreUnusable):
    """Another process holds the lock for longer than a write waits."""


@contextmanager
def translate_errors(path: Path) -> Generator[None]:
    """Raise `StoreUnusable` or `FormatUnknown` in place of errors of this file. Errors that are bugs are not translated."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise _translation(path, error) or error from error
    except UnicodeDecodeError as error:  # raised by Python for a name or a message that contains damaged bytes
        raise StoreUnusable(f"{path} {DAMAGED} ({error})") from error


def _translation(path: Path, error: sqlite3.DatabaseError) -> Exception | None:
    name = getattr(error, "sqlite_errorname", "")
    if name == "SQLITE_NOTADB":
        return FormatUnknown(f"{path} is not an SQLite file")
    if name.startswith(DAMAGED_BY) or any(words in str(error).lower() for words in DAMAGED_SAYS):
        return StoreUnusable(f"{path} {DAMAGED} ({error})")
    for start, meaning in ADVICE.items():
        if name.startswith(start):
            kind = StoreLocked if start in ("SQLITE_BUSY", "SQLITE_LOCKED") else StoreUnusable
            return kind(f"{path} {meaning} ({error})")
    return None


class GuardedCursor(sqlite3.Cursor):
    """A cursor that translates errors, also those while rows are fetched, when most of the file is read."""

    @property
    def _path(self) -> Path:
        return cast(GuardedConnection, self.connection).path

    def execute(self, sql: str, parameters: Any = (), /) -> Self:
        with translate_errors(self._path):
            return super().execute(sql, parameters)

    def executemany(self, sql: str, seq_of_parameters: Iterable[Any], /) -> Self:
        with translate_errors(self._path):
            return super().executemany(sql, seq_of_parameters)

    def fetchone(self) -> Any:
        with translate_errors(self._path):
            return super().fetchone()

    def fetchall(self) -> list[Any]:
        with translate_errors(self._path):
            return super().fetchall()

    def __next__(self) -> Any:
        with translate_errors(self._path):
            return super().__next__()


class GuardedConnection(sqlite3.Connection):
    """A connection that translates errors, since all statements run through `execute` and `executemany` and their guarded cursors."""

    path = Path()

    def execute(self, sql: str, parameters: Any = (), /) -> GuardedCursor:
        return self.cursor(GuardedCursor).execute(sql, parameters)

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> GuardedCursor:
        return self.cursor(GuardedCursor).executemany(sql, parameters)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> Literal[False]:
        with translate_errors(self.path):
            return super().__exit__(kind, error, trace)


# --- opening


@dataclass(frozen=True, kw_only=True)
class Schema:
    """The schema of a kind of file, as changes from version to version."""

    changes: Mapping[int, tuple[str, ...]]
    """The changes of each version. A file gets those above its own version, in order. A file older than the first version is refused."""
    settle: Callable[[sqlite3.Connection, int], None] = lambda _db, _found: None
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
        for pragma in ("synchronous = FULL", "fullfsync = ON", "foreign_keys = ON"):
            db.execute(f"PRAGMA {pragma}")
        if _version(db) < schema.version:
            _migrate(db, path, schema)
        found = _version(db)
        if found != schema.version:
            raise FormatUnknown(f"{path} has schema {found}, this version reads {schema.version}")
        _use_write_ahead_log(db)
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
