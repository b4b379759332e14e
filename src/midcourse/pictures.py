"""Pictures as bytes: their format and size, lossless WebP for storage, PNG for models, and the latest ones of a world."""

import asyncio
from collections.abc import Sequence
from io import BytesIO
from typing import Literal, TypeAlias

from midcourse.errors import TaskInvalid
from midcourse.ports.blobs import Blob, digest_of

When: TypeAlias = Literal["never", "on_change", "on_failure", "all"]
"""Which observations are pictured. `on_change`: the screen differs from the last picture. `on_failure`: the last act failed."""
WHENS: Sequence[When] = ("never", "on_change", "on_failure", "all")

NO_PILLOW = "pictures need Pillow: pip install 'midcourse[vision]'"
_PNG = b"\x89PNG\r\n\x1a\n"
_LONGEST_SIDE = 16_383
"""The maximum pixels per side in WebP. A larger picture stays a PNG."""


def read_picture(data: bytes) -> Blob | None:
    """Parse a picture's header for its format and size. Return None if it is neither PNG nor WebP."""
    if data.startswith(_PNG) and data[12:16] == b"IHDR":
        width, height = int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")
        return Blob(data=data, media_type="image/png", width=width, height=height) if width and height else None
    size = _webp_size(data) if data[:4] == b"RIFF" and data[8:12] == b"WEBP" else None
    return Blob(data=data, media_type="image/webp", width=size[0], height=size[1]) if size else None


def _webp_size(data: bytes) -> tuple[int, int] | None:
    kind = data[12:16]
    if len(data) < 30:
        return None
    if kind == b"VP8L" and data[20] == 0x2F:
        bits = int.from_bytes(data[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8X":
        return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
    if kind == b"VP8 " and data[23:26] == b"\x9d\x01\x2a":
        return int.from_bytes(data[26:28], "little") & 0x3FFF, int.from_bytes(data[28:30], "little") & 0x3FFF
    return None


def to_webp(png: bytes) -> bytes:
    """Convert a picture to WebP without loss, in about half of the bytes of a PNG or less. Raise `TaskInvalid` without Pillow."""
    try:
        from PIL import Image
    except ModuleNotFoundError as missing:
        raise TaskInvalid(NO_PILLOW) from missing
    with Image.open(BytesIO(png)) as picture:
        if max(picture.size) > _LONGEST_SIDE:
            return png
        written = BytesIO()
        opaque = picture if picture.mode in ("RGB", "RGBA") else picture.convert("RGBA")
        opaque.save(written, "WEBP", lossless=True, exact=True)
    return written.getvalue()


def to_png(blob: Blob) -> bytes:
    """Convert a picture to PNG, which every model and reader takes. Raise `TaskInvalid` without Pillow."""
    if blob.media_type == "image/png":
        return blob.data
    try:
        from PIL import Image
    except ModuleNotFoundError as missing:
        raise TaskInvalid(NO_PILLOW) from missing
    with Image.open(BytesIO(blob.data)) as picture:
        written = BytesIO()
        picture.save(written, "PNG")
    return written.getvalue()


class LatestPictures:
    """Decides which observations of a world are pictured, and keeps the latest pictures until they are fetched."""

    def __init__(self, when: When, most: int = 2) -> None:
        """`most` is two, so that an act that observes by itself does not displace the picture of the last observation."""
        if when not in WHENS:
            raise TaskInvalid(f"screenshots is never, on_change, on_failure or all, not '{when}'")
        self._when: When = when
        self._most = most
        self._kept: dict[str, bytes] = {}
        self._pictured = ""
        self.failed = False
        """Whether the last act failed."""

    def take_all(self) -> None:
        """Picture every observation from now on."""
        self._when = "all"

    def take_none(self) -> None:
        self._when = "never"

    def is_wanted(self, fingerprint: str) -> bool:
        """Whether an observation with this fingerprint is to be pictured."""
        match self._when:
            case "never":
                return False
            case "on_change":
                return fingerprint != self._pictured
            case "on_failure":
                return self.failed
            case "all":
                return True

    async def keep(self, png: bytes, fingerprint: str) -> str:
        """Keep the picture of an observation as WebP. Return its digest."""
        self._pictured, self.failed = fingerprint, False
        picture = await asyncio.to_thread(to_webp, png)
        digest = digest_of(picture)
        self._kept.pop(digest, None)
        self._kept[digest] = picture
        while len(self._kept) > self._most:
            del self._kept[next(iter(self._kept))]
        return digest

    def read(self, digest: str) -> bytes | None:
        return self._kept.get(digest)

    def restart(self) -> None:
        """Forget the last picture, and whether the last act failed."""
        self._pictured, self.failed = "", False

    def repeat(self) -> None:
        """Picture the same screen once more at the next observation, which names the picture where it is stored."""
        self._pictured = ""
