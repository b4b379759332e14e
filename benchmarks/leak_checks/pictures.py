"""Finds pictures that look different.

Chromium does not always draw the corner of a button in the same way: a pixel may differ by one level of 255, even with the same secrets.
"""

from collections.abc import Mapping
from io import BytesIO

from PIL import Image, ImageChops

MAX_PIXELS = 4
MAX_LEVELS = 2
"""Levels of 255. Every part of a letter is larger or darker than these limits."""

Pictures = Mapping[str, bytes]
"""By their hash."""


def find_unmatched(first: Pictures, second: Pictures) -> list[str]:
    """Return the names of the first pictures that look like none of the second."""
    candidates = [picture for name, picture in second.items() if name not in first]
    return [
        name
        for name, picture in first.items()
        if name not in second and not any(look_alike(picture, other) for other in candidates)
    ]


def look_alike(picture: bytes, other: bytes) -> bool:
    first, second = (Image.open(BytesIO(picture)).convert("RGB") for picture in (picture, other))
    if first.size != second.size:
        return False
    red, green, blue = ImageChops.difference(first, second).split()
    same, *pixels = ImageChops.lighter(ImageChops.lighter(red, green), blue).histogram()
    return first.width * first.height - same <= MAX_PIXELS and not any(pixels[MAX_LEVELS:])
