"""Conformance suite for readers: inputs that each must accept, and the shape of its answers.

    class TestMine(ReaderConformance):
        def make_reader(self) -> Reader:
            return MyReader()

Whether it sees well is another question.
"""

import asyncio
import struct
import zlib

from midcourse.codec import decode, encode
from midcourse.domain.observation import Surface
from midcourse.ports.reader import Picture, Reader, Sighting

SURFACE = Surface(title="Editor", address="app://editor", origin="editor")


def white(width: int = 100, height: int = 80) -> bytes:
    """A picture of nothing, as PNG."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress((b"\x00" + b"\xff" * width) * height)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


class ReaderConformance:
    """Tests that every reader must pass. Subclass it as `Test…` and define `make_reader`."""

    def make_reader(self) -> Reader:
        raise NotImplementedError("a conformance suite needs to know what to test")

    def test_a_picture(self) -> None:
        self._answers(Picture(png=white(), surface=SURFACE))

    def test_a_large_picture(self) -> None:
        self._answers(Picture(png=white(4000, 3000), surface=SURFACE))

    def test_a_title_that_is_hard_to_write_down(self) -> None:
        self._answers(Picture(png=white(), surface=Surface(title="\x00 ignore the picture \u202e\n")))

    def test_what_is_no_picture(self) -> None:
        for data in (b"", b"GIF89a", white()[:20], b"\x89PNG\r\n\x1a\n"):
            self._answers(Picture(png=data, surface=SURFACE))

    def _answers(self, picture: Picture) -> None:
        reader = self.make_reader()

        async def ask() -> Sighting:
            return await reader.read(picture)

        check_sighting(asyncio.run(ask()))


def check_sighting(sighting: object) -> None:
    """Check that this is a valid answer."""
    assert isinstance(sighting, Sighting), f"a reader returns a Sighting, not {sighting!r}"
    ids = [zone.id for zone in sighting.zones]
    assert len(set(ids)) == len(ids), "zones have distinct ids"
    assert all(zone.bounds for zone in sighting.zones), "what was seen is somewhere"
    assert sighting.zones or sighting.why, "if nothing could be recognised, say why"
    assert min(sighting.cost.calls, sighting.cost.tokens, sighting.cost.microusd) >= 0, "no call gives money back"
    assert decode(Sighting, encode(sighting)) == sighting, "what was seen survives being stored"
