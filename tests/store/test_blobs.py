"""Blobs in every place they can be stored: one suite for all, and what is particular to a folder, the database and S3."""

import os
from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import psycopg
import pytest
from obstore.store import S3Store

from midcourse.errors import RunUnknown
from midcourse.ports.blobs import Blob, Blobs
from midcourse.store.blob_folder import BlobFolder
from midcourse.store.memory import MemoryBlobs
from midcourse.store.postgres import PostgresStore
from midcourse.store.s3 import S3Blobs
from midcourse.testing.conformance import BlobsConformance
from midcourse.testing.conformance.blobs import OLD_PICTURE, PICTURE, RUNS
from midcourse.testing.conformance.reader import white
from midcourse.testing.conformance.store_samples import TASK, new_run


class TestMemory(BlobsConformance):
    async def make_blobs(self, *runs: str) -> Blobs:
        return MemoryBlobs()


class TestFolder(BlobsConformance):
    @pytest.fixture(autouse=True)
    def home(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    async def make_blobs(self, *runs: str) -> Blobs:
        return BlobFolder(self.folder)


class TestFolderOfATenant(TestFolder):
    async def make_blobs(self, *runs: str) -> Blobs:
        return BlobFolder(self.folder, tenant="acme")


class TestPostgres(BlobsConformance):
    @pytest.fixture(autouse=True)
    async def open_store(self, postgres: str, tenant: str) -> AsyncGenerator[None]:
        async with PostgresStore(postgres, tenant=tenant) as self.store:
            yield

    async def make_blobs(self, *runs: str) -> Blobs:
        for run_id in runs:
            await self.store.begin(new_run(run_id), TASK)
        return self.store.blobs


class TestS3(BlobsConformance):
    @pytest.fixture(autouse=True)
    def use_bucket(self, bucket: str) -> None:
        self.bucket = bucket

    async def make_blobs(self, *runs: str) -> Blobs:
        return S3Blobs(self.bucket, "pictures/of the fleet", tenant="acme")


# --- a folder


def files(folder: Path) -> list[Path]:
    return [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]


async def test_a_file_is_named_by_digest_size_and_form(tmp_path: Path):
    blobs = BlobFolder(tmp_path)
    digest = await blobs.put("r1", PICTURE)
    there = Path("runs", "r1", "blobs", digest[:2], digest[2:4], f"{digest}-1280x800.webp")
    assert files(tmp_path) == [there]
    assert blobs.path("r1", digest) == tmp_path / there
    before = os.stat(tmp_path / there)
    await blobs.put("r1", PICTURE)
    after = os.stat(tmp_path / there)
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns), "written again"
    assert (before.st_mode & 0o777, (tmp_path / there).parent.stat().st_mode & 0o777) == (0o600, 0o700)


async def test_png_of_an_earlier_version_is_read_with_its_size(tmp_path: Path):
    old = Blob(data=white(64, 48), media_type="image/png", width=64, height=48)
    folder = tmp_path / "runs" / "r1" / "blobs" / old.digest[:2] / old.digest[2:4]
    folder.mkdir(parents=True)
    (folder / old.digest).write_bytes(old.data)
    blobs = BlobFolder(tmp_path)
    assert await blobs.read("r1", old.digest) == old
    assert blobs.path("r1", old.digest) == folder / old.digest


async def test_what_was_damaged_is_not_served_and_can_be_stored_anew(tmp_path: Path):
    blobs = BlobFolder(tmp_path)
    digest = await blobs.put("r1", PICTURE)
    path = blobs.path("r1", digest)
    assert path
    path.write_bytes(PICTURE.data[:-1])
    assert await blobs.read("r1", digest) is None
    await blobs.put("r1", PICTURE)
    assert await blobs.read("r1", digest) == PICTURE


async def test_failed_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        await BlobFolder(tmp_path).put("r1", PICTURE)
    assert files(tmp_path) == []


