"""Stores the lessons of the agents of one home in a separate SQLite file, since they outlive their runs."""

import array
import math
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

from midcourse.codec import decode, encode
from midcourse.domain.failure import Track
from midcourse.domain.records.lesson import NO_TEXT, Embedding, Lesson, Recalled, Untrusted, update_lesson
from midcourse.domain.replace import replace
from midcourse.policy.failure.lessons import rank_by_task
from midcourse.ports.memory import LATEST_RUNS, MOST_COMPARED
from midcourse.store.sqlite.connection import Schema, open_database

TABLES = (
    """CREATE TABLE lessons (
        saved INTEGER PRIMARY KEY AUTOINCREMENT,
        agent TEXT NOT NULL,
        key TEXT NOT NULL,
        signature TEXT NOT NULL,
        body TEXT NOT NULL,
        shared TEXT NOT NULL DEFAULT '',
        model TEXT NOT NULL DEFAULT '',
        point BLOB NOT NULL DEFAULT x'',
        UNIQUE (agent, key)
    )""",
    "CREATE INDEX lessons_by_signature ON lessons (signature)",
    """CREATE TABLE words (
        told INTEGER PRIMARY KEY AUTOINCREMENT,
        key TEXT NOT NULL,
        run TEXT NOT NULL,
        mended INTEGER NOT NULL,
        UNIQUE (key, run)
    )""",
)

SCHEMA = Schema(changes={1: TABLES})

READABLE = "CASE WHEN agent = :agent THEN body ELSE shared END AS readable"
"""SQL for the text that an agent may read: its own lesson as it is, another's only as shared by a person, otherwise nothing."""

SAVE_VERDICT = """INSERT INTO words (key, run, mended) VALUES (?, ?, ?)
    ON CONFLICT (key, run) DO UPDATE SET mended = excluded.mended"""


