"""Port of blobs: screenshots and other large values of runs, each under the hash of its content."""

import re
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Literal, Protocol, TypeAlias

MediaType: TypeAlias = Literal["image/webp", "image/png", "application/octet-stream"]
"""The allowed types. The set is closed, so that content from a world is never served as a page or a script."""

_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, kw_only=True)
class Blob:
    data: bytes = field(repr=False)
    media_type: MediaType = "application/octet-stream"
    width: int = 0
    height: int = 0
    """The size of a picture in its own pixels."""

    @property
    def digest(self) -> str:
        return digest_of(self.data)


class Blobs(Protocol):
    """Blobs of runs. Each belongs to the run that put it there, and no other run can read it.

    Methods raise `OSError`, for example `ConnectionError`, if the storage cannot be reached.
    """

    async def put(self, run_id: str, blob: Blob) -> str:
        """Store a blob durably and return its digest. Putting the same data again changes nothing."""
        ...

    async def read(self, run_id: str, digest: str) -> Blob | None:
        """Read a blob. None: the run has no such blob, or its data was changed after it was stored."""
        ...

    async def delete(self, run_id: str) -> None:
        """Delete all blobs of a run."""
        ...


def digest_of(data: bytes) -> str:
    return sha256(data).hexdigest()


def is_digest(text: str) -> bool:
    """Whether this text has the form of a digest. A blob is never searched for under any other text."""
    return _DIGEST.fullmatch(text) is not None
