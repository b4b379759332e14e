"""Stores the plan cache in a separate SQLite file, which may be deleted at any time."""

import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

from midcourse.codec import decode, encode
from midcourse.domain.records.plan_cache import KeptSegment
from midcourse.files import private_file, private_folder
from midcourse.ports.plan_cache import MOST_OF_A_TASK

BUSY_SECONDS = 5.0
SCHEMA_VERSION = 1
"""The version of the schema, stored as the file's `user_version`. A file of another version is discarded."""

SCHEMA = (
    "DROP TABLE IF EXISTS segments",
    """CREATE TABLE segments (
        id TEXT PRIMARY KEY,
        task TEXT NOT NULL,
        surface TEXT NOT NULL,
        worked_at REAL NOT NULL,
        body TEXT NOT NULL
    )""",
    "CREATE INDEX segments_found ON segments (task, surface)",
    f"PRAGMA user_version = {SCHEMA_VERSION}",
)
NEWEST = "ORDER BY worked_at DESC, id"


class SqlitePlanCache:
    """A plan cache in SQLite. Each call opens a connection, since a run makes few calls and there may be many processes."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path).absolute()

    async def find(self, task: str, surface: str) -> tuple[KeptSegment, ...]:
        return self._read(f"SELECT body FROM segments WHERE task = ? AND surface = ? {NEWEST}", task, surface)

    async def keep(self, *segments: KeptSegment) -> None:
        rows = [(kept.id, kept.task, kept.surface, kept.worked_at, encode(kept)) for kept in segments]
        with self._opened() as db, db:
            db.execute("BEGIN IMMEDIATE")
            if not _is_ours(db):
                for statement in SCHEMA:
                    db.execute(statement)
            db.executemany("INSERT OR REPLACE INTO segments VALUES (?, ?, ?, ?, ?)", rows)
            db.executemany(
                f"""DELETE FROM segments WHERE task = ? AND id NOT IN
                (SELECT id FROM segments WHERE task = ? {NEWEST} LIMIT ?)""",
                [(task, task, MOST_OF_A_TASK) for task in sorted({kept.task for kept in segments})],
            )

    async def drop(self, segment_id: str) -> bool:
        if not self.path.exists():
            return False
        with self._opened() as db:
            return _is_ours(db) and db.execute("DELETE FROM segments WHERE id = ?", (segment_id,)).rowcount > 0

    async def all(self) -> tuple[KeptSegment, ...]:
        return self._read(f"SELECT body FROM segments {NEWEST}")

    def _read(self, sql: str, *values: object) -> tuple[KeptSegment, ...]:
        if not self.path.exists():
            return ()
        with self._opened() as db:
            return tuple(decode(KeptSegment, body) for (body,) in db.execute(sql, values)) if _is_ours(db) else ()

    @contextmanager
    def _opened(self) -> Generator[sqlite3.Connection]:
        """Open a connection. Every error becomes an `OSError`, since a broken file must not make a run fail."""
        private_folder(self.path.parent)
        try:
            private_file(self.path)
            with closing(sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None)) as db:
                yield db
        except sqlite3.Error as error:
            raise OSError(f"{self.path}: {error}") from error


def _is_ours(db: sqlite3.Connection) -> bool:
    return db.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