@pytest.mark.parametrize("run_id", RUNS)
async def test_no_run_id_leads_out_of_the_home(tmp_path: Path, run_id: str):
    home = tmp_path / "a" / "home"
    for tenant in ("default", "acme"):
        await BlobFolder(home, tenant=tenant).put(run_id, PICTURE)
    assert len(files(tmp_path)) == len(files(home)) == 2


# --- tenants


async def test_no_tenant_reads_or_deletes_what_another_has(tmp_path: Path, postgres: str, tenant: str, bucket: str):
    async with PostgresStore(postgres, tenant=tenant) as one, PostgresStore(postgres, tenant=f"{tenant}x") as other:
        for store in (one, other):
            await store.begin(new_run("r1"), TASK)
        pairs: list[tuple[Blobs, Blobs]] = [
            (BlobFolder(tmp_path, tenant="a"), BlobFolder(tmp_path, tenant="b")),
            (BlobFolder(tmp_path), BlobFolder(tmp_path, tenant="b")),
            (one.blobs, other.blobs),
            (S3Blobs(bucket, tenant="a"), S3Blobs(bucket, tenant="b")),
            (S3Blobs(bucket), S3Blobs(bucket, tenant="b")),
        ]
        for own, foreign in pairs:
            digest = await own.put("r1", PICTURE)
            assert await foreign.read("r1", digest) is None
            await foreign.delete("r1")
            assert await own.read("r1", digest) == PICTURE


# --- the database


async def test_a_run_that_the_store_does_not_have_has_no_blobs(postgres: str, tenant: str):
    async with PostgresStore(postgres, tenant=tenant) as store:
        assert await store.blobs.read("nobody", PICTURE.digest) is None
        with pytest.raises(RunUnknown):
            await store.blobs.put("nobody", PICTURE)


async def test_row_that_was_changed_is_not_served(postgres: str, tenant: str):
    async with PostgresStore(postgres, tenant=tenant) as store:
        await store.begin(new_run("r1"), TASK)
        digest = await store.blobs.put("r1", PICTURE)
        with psycopg.connect(postgres) as owner:  # a superuser: no other role can change one
            owner.execute("UPDATE midcourse.blobs SET body = %s WHERE tenant = %s", (OLD_PICTURE.data, tenant))
        assert await store.blobs.read("r1", digest) is None


# --- S3


def client_of(bucket: str) -> S3Store:
    return S3Store(bucket, client_options={"allow_http": True})


async def test_an_object_has_its_media_type_and_size_for_other_programs(bucket: str):
    digest = await S3Blobs(bucket, "some/where").put("r1", PICTURE)
    found = await client_of(bucket).get_async(f"some/where/runs/r1/blobs/{digest}")
    assert bytes(await found.bytes_async()) == PICTURE.data
    assert dict(found.attributes) == {"Content-Type": "image/webp", "width": "1280", "height": "800"}


async def test_object_that_says_it_is_a_page_is_never_served_as_one(bucket: str):
    place = f"runs/r1/blobs/{PICTURE.digest}"
    await client_of(bucket).put_async(place, PICTURE.data, attributes={"Content-Type": "text/html"})
    found = await S3Blobs(bucket).read("r1", PICTURE.digest)
    assert found == Blob(data=PICTURE.data, media_type="application/octet-stream")


async def test_object_that_was_changed_is_not_served(bucket: str):
    digest = await S3Blobs(bucket).put("r1", PICTURE)
    await client_of(bucket).put_async(f"runs/r1/blobs/{digest}", OLD_PICTURE.data)
    assert await S3Blobs(bucket).read("r1", digest) is None


def missing_bucket(s3: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3)


def unreachable(s3: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")


def without_encryption(s3: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ALLOW_HTTP")


@pytest.mark.parametrize("trouble", [missing_bucket, unreachable, without_encryption])
async def test_what_cannot_be_stored_says_so(
    trouble: Callable[[str, pytest.MonkeyPatch], None], bucket: str, s3: str, monkeypatch: pytest.MonkeyPatch
):
    trouble(s3, monkeypatch)
    with pytest.raises(ConnectionError, match="S3: "):
        await S3Blobs("no-such-bucket" if trouble is missing_bucket else bucket).put("r1", PICTURE)
