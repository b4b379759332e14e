"""Stores blobs in a folder, as `runs/RUN/blobs/ab/cd/abcd…-1280x800.webp`. Several processes may share it."""

import asyncio
import re
import shutil
from contextlib import suppress
from pathlib import Path

from midcourse.files import DEFAULT_TENANT, atomic_write, folder_of_run, private_folder
from midcourse.pictures import read_picture
from midcourse.ports.blobs import Blob, MediaType, digest_of, is_digest

SUFFIXES: dict[MediaType, str] = {"image/webp": "webp", "image/png": "png", "application/octet-stream": "bin"}
_KINDS: dict[str, MediaType] = {suffix: kind for kind, suffix in SUFFIXES.items()}
_NAME = re.compile(r"[0-9a-f]{64}-([0-9]+)x([0-9]+)\.(webp|png|bin)")


class BlobFolder:
    """The blobs of a tenant's runs below a home. Two levels of folders are named after the digest, so that no folder gets too full."""

    def __init__(self, home: Path | str, *, tenant: str = DEFAULT_TENANT) -> None:
        self._home = Path(home).absolute()
        self._tenant = tenant

    async def put(self, run_id: str, blob: Blob) -> str:
        return await asyncio.to_thread(self._put, run_id, blob)

    async def read(self, run_id: str, digest: str) -> Blob | None:
        return await asyncio.to_thread(self._read, run_id, digest)

    async def delete(self, run_id: str) -> None:
        with suppress(FileNotFoundError):
            await asyncio.to_thread(shutil.rmtree, self._folder(run_id))

    def path(self, run_id: str, digest: str) -> Path | None:
        """Return the file of this blob, if there is one."""
        if not is_digest(digest):
            return None
        folder = self._folder(run_id) / digest[:2] / digest[2:4]
        named = (path for path in folder.glob(f"{digest}-*") if _NAME.fullmatch(path.name))
        plain = folder / digest  # written by versions that stored every picture as PNG
        return next(named, plain if plain.is_file() else None)

    def _folder(self, run_id: str) -> Path:
        return self._home / folder_of_run(f"{self._tenant}/{run_id}") / "blobs"

    def _put(self, run_id: str, blob: Blob) -> str:
        digest = blob.digest
        if self._read(run_id, digest) is None:
            name = f"{digest}-{blob.width}x{blob.height}.{SUFFIXES[blob.media_type]}"
            folder = private_folder(self._folder(run_id) / digest[:2] / digest[2:4])
            atomic_write(folder / name, blob.data, durable=True)
        return digest

    def _read(self, run_id: str, digest: str) -> Blob | None:
        path = self.path(run_id, digest)
        try:
            data = path.read_bytes() if path else None
        except FileNotFoundError:
            return None
        if path is None or data is None or digest_of(data) != digest:
            return None
        named = _NAME.fullmatch(path.name)
        if named is None:
            return read_picture(data) or Blob(data=data)
        width, height, suffix = named.groups()
        return Blob(data=data, media_type=_KINDS[suffix], width=int(width), height=int(height))
