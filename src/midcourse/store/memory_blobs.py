"""Stores blobs in memory, for tests. They are lost with the process."""

from midcourse.ports.blobs import Blob


class MemoryBlobs:
    def __init__(self) -> None:
        self._kept: dict[str, dict[str, Blob]] = {}

    async def put(self, run_id: str, blob: Blob) -> str:
        self._kept.setdefault(run_id, {}).setdefault(blob.digest, blob)
        return blob.digest

    async def read(self, run_id: str, digest: str) -> Blob | None:
        return self._kept.get(run_id, {}).get(digest)

    async def delete(self, run_id: str) -> None:
        self._kept.pop(run_id, None)
