"""Stores the lessons of a tenant's agents in PostgreSQL. Similar lessons are found by pgvector if it is installed."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from psycopg import AsyncConnection

from midcourse.codec import decode, encode
from midcourse.domain.failure import Track
from midcourse.domain.records.lesson import NO_TEXT, Embedding, Lesson, Recalled, Untrusted, update_lesson
from midcourse.domain.replace import replace
from midcourse.policy.failure.lessons import rank_by_task
from midcourse.ports.memory import LATEST_RUNS, MOST_COMPARED
from midcourse.store.postgres.database import Database

READABLE = "CASE WHEN agent = %(agent)s THEN body ELSE shared END AS readable"
"""SQL for the text that an agent may read: its own lesson as it is, another's only as shared by a person, otherwise nothing."""

OWN = b"SELECT body FROM midcourse.lessons WHERE agent = %s AND key = %s FOR UPDATE"

PUT = b"""INSERT INTO midcourse.lessons (agent, key, signature, body) VALUES (%s, %s, %s, %s)
ON CONFLICT (tenant, agent, key) DO UPDATE SET body = excluded.body"""

PLACE = b"UPDATE midcourse.lessons SET model = %s, point = %s WHERE agent = %s AND key = %s"

SAVE_VERDICT = b"""INSERT INTO midcourse.lesson_words (key, run, mended) VALUES (%s, %s, %s)
ON CONFLICT (tenant, key, run) DO UPDATE SET mended = excluded.mended"""

TRACK = b"""SELECT key, count(*) FILTER (WHERE mended), count(*) FILTER (WHERE NOT mended)
FROM unnest(%(keys)s::text[]) AS asked (key), LATERAL (
    SELECT mended FROM midcourse.lesson_words AS word WHERE word.key = asked.key AND run <> %(besides)s
    ORDER BY told DESC LIMIT %(latest)s
) AS latest GROUP BY key"""

SAME = f"""SELECT readable, 1.0 FROM (
    SELECT agent, saved, {READABLE} FROM midcourse.lessons WHERE signature = %(signature)s
) AS found WHERE readable <> '' ORDER BY agent = %(agent)s DESC, saved DESC LIMIT %(limit)s""".encode()

PLAIN_COSINE = "(SELECT sum(a * b) FROM unnest(point, %(point)s::real[]) AS pair (a, b))"
PGVECTOR_COSINE = "1 - (point::vector <=> %(point)s::real[]::vector)"
ALIKE = """SELECT readable, alike FROM (
    SELECT {readable}, CASE WHEN cardinality(point) = cardinality(%(point)s::real[]) THEN {cosine} END AS alike
    FROM midcourse.lessons WHERE model = %(model)s
) AS found WHERE readable <> '' AND alike >= %(above)s ORDER BY alike DESC LIMIT %(limit)s"""

LATEST = f"""SELECT readable FROM (SELECT saved, {READABLE} FROM midcourse.lessons) AS found
WHERE readable <> '' ORDER BY saved DESC LIMIT %(most)s""".encode()

HAS_PGVECTOR = b"SELECT count(*) FROM pg_extension WHERE extname = 'vector'"

ALL = b"SELECT body, shared FROM midcourse.lessons ORDER BY saved DESC"
OF_AGENT = b"SELECT body FROM midcourse.lessons WHERE key = %s AND agent = %s FOR UPDATE"
SHARE = b"UPDATE midcourse.lessons SET shared = %s WHERE key = %s AND agent = %s"
FORGET = b"""WITH words AS (DELETE FROM midcourse.lesson_words WHERE key = %(key)s)
DELETE FROM midcourse.lessons WHERE key = %(key)s"""


