"""Stores the blobs of a tenant's runs in PostgreSQL, in the partition of the run's month."""

from typing import cast

from midcourse.errors import RunUnknown
from midcourse.ports.blobs import Blob, MediaType, is_digest
from midcourse.store.postgres.database import Database

PUT = b"""INSERT INTO midcourse.blobs (run, month, digest, media_type, width, height, body)
VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT (tenant, run, month, digest) DO NOTHING"""

READ = b"""SELECT body, media_type, width, height FROM midcourse.blobs WHERE run = %s AND month = %s AND digest = %s"""

DELETE = b"DELETE FROM midcourse.blobs WHERE run = %s"


class PostgresBlobs:
    """The blobs of a tenant's runs, over the connections of a store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, run_id: str, blob: Blob) -> str:
        """Store a blob. Raise `RunUnknown` for a run that the store does not have."""
        digest, month = blob.digest, await self._database.month_of(run_id)
        values = (run_id, month, digest, blob.media_type, blob.width, blob.height, blob.data)
        await self._database.execute(PUT, values)
        return digest

    async def read(self, run_id: str, digest: str) -> Blob | None:
        if not is_digest(digest):
            return None
        try:
            month = await self._database.month_of(run_id)
        except RunUnknown:
            return None
        for body, kind, width, height in await self._database.rows(READ, (run_id, month, digest)):
            found = Blob(data=bytes(body), media_type=cast(MediaType, kind), width=width, height=height)
            return found if found.digest == digest else None
        return None

    async def delete(self, run_id: str) -> None:
        await self._database.execute(DELETE, (run_id,))
