"""Images for models: the size of a PNG, a smaller one where models would shrink it by themselves, and zones drawn on it."""

from collections.abc import Iterable
from dataclasses import dataclass
from io import BytesIO

from midcourse.domain.observation import Zone
from midcourse.pictures import read_picture

READ_ONLY = frozenset(("page", "text", "heading", "cell", "status", "alert", "img", "dialog"))
"""Roles without a box: with one around each text a picture could not be read."""
COLOUR, PICTURED_COLOUR = "#be123c", "#1d4ed8"

LONGEST_SIDE = 1568
"""Pixels. Providers shrink larger images before a model sees them, and the model then answers in pixels that are unknown here."""


@dataclass(frozen=True, kw_only=True)
class Image:
    """A PNG as it is sent to a model."""

    png: bytes
    width: int
    height: int
    original: tuple[int, int]
    """Width and height before it was made smaller."""


def read_png_size(png: bytes) -> tuple[int, int] | None:
    """Width and height. None: it is not a PNG."""
    picture = read_picture(png)
    return (picture.width, picture.height) if picture and picture.media_type == "image/png" else None


def fit_image(png: bytes, longest: int = LONGEST_SIDE) -> Image | None:
    """The picture, made smaller if a side is longer than this. Without Pillow it stays as large as it is. None: it is not a PNG."""
    size = read_png_size(png)
    if size is None:
        return None
    times = min(1.0, longest / max(size))
    smaller = _shrink(png, times) if times < 1 else None
    if smaller is None:
        return Image(png=png, width=size[0], height=size[1], original=size)
    width, height = read_png_size(smaller) or size
    return Image(png=smaller, width=width, height=height, original=size)


def draw_zones(png: bytes, zones: Iterable[Zone], size: tuple[int, int] | None) -> bytes | None:
    """The picture with a box around each zone that can be acted on, and its id beside it. Nothing else of a zone is drawn.

    `size` is what the picture shows, in the unit of bounds. None: it is not a picture, or Pillow is not installed.
    """
    pixels = read_png_size(png)
    try:
        from PIL import Image as Pillow
        from PIL import ImageDraw
    except ImportError:
        return None
    if pixels is None:
        return None
    scale = pixels[0] / size[0] if size else 1.0
    with Pillow.open(BytesIO(png)) as picture:
        drawn = picture.convert("RGB")
    pen = ImageDraw.Draw(drawn)
    for zone in zones:
        if zone.bounds is None or zone.role in READ_ONLY or zone.get("covered") or zone.get("seen") is False:
            continue
        left, top, width, height = (side * scale for side in zone.bounds)
        colour = PICTURED_COLOUR if zone.pictured else COLOUR
        pen.rectangle((left, top, left + width, top + height), outline=colour, width=2)
        at = (max(0.0, left), max(0.0, top - 12))
        pen.rectangle(pen.textbbox(at, zone.id), fill=colour)
        pen.text(at, zone.id, fill="white")
    written = BytesIO()
    drawn.save(written, "PNG")
    return written.getvalue()


def _shrink(png: bytes, times: float) -> bytes | None:
    try:
        from PIL import Image as Pillow
    except ImportError:
        return None
    with Pillow.open(BytesIO(png)) as picture:
        size = max(1, round(picture.width * times)), max(1, round(picture.height * times))
        written = BytesIO()
        picture.convert("RGB").resize(size).save(written, "PNG")
    return written.getvalue()
