"""Screenshots and other large things in a folder, each under the hash of what it is."""

import asyncio
import os
import re
import tempfile
from hashlib import sha256
from pathlib import Path

from midcourse.private import private_folder

DIGEST = re.compile(r"[0-9a-f]{64}")


class BlobFolder:
    """`ab/cd/abcd…`: two levels of folders, so that none gets too full. Several processes may share it."""

    def __init__(self, folder: Path | str) -> None:
        self._folder = Path(folder).absolute()

    async def save(self, data: bytes) -> str:
        """Its digest. It is on the disk when this returns, whole or not at all; saving it again changes nothing."""
        return await asyncio.to_thread(self._save, data)

    async def read(self, digest: str) -> bytes | None:
        """None: it is not here, or what is here is no longer what was saved."""
        return await asyncio.to_thread(self._read, digest)

    def _save(self, data: bytes) -> str:
        digest = sha256(data).hexdigest()
        if self._read(digest) is None:
            _write_whole(self._path(digest), data)
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


def _write_whole(path: Path, data: bytes) -> None:
    """Under another name first: nobody ever sees half of it."""
    private_folder(path.parent)
    handle, unfinished = tempfile.mkstemp(dir=path.parent, prefix=".")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    except BaseException:
        Path(unfinished).unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """The name is on the disk too."""
    if os.name == "nt":  # where a folder cannot be opened, and need not be
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
