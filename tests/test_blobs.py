"""Blobs by content hash: whole or not at all, and never anything else than what was saved."""

import asyncio
import os
from hashlib import sha256
from pathlib import Path

import pytest

from midcourse.blobs import BlobFolder

PICTURE = b"\x89PNG and so on" * 1000
DIGEST = sha256(PICTURE).hexdigest()


def files(folder: Path) -> list[Path]:
    return [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]


async def test_comes_back_as_it_was_under_its_hash(tmp_path: Path):
    blobs = BlobFolder(tmp_path / "blobs")
    assert await blobs.save(PICTURE) == DIGEST
    assert await blobs.read(DIGEST) == PICTURE
    assert await BlobFolder(tmp_path / "blobs").read(DIGEST) == PICTURE
    assert files(tmp_path / "blobs") == [Path(DIGEST[:2], DIGEST[2:4], DIGEST)]


async def test_nothing_is_something_too(tmp_path: Path):
    blobs = BlobFolder(tmp_path)
    assert await blobs.read(await blobs.save(b"")) == b""


async def test_saving_again_changes_nothing(tmp_path: Path):
    blobs = BlobFolder(tmp_path)
    await blobs.save(PICTURE)
    written = os.stat(tmp_path / DIGEST[:2] / DIGEST[2:4] / DIGEST)
    assert await blobs.save(PICTURE) == DIGEST
    assert os.stat(tmp_path / DIGEST[:2] / DIGEST[2:4] / DIGEST) == written


async def test_many_at_once_leave_one_whole_file(tmp_path: Path):
    blobs = BlobFolder(tmp_path)
    assert set(await asyncio.gather(*(blobs.save(PICTURE) for _ in range(16)))) == {DIGEST}
    assert await blobs.read(DIGEST) == PICTURE
    assert len(files(tmp_path)) == 1


async def test_what_was_damaged_is_not_served_and_can_be_saved_anew(tmp_path: Path):
    blobs = BlobFolder(tmp_path)
    await blobs.save(PICTURE)
    (tmp_path / DIGEST[:2] / DIGEST[2:4] / DIGEST).write_bytes(PICTURE[:-1])
    assert await blobs.read(DIGEST) is None
    assert await blobs.save(PICTURE) == DIGEST
    assert await blobs.read(DIGEST) == PICTURE


async def test_failed_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        await BlobFolder(tmp_path).save(PICTURE)
    assert files(tmp_path) == []


@pytest.mark.parametrize("digest", ["", "0" * 64, "../" * 20 + "etc/passwd", "A" * 64, DIGEST + "\n", DIGEST[:-1]])
async def test_what_is_not_there_is_none(tmp_path: Path, digest: str):
    assert await BlobFolder(tmp_path).read(digest) is None