class PostgresMemory:
    """The memory of one agent of a tenant."""

    def __init__(self, database: Database, agent: str) -> None:
        self._database = database
        self._agent = agent
        self._pgvector: bool | None = None

    async def save(self, lesson: Lesson, point: Embedding | None = None) -> None:
        async with self._transaction() as connection:
            await self._save_own(connection, replace(lesson, agent=self._agent))
            if point is not None:
                place = (point.model, list(point.values), self._agent, lesson.key)
                await connection.execute(PLACE, place)

    async def credit(self, key: str, run: str, fix: Untrusted = NO_TEXT) -> None:
        async with self._transaction() as connection:
            await connection.execute(SAVE_VERDICT, (key, run, True))
            known = await self._load_own(connection, key)
            if known is not None and fix.text:
                await self._save_own(connection, replace(known, fix=fix))

    async def debit(self, key: str, run: str) -> None:
        await self._database.execute(SAVE_VERDICT, (key, run, False))

    async def track(self, key: str, *, besides: str = "") -> Track:
        return (await self._load_tracks([key], besides)).get(key, Track(lesson=key))

    async def recall(self, signature: str, limit: int = 3) -> tuple[Recalled, ...]:
        asked = {"agent": self._agent, "signature": signature, "limit": limit}
        return await self._decode_recalled(await self._database.rows(SAME, asked))

    async def alike(self, point: Embedding, *, above: float, limit: int = 3) -> tuple[Recalled, ...]:
        if self._pgvector is None:
            self._pgvector = (await self._database.rows(HAS_PGVECTOR, ()))[0][0] > 0
        cosine = PGVECTOR_COSINE if self._pgvector else PLAIN_COSINE
        asked = {
            "agent": self._agent,
            "model": point.model,
            "point": list(point.values),
            "above": above,
            "limit": limit,
        }
        similar = ALIKE.format(readable=READABLE, cosine=cosine).encode()
        return await self._decode_recalled(await self._database.rows(similar, asked))

    async def of_task(self, error_type: str, task: str, *, above: float, limit: int = 3) -> tuple[Recalled, ...]:
        rows = await self._database.rows(LATEST, {"agent": self._agent, "most": MOST_COMPARED})
        lessons = [decode(Lesson, body) for (body,) in rows]
        best = rank_by_task(lessons, error_type, task, above=above, limit=limit)
        tracked = await self._with_tracks([lesson for lesson, _ in best])
        return tuple(Recalled(lesson=lesson, alike=alike) for lesson, (_, alike) in zip(tracked, best, strict=True))

    # --- for people

    async def lessons(self) -> tuple[Lesson, ...]:
        rows = await self._database.rows(ALL, ())
        tracked = await self._with_tracks([decode(Lesson, body) for body, _ in rows])
        sharers = [decode(Lesson, shared).shared_by if shared else "" for _, shared in rows]
        return tuple(replace(lesson, shared_by=by) for lesson, by in zip(tracked, sharers, strict=True))

    async def share(self, key: str, agent: str, by: str) -> bool:
        async with self._transaction() as connection:
            row = await (await connection.execute(OF_AGENT, (key, agent))).fetchone()
            if row is None:
                return False
            shared = encode(replace(decode(Lesson, row[0]), shared_by=by))
            await connection.execute(SHARE, (shared, key, agent))
            return True

    async def forget(self, key: str) -> int:
        return await self._database.execute(FORGET, {"key": key})

    # --- SQL

    @asynccontextmanager
    async def _transaction(self) -> AsyncGenerator[AsyncConnection]:
        async with self._database.connections.borrow() as connection, connection.transaction():
            yield connection

    async def _load_own(self, connection: AsyncConnection, key: str) -> Lesson | None:
        row = await (await connection.execute(OWN, (self._agent, key))).fetchone()
        return decode(Lesson, row[0]) if row else None

    async def _save_own(self, connection: AsyncConnection, lesson: Lesson) -> None:
        known = await self._load_own(connection, lesson.key)
        body = encode(update_lesson(known, lesson) if known else lesson)
        await connection.execute(PUT, (self._agent, lesson.key, lesson.signature, body))

    async def _load_tracks(self, keys: list[str], besides: str = "") -> dict[str, Track]:
        asked = {"keys": keys, "besides": besides, "latest": LATEST_RUNS}
        rows = await self._database.rows(TRACK, asked)
        return {key: Track(lesson=key, fixed=fixed, not_fixed=not_fixed) for key, fixed, not_fixed in rows}

    async def _with_tracks(self, lessons: list[Lesson]) -> list[Lesson]:
        tracks = await self._load_tracks(sorted({lesson.key for lesson in lessons}))
        return [replace(lesson, track=tracks.get(lesson.key, Track(lesson=lesson.key))) for lesson in lessons]

    async def _decode_recalled(self, rows: list[tuple[str, float]]) -> tuple[Recalled, ...]:
        tracked = await self._with_tracks([decode(Lesson, body) for body, _ in rows])
        return tuple(
            Recalled(lesson=lesson, alike=float(alike)) for lesson, (_, alike) in zip(tracked, rows, strict=True)
        )
