"""An SQLite connection whose errors say what is wrong with the file and what to do about it."""

import sqlite3
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, cast

from midcourse.errors import FormatUnknown, StoreUnusable

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
