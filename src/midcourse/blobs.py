"""Content-addressed storage: screenshots and other large values in a folder, each named by its hash."""

import asyncio
import re
from hashlib import sha256
from pathlib import Path

from midcourse.files import atomic_write, private_folder

DIGEST = re.compile(r"[0-9a-f]{64}")


class BlobFolder:
    """`ab/cd/abcd…`: two levels of folders, so that no folder gets too full. Several processes may share it."""

    def __init__(self, folder: Path | str) -> None:
        self._folder = Path(folder).absolute()

    async def save(self, data: bytes) -> str:
        """Write the data to disk and return its digest. Saving the same data again changes nothing."""
        return await asyncio.to_thread(self._save, data)

    async def read(self, digest: str) -> bytes | None:
        """None: not here, or changed since it was saved."""
        return await asyncio.to_thread(self._read, digest)

    def _save(self, data: bytes) -> str:
        digest = sha256(data).hexdigest()
        if self._read(digest) is None:
            path = self._path(digest)
            private_folder(path.parent)
            atomic_write(path, data, durable=True)
        return digest

    def _read(self, digest: str) -> bytes | None:
        if not DIGEST.fullmatch(digest):
            return None
        try:
            data = self._path(digest).read_bytes()
        except FileNotFoundError:
            return None
        return data if sha256(data).hexdigest() == digest else None

    def _path(self, digest: str) -> Path:
        return self._folder / digest[:2] / digest[2:4] / digest