class SqliteMemory:
    """A memory in SQLite. Each call opens a connection, since calls are rare. Similar lessons are found by a full scan."""

    def __init__(self, path: Path | str, *, agent: str) -> None:
        self.path = Path(path).absolute()
        self._agent = agent

    async def save(self, lesson: Lesson, point: Embedding | None = None) -> None:
        with self._open_for_writing() as db:
            self._save_own(db, replace(lesson, agent=self._agent))
            if point is not None:
                db.execute(
                    "UPDATE lessons SET model = ?, point = ? WHERE agent = ? AND key = ?",
                    (point.model, array.array("f", point.values).tobytes(), self._agent, lesson.key),
                )

    async def credit(self, key: str, run: str, fix: Untrusted = NO_TEXT) -> None:
        with self._open_for_writing() as db:
            db.execute(SAVE_VERDICT, (key, run, True))
            known = self._load_own(db, key)
            if known is not None and fix.text:
                self._save_own(db, replace(known, fix=fix))

    async def debit(self, key: str, run: str) -> None:
        with self._open_for_writing() as db:
            db.execute(SAVE_VERDICT, (key, run, False))

    async def track(self, key: str, *, besides: str = "") -> Track:
        with self._open_for_reading() as db:
            return _load_track(db, key, besides)

    async def recall(self, signature: str, limit: int = 3) -> tuple[Recalled, ...]:
        sql = f"""SELECT {READABLE} FROM lessons WHERE signature = :signature AND readable <> ''
            ORDER BY agent = :agent DESC, saved DESC LIMIT :limit"""
        with self._open_for_reading() as db:
            rows = db.execute(sql, {"agent": self._agent, "signature": signature, "limit": limit})
            return tuple(Recalled(lesson=_with_track(db, body)) for (body,) in rows)

    async def alike(self, point: Embedding, *, above: float, limit: int = 3) -> tuple[Recalled, ...]:
        sql = f"SELECT {READABLE}, point FROM lessons WHERE model = :model AND readable <> ''"
        with self._open_for_reading() as db:
            rows = db.execute(sql, {"agent": self._agent, "model": point.model})
            near = [(_cosine(point.values, other), body) for body, other in rows]
            best = sorted((pair for pair in near if pair[0] >= above), key=lambda pair: -pair[0])[:limit]
            return tuple(Recalled(lesson=_with_track(db, body), alike=alike) for alike, body in best)

    async def of_task(self, error_type: str, task: str, *, above: float, limit: int = 3) -> tuple[Recalled, ...]:
        sql = f"SELECT {READABLE} FROM lessons WHERE readable <> '' ORDER BY saved DESC LIMIT :most"
        with self._open_for_reading() as db:
            rows = db.execute(sql, {"agent": self._agent, "most": MOST_COMPARED})
            lessons = [decode(Lesson, body) for (body,) in rows]
            best = rank_by_task(lessons, error_type, task, above=above, limit=limit)
            return tuple(
                Recalled(lesson=replace(lesson, track=_load_track(db, lesson.key)), alike=alike)
                for lesson, alike in best
            )

    # --- for people

    async def lessons(self) -> tuple[Lesson, ...]:
        with self._open_for_reading() as db:
            rows = db.execute("SELECT body, shared FROM lessons ORDER BY saved DESC")
            sharers = ((body, decode(Lesson, shared).shared_by if shared else "") for body, shared in rows)
            return tuple(replace(_with_track(db, body), shared_by=by) for body, by in sharers)

    async def share(self, key: str, agent: str, by: str) -> bool:
        with self._open_for_writing() as db:
            row = db.execute("SELECT body FROM lessons WHERE key = ? AND agent = ?", (key, agent)).fetchone()
            if row is None:
                return False
            shared = encode(replace(decode(Lesson, row[0]), shared_by=by))
            db.execute("UPDATE lessons SET shared = ? WHERE key = ? AND agent = ?", (shared, key, agent))
            return True

    async def forget(self, key: str) -> int:
        with self._open_for_writing() as db:
            db.execute("DELETE FROM words WHERE key = ?", (key,))
            return db.execute("DELETE FROM lessons WHERE key = ?", (key,)).rowcount

    # --- SQL

    @contextmanager
    def _open_for_writing(self) -> Generator[sqlite3.Connection]:
        with closing(open_database(self.path, SCHEMA)) as db, db:
            db.execute("BEGIN IMMEDIATE")
            yield db

    @contextmanager
    def _open_for_reading(self) -> Generator[sqlite3.Connection]:
        """Open a connection for reading. Before the first failure the file does not exist, and reading does not create it."""
        if self.path.exists():
            with closing(open_database(self.path, SCHEMA)) as db:
                yield db
        else:
            with closing(sqlite3.connect(":memory:")) as db:
                for statement in TABLES:
                    db.execute(statement)
                yield db

    def _load_own(self, db: sqlite3.Connection, key: str) -> Lesson | None:
        row = db.execute("SELECT body FROM lessons WHERE key = ? AND agent = ?", (key, self._agent)).fetchone()
        return decode(Lesson, row[0]) if row else None

    def _save_own(self, db: sqlite3.Connection, lesson: Lesson) -> None:
        known = self._load_own(db, lesson.key)
        body = encode(update_lesson(known, lesson) if known else lesson)
        db.execute(
            "INSERT INTO lessons (agent, key, signature, body) VALUES (?, ?, ?, ?)"
            " ON CONFLICT (agent, key) DO UPDATE SET body = excluded.body",
            (self._agent, lesson.key, lesson.signature, body),
        )


def _load_track(db: sqlite3.Connection, key: str, besides: str = "") -> Track:
    sql = """SELECT count(*), coalesce(sum(mended), 0)
        FROM (SELECT mended FROM words WHERE key = ? AND run <> ? ORDER BY told DESC LIMIT ?)"""
    runs, fixed = db.execute(sql, (key, besides, LATEST_RUNS)).fetchone()
    return Track(lesson=key, fixed=fixed, not_fixed=runs - fixed)


def _with_track(db: sqlite3.Connection, body: str) -> Lesson:
    lesson = decode(Lesson, body)
    return replace(lesson, track=_load_track(db, lesson.key))


def _cosine(values: tuple[float, ...], other: bytes) -> float:
    return math.fsum(a * b for a, b in zip(values, array.array("f", other), strict=True))
