"""The pictures of a run: which of its observations have one, and where the pictures are stored."""

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path

from midcourse.ports.blobs import Blobs
from midcourse.ports.store import Store
from midcourse.store.blob_folder import SUFFIXES, BlobFolder


@dataclass(frozen=True, kw_only=True)
class PicturedLook:
    at: float
    surface: str
    digest: str
    path: Path | None = None
    """The file of the picture, if it is on this machine."""


async def list_pictures(store: Store, blobs: Blobs, run_id: str) -> tuple[PicturedLook, ...]:
    """List each picture once, in the order of the observations. The pictures themselves are not read."""
    pictures: dict[str, PicturedLook] = {}
    for row in await store.journal(run_id):
        ref = getattr(row.event, "seen", None)
        look = await store.observation(run_id, ref.id) if ref is not None else None
        if look is None or not look.screenshot or look.screenshot in pictures:
            continue
        path = blobs.path(run_id, look.screenshot) if isinstance(blobs, BlobFolder) else None
        pictured = PicturedLook(at=row.event.at, surface=look.surface.title, digest=look.screenshot, path=path)
        pictures[look.screenshot] = pictured
    return tuple(pictures.values())


async def save_pictures(
    blobs: Blobs, run_id: str, pictures: tuple[PicturedLook, ...], folder: Path
) -> tuple[PicturedLook, ...]:
    """Write the pictures that are still stored into a folder, numbered in their order. Returns them with their new files."""
    await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
    saved: list[PicturedLook] = []
    for number, picture in enumerate(pictures, 1):
        blob = await blobs.read(run_id, picture.digest)
        if blob is not None:
            path = folder / f"{number:03}.{SUFFIXES[blob.media_type]}"
            await asyncio.to_thread(path.write_bytes, blob.data)
            saved.append(replace(picture, path=path))
    return tuple(saved)
