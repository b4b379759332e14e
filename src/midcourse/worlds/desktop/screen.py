"""Takes pictures of a display: the whole screen as a PNG, with secrets covered, and on request with zones drawn over it."""

import asyncio
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from midcourse.domain.observation import Zone
from midcourse.errors import TaskInvalid

if TYPE_CHECKING:
    from PIL.Image import Image

Box: TypeAlias = tuple[int, int, int, int]

_GREY = (212, 212, 216)
_COLOURS = {"button": "#2563eb", "textbox": "#059669", "menu": "#7c3aed", "menuitem": "#7c3aed", "window": "#52525b"}
_OTHER = "#c2410c"
_UNDRAWN = ("desktop", "text")
_HEADER_WORDS = 25
"""The number of words of four bytes with which an XWD file begins."""


class Screen:
    """Takes pictures of a display. `frame_buffer` is the file into which an own display draws, or None for the user's display."""

    def __init__(self, environment: dict[str, str], frame_buffer: Path | None) -> None:
        self._environment = environment
        self._frame_buffer = frame_buffer

    async def take(self, covered: Iterable[Box] = ()) -> bytes:
        """Take a PNG of the screen with these places covered."""
        return await asyncio.to_thread(self._take, tuple(covered), ())

    async def draw(self, zones: Iterable[Zone], covered: Iterable[Box] = ()) -> bytes:
        """Take a PNG of the screen with zones and their ids drawn over it."""
        return await asyncio.to_thread(self._take, tuple(covered), tuple(zones))

    def _take(self, covered: tuple[Box, ...], zones: tuple[Zone, ...]) -> bytes:
        picture = self._grab()
        _cover(picture, covered)
        if zones:
            _draw(picture, zones)
        written = BytesIO()
        picture.save(written, "PNG")
        return written.getvalue()

    def _grab(self) -> "Image":
        try:
            from PIL import ImageGrab
        except ModuleNotFoundError as missing:
            raise TaskInvalid('pictures of a desktop need Pillow: pip install "midcourse[desktop]"') from missing
        if self._frame_buffer is not None:
            return _read_xwd(self._frame_buffer.read_bytes())
        return ImageGrab.grab(xdisplay=self._environment.get("DISPLAY")).convert("RGB")


def _read_xwd(data: bytes) -> "Image":
    """Read a picture from the file of a frame buffer with 24 bits per pixel, in the X window dump format."""
    from PIL import Image

    words = [int.from_bytes(data[at : at + 4], "big") for at in range(0, 4 * _HEADER_WORDS, 4)]
    header, width, height, line, colours = words[0], words[4], words[5], words[12], words[19]
    order = "BGRX" if words[7] == 0 else "XRGB"
    pixels = data[header + 12 * colours :]
    return Image.frombytes("RGB", (width, height), pixels[: line * height], "raw", order, line)


def _cover(picture: "Image", covered: tuple[Box, ...]) -> None:
    from PIL import ImageDraw

    pen = ImageDraw.Draw(picture)
    for x, y, width, height in covered:
        pen.rectangle((x, y, x + width, y + height), fill=_GREY)


def _draw(picture: "Image", zones: tuple[Zone, ...]) -> None:
    from PIL import ImageDraw, ImageFont

    pen, font = ImageDraw.Draw(picture), ImageFont.load_default(size=11)
    for zone in zones:
        if zone.bounds is None or zone.role in _UNDRAWN or zone.get("behind"):
            continue
        x, y, width, height = zone.bounds
        colour = _COLOURS.get(zone.role, _OTHER)
        pen.rectangle((x, y, x + width - 1, y + height - 1), outline=colour)
        place = pen.textbbox((x + 1, y), zone.id, font=font)
        pen.rectangle(place, fill=colour)
        pen.text((x + 1, y), zone.id, fill="white", font=font)
