"""Conformance suite for blobs.

class TestMine(BlobsConformance):
    async def make_blobs(self, *runs: str) -> Blobs:
        return MyBlobs()
"""

import asyncio

import pytest

from midcourse.ports.blobs import Blob, Blobs, digest_of

PICTURE = Blob(data=b"RIFF and so on" * 1000, media_type="image/webp", width=1280, height=800)
OLD_PICTURE = Blob(data=b"\x89PNG and so on" * 1000, media_type="image/png", width=640, height=480)
OTHER = Blob(data=b"\0\xff\r\n")
ELSEWHERE = (
    "",
    "0" * 64,
    "../" * 20 + "etc/passwd",
    PICTURE.digest.upper(),
    PICTURE.digest + "\n",
    PICTURE.digest[:-1],
)
RUNS = ("r1", "r2", "r1x", "../r1", "r1/blobs", "..", "a b", "ü\u202e", "x" * 300)
"""Run ids, each of which must be another run than the others."""


class BlobsConformance:
    """Tests that every storage of blobs must pass. Subclass it as `Test…` and define `make_blobs`.

    `make_blobs` returns an empty storage; `runs` are the ids of the runs that will have blobs.
    """

    async def make_blobs(self, *runs: str) -> Blobs:
        raise NotImplementedError("a conformance suite needs to know what to test")

    @pytest.mark.parametrize("blob", [PICTURE, OLD_PICTURE, OTHER, Blob(data=b"")])
    async def test_it_comes_back_with_its_form_and_size_under_its_hash(self, blob: Blob) -> None:
        blobs = await self.make_blobs("r1")
        assert await blobs.put("r1", blob) == digest_of(blob.data)
        assert await blobs.read("r1", blob.digest) == blob

    async def test_a_large_one_comes_back(self) -> None:
        blobs = await self.make_blobs("r1")
        large = Blob(data=bytes(range(256)) * 40_000, media_type="image/png", width=5000, height=4000)
        assert await blobs.read("r1", await blobs.put("r1", large)) == large

    async def test_the_same_again_and_many_at_once_is_one(self) -> None:
        blobs = await self.make_blobs("r1")
        assert set(await asyncio.gather(*(blobs.put("r1", PICTURE) for _ in range(8)))) == {PICTURE.digest}
        assert await blobs.put("r1", PICTURE) == PICTURE.digest
        assert await blobs.read("r1", PICTURE.digest) == PICTURE

    async def test_only_its_run_can_read_it(self) -> None:
        blobs = await self.make_blobs(*RUNS)
        own = {run_id: Blob(data=run_id.encode(), width=number) for number, run_id in enumerate(RUNS)}
        for run_id, blob in own.items():
            await blobs.put(run_id, blob)
        for run_id, other in zip(RUNS, (*RUNS[1:], RUNS[0]), strict=True):
            assert await blobs.read(run_id, own[run_id].digest) == own[run_id]
            assert await blobs.read(run_id, own[other].digest) is None, (run_id, other)

    @pytest.mark.parametrize("digest", ELSEWHERE)
    async def test_what_is_no_digest_of_its_own_is_none(self, digest: str) -> None:
        blobs = await self.make_blobs("r1")
        await blobs.put("r1", PICTURE)
        assert await blobs.read("r1", digest) is None

    async def test_all_of_a_run_are_deleted_and_no_others(self) -> None:
        blobs = await self.make_blobs("r1", "r1x")
        for blob in (PICTURE, OLD_PICTURE, OTHER):
            await blobs.put("r1", blob)
        await blobs.put("r1x", PICTURE)
        await blobs.delete("r1")
        await blobs.delete("r1")
        for blob in (PICTURE, OLD_PICTURE, OTHER):
            assert await blobs.read("r1", blob.digest) is None
        assert await blobs.read("r1x", PICTURE.digest) == PICTURE

    async def test_one_that_was_deleted_can_be_put_again(self) -> None:
        blobs = await self.make_blobs("r1")
        await blobs.put("r1", PICTURE)
        await blobs.delete("r1")
        await blobs.put("r1", PICTURE)
        assert await blobs.read("r1", PICTURE.digest) == PICTURE
