"""The plan cache of one tenant in PostgreSQL."""

from midcourse.codec import decode, encode
from midcourse.domain.records.plan_cache import KeptSegment
from midcourse.ports.plan_cache import MOST_OF_A_TASK
from midcourse.store.postgres.database import Database
from midcourse.store.postgres.statements import KEEP_SEGMENT

FIND = b"SELECT body FROM midcourse.segments WHERE task = %s AND surface = %s ORDER BY worked_at DESC, id"

ALL = b"SELECT body FROM midcourse.segments ORDER BY worked_at DESC, id"

DROP = b"DELETE FROM midcourse.segments WHERE id = %s"

DROP_OLDEST = b"""DELETE FROM midcourse.segments WHERE task = %(task)s AND id NOT IN
(SELECT id FROM midcourse.segments WHERE task = %(task)s ORDER BY worked_at DESC, id LIMIT %(most)s)"""


class PostgresPlanCache:
    """The plan cache of a tenant. It shares no transaction with the records of runs, since a lost segment is planned again."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, task: str, surface: str) -> tuple[KeptSegment, ...]:
        return tuple(decode(KeptSegment, body) for (body,) in await self._database.rows(FIND, (task, surface)))

    async def keep(self, *segments: KeptSegment) -> None:
        writes = [(KEEP_SEGMENT, (kept.id, kept.task, kept.surface, kept.worked_at, encode(kept))) for kept in segments]
        await self._database.write(writes)
        for task in sorted({kept.task for kept in segments}):
            await self._database.execute(DROP_OLDEST, {"task": task, "most": MOST_OF_A_TASK})

    async def drop(self, segment_id: str) -> bool:
        return await self._database.execute(DROP, (segment_id,)) > 0

    async def all(self) -> tuple[KeptSegment, ...]:
        return tuple(decode(KeptSegment, body) for (body,) in await self._database.rows(ALL, ()))
