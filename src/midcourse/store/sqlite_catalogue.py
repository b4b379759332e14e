"""The list of runs in an SQLite file, for programs that only list them. It decodes no records."""

import sqlite3
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

from midcourse.domain.records.summary import RunSummary, Sending
from midcourse.store.lock import is_locked
from midcourse.store.sqlite_opening import open_current
from midcourse.store.sqlite_schema import SCHEMA_VERSION

COLUMNS = (
    "id, goal, phase, final_reason, began_at, json_extract(result, '$.verified'), json_extract(result, '$.sending')"
)
NEWEST = f"SELECT {COLUMNS} FROM runs ORDER BY entered DESC LIMIT ?"
NAMED = f"""SELECT {COLUMNS} FROM runs WHERE substr(id, 1, length(:name)) = :name
    ORDER BY id = :name DESC, entered DESC LIMIT :limit"""
ALL = -1


class SqliteCatalogue:
    """The runs of a file, and whether a process drives them. Only one thread at a time may use it."""

    path: Path
    _db: sqlite3.Connection

    def __init__(self, path: Path | str) -> None:
        """Open a file. A file of an earlier version is migrated, which needs the whole store."""
        self.path = Path(path).absolute()
        db = open_current(self.path, SCHEMA_VERSION)
        if db is None:
            from midcourse.store.sqlite_file import open_file

            db = open_file(self.path)
        self._db = db

    def close(self) -> None:
        """Close the file. It is safe to call this twice."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def newest(self, limit: int | None = None) -> tuple[RunSummary, ...]:
        """Return the runs, the newest first."""
        return tuple(_summary(*row) for row in self._db.execute(NEWEST, (ALL if limit is None else limit,)))

    def named(self, beginning: str, limit: int) -> tuple[RunSummary, ...]:
        """Return the runs with ids that begin with this: first an exact match, then the newest."""
        return tuple(_summary(*row) for row in self._db.execute(NAMED, {"name": beginning, "limit": limit}))

    def count(self, phase: str = "") -> int:
        """Return the number of all runs, or of the runs in this phase."""
        return self._db.execute("SELECT count(*) FROM runs WHERE ? IN ('', phase)", (phase,)).fetchone()[0]

    def is_claimed(self, run_id: str) -> bool | None:
        """Return whether a process drives the run, or None on Windows, where that cannot be known."""
        return is_locked(self._lock_path(run_id))

    def _lock_path(self, run_id: str) -> Path:
        return self.path.with_name(f"{self.path.name}.{quote(run_id, safe='')}.lock")


def _summary(
    run_id: str,
    goal: str,
    phase: str,
    final_reason: str,
    began_at: float,
    verified: int | None,
    sending: Sending | None,
) -> RunSummary:
    return RunSummary(
        id=run_id,
        goal=goal,
        phase=phase,
        final_reason=final_reason,
        began_at=began_at,
        verified=None if verified is None else bool(verified),
        sending=sending or "",
    )
