"""Which pictures can be distinguished.

Chromium does not draw the corner of a button twice alike: a pixel of it differs by one level of 255, with the same secrets too.
"""

from collections.abc import Mapping
from io import BytesIO

from PIL import Image, ImageChops

MOST_PIXELS = 4
MOST_LEVELS = 2
"""Of 255. No part of a letter is both so small and so faint."""

Pictures = Mapping[str, bytes]
"""By their hash."""


def strangers(these: Pictures, those: Pictures) -> list[str]:
    """Those of the first that look like none of the second."""
    candidates = [picture for name, picture in those.items() if name not in these]
    return [
        name
        for name, picture in these.items()
        if name not in those and not any(alike(picture, other) for other in candidates)
    ]


def alike(one: bytes, other: bytes) -> bool:
    first, second = (Image.open(BytesIO(picture)).convert("RGB") for picture in (one, other))
    if first.size != second.size:
        return False
    red, green, blue = ImageChops.difference(first, second).split()
    same, *pixels = ImageChops.lighter(ImageChops.lighter(red, green), blue).histogram()
    return first.width * first.height - same <= MOST_PIXELS and not any(pixels[MOST_LEVELS:])
