"""Stores blobs in S3 or a service with the same protocol. Region, endpoint and credentials come from the `AWS_…` variables."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from datetime import timedelta

from obstore.exceptions import BaseError
from obstore.store import S3Store

from midcourse.files import DEFAULT_TENANT, folder_of_run
from midcourse.ports.blobs import Blob, is_digest
from midcourse.store.blob_folder import SUFFIXES

TIMEOUT, RETRIES = timedelta(seconds=30), 3


class S3Blobs:
    """The blobs of a tenant's runs, as `runs/RUN/blobs/DIGEST` below the prefix, each with its media type and its size as metadata."""

    def __init__(self, bucket: str, prefix: str = "", *, tenant: str = DEFAULT_TENANT) -> None:
        self._bucket = S3Store(
            bucket,
            prefix=prefix or None,
            client_options={
                "timeout": TIMEOUT,
                "connect_timeout": timedelta(seconds=5),
                "allow_http": os.environ.get("AWS_ALLOW_HTTP", "").lower() == "true",
            },
            retry_config={"max_retries": RETRIES, "retry_timeout": TIMEOUT},
        )
        self._tenant = tenant

    async def put(self, run_id: str, blob: Blob) -> str:
        digest = blob.digest
        attributes = {"Content-Type": blob.media_type, "width": str(blob.width), "height": str(blob.height)}
        with _translate_errors():
            await self._bucket.put_async(self._key(run_id, digest), blob.data, attributes=attributes)
        return digest

    async def read(self, run_id: str, digest: str) -> Blob | None:
        if not is_digest(digest):
            return None
        with _translate_errors():
            try:
                found = await self._bucket.get_async(self._key(run_id, digest))
            except FileNotFoundError:
                return None
            data = bytes(await found.bytes_async())
        says = {str(name).lower(): value for name, value in found.attributes.items()}
        kind = says.get("content-type")
        blob = Blob(
            data=data,
            media_type=kind if kind in SUFFIXES else "application/octet-stream",
            width=int(says.get("width", 0)),
            height=int(says.get("height", 0)),
        )
        return blob if blob.digest == digest else None

    async def delete(self, run_id: str) -> None:
        with _translate_errors():
            async for listed in self._bucket.list(self._key(run_id)):
                await self._bucket.delete_async([each["path"] for each in listed])

    def _key(self, run_id: str, digest: str = "") -> str:
        run = folder_of_run(f"{self._tenant}/{run_id}").as_posix()
        return f"{run}/blobs/{digest}"


@contextmanager
def _translate_errors() -> Generator[None]:
    """Translate errors of the S3 client, so that callers need not know them."""
    try:
        yield
    except (BaseError, OSError) as error:
        raise ConnectionError(f"S3: {str(error).partition('Debug source')[0].strip()}") from error
