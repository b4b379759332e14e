"""A reader in its own process: PNG bytes and the size of what they show on stdin, zones as JSON on stdout, nothing else.

    python -m benchmarks.vision_tasks.reader_process

Text comes from Debian's `tesseract-ocr`, boxes from areas of one colour. It knows nothing of the task or of the page.
A request is a line `BYTES WIDTH HEIGHT` and then the bytes; an answer is a line.
"""

import json
import sys
from collections.abc import Sequence
from io import BytesIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from benchmarks.vision_tasks.areas import Area, find_areas
from benchmarks.vision_tasks.lines import Line, Word, find_lines, read_lines

WHITE, LIGHT = 250, 180
LEAST, MOST = 8.5, 60
"""Height of a control in CSS pixels. What is lower is a part of a letter, and what is higher is a panel."""
TICK = 18
"""Largest side of a box to tick."""
LARGE = 0.02
"""Share of the picture from which on a dark area is a background."""
BLUE = 60


def read(png: bytes, size: tuple[int, int]) -> list[dict[str, object]]:
    """Zones in reading order, with bounds in the unit of `size`."""
    with Image.open(BytesIO(png)) as picture:
        colours = np.asarray(picture.convert("RGB")).astype(np.int16)
    scale = colours.shape[1] / size[0]
    grey = colours.mean(axis=2).astype(np.uint8)
    areas = find_areas(grey)
    boxes = [area for area in areas if _is_control(area, grey, scale)]
    rest = _without_boxes(grey, areas, boxes, scale)
    groups = [_lines_of(box, boxes, grey, scale) for box in boxes]
    groups.append(find_lines(rest, 0, 0, 255, scale))
    words = iter(read_lines([line for group in groups for line in group], scale))
    *inside, outside = [[(line, next(words)) for line in group] for group in groups]
    controls = [_control(box, lines, grey, scale) for box, lines in zip(boxes, inside, strict=True)]
    zones = [_zone(scale, box.bounds, **found) for box, found in zip(boxes, controls, strict=True) if found]
    texts = [zone for _, read_words in outside for zone in _texts(read_words, colours, scale)]
    for zone in zones:
        if zone["role"] in ("checkbox", "radio"):
            zone["label"] = _text_beside(zone, texts)
    return sorted([*zones, *texts], key=_reading_order)


# --- boxes


def _is_control(area: Area, grey: NDArray[np.uint8], scale: float) -> bool:
    """Whether it may be the inside of a control: of fitting size and shape, and with a thin border around it."""
    height, width = grey.shape
    across, down = area.width / scale, area.height / scale
    if not (min(across, down) >= LEAST and down <= MOST and area.fill > 0.5 and area.width < 0.9 * width):
        return False
    if across <= TICK and not 0.8 < across / down < 1.25:  # the inside of a letter
        return False
    if area.left <= 1 or area.top <= 1 or area.left + area.width >= width - 1 or area.top + area.height >= height - 1:
        return False
    return _has_thin_border(area, grey, round(3.5 * scale))


def _has_thin_border(area: Area, grey: NDArray[np.uint8], away: int) -> bool:
    """Whether at least two sides have a light background a little further out. The inside of a large 0 has ink there."""
    x, y = area.left + area.width // 2, area.top + area.height // 2
    points = (
        (y, max(area.left - away, 0)),
        (y, min(area.left + area.width + away, grey.shape[1] - 1)),
        (max(area.top - away, 0), x),
        (min(area.top + area.height + away, grey.shape[0] - 1), x),
    )
    return sum(int(grey[point]) > 200 for point in points) >= 2


def _without_boxes(
    grey: NDArray[np.uint8], areas: Sequence[Area], boxes: Sequence[Area], scale: float
) -> NDArray[np.uint8]:
    """The picture with controls and dark backgrounds painted white, so that only text and frames remain."""
    rest = grey.copy()
    for area in areas:
        across, down = area.width / scale, area.height / scale
        background = area.colour < WHITE and area.pixels > LARGE * grey.size
        thin = min(across, down) < 1.6 and max(across, down) > 18
        hollow = area.colour < WHITE and min(across, down) > 20 and area.fill < 0.2
        if background or thin or hollow:
            area.paint(rest, 255)
    border = round(2 * scale)
    for box in boxes:
        top, left = max(box.top - border, 0), max(box.left - border, 0)
        rest[top : box.top + box.height + border, left : box.left + box.width + border] = 255
    return rest


def _lines_of(box: Area, boxes: Sequence[Area], grey: NDArray[np.uint8], scale: float) -> list[Line]:
    """The text in a box, without what belongs to smaller boxes in it."""
    edge = round(scale)
    left, top = box.left + edge, box.top + edge
    part = grey[top : box.top + box.height - edge, left : box.left + box.width - edge].copy()
    for one in boxes:
        if one is not box and box.holds(one.left, one.top) and box.holds(one.left + one.width, one.top + one.height):
            part[
                max(one.top - top - 2 * edge, 0) : one.top - top + one.height + 2 * edge,
                max(one.left - left - 2 * edge, 0) : one.left - left + one.width + 2 * edge,
            ] = box.colour
    return find_lines(part, left, top, box.colour, scale)


def _control(
    box: Area, lines: Sequence[tuple[Line, list[Word]]], grey: NDArray[np.uint8], scale: float
) -> dict[str, object] | None:
    """Role, label and state of what has this box; None for a mere background."""
    width, height = box.width / scale, box.height / scale
    label = " ".join(word.text for _, words in lines for word in words)
    white = box.colour > WHITE
    if max(width, height) <= TICK and width / height < 1.3 and white:
        return {"role": "radio" if box.fill < 0.88 else "checkbox", "label": ""}
    if white:
        return {"role": "textbox", "label": "", "state": {"value": label} if label else {}} if width > TICK else None
    inside = grey[box.top : box.top + box.height, box.left : box.left + box.width].astype(np.int16)
    if max(width, height) <= 1.5 * TICK and _is_crossed(np.abs(inside - box.colour) > 60):
        return {"role": "button", "label": "x"}
    if not label and not lines and width > 2 * TICK and box.colour > LIGHT and box.fill > 0.95:
        return {"role": "textbox", "label": ""}  # covered, as passwords are in screenshots
    return {"role": "button", "label": label} if label else None


def _is_crossed(ink: NDArray[np.bool_]) -> bool:
    """Whether the ink is on the diagonals of its box more than beside them."""
    rows, columns = np.nonzero(ink)
    if rows.size < 20:
        return False
    drawn = ink[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
    down, across = (np.linspace(0, 1, side) for side in drawn.shape)
    away = np.minimum(abs(down[:, None] - across[None, :]), abs(1 - down[:, None] - across[None, :]))
    return bool(drawn[away < 0.15].mean() > 0.6 and drawn[away > 0.35].mean() < 0.3)


def _text_beside(zone: dict[str, object], texts: Sequence[dict[str, object]]) -> object:
    """The text to the right of a box to tick, in the same row."""
    left, top, width, height = _bounds(zone)
    right, middle = left + width, top + height / 2
    near = [
        (x - right, text["label"])
        for text in texts
        for x, y, _, tall in [_bounds(text)]
        if 0 <= x - right < TICK and y - 4 < middle < y + tall + 4
    ]
    return min(near)[1] if near else ""


# --- text


def _texts(words: Sequence[Word], colours: NDArray[np.int16], scale: float) -> list[dict[str, object]]:
    """The words of a line as texts, and each blue word as a link."""
    zones: list[dict[str, object]] = []
    row: list[Word] = []
    for word in words:
        if not _is_blue(word, colours):
            row.append(word)
            continue
        zones += [_text(row, scale)] if row else []
        zones.append(_zone(scale, (word.left, word.top, word.width, word.height), role="link", label=word.text))
        row = []
    return [*zones, _text(row, scale)] if row else zones


def _text(row: Sequence[Word], scale: float) -> dict[str, object]:
    left, top = row[0].left, row[0].top
    bounds = (left, top, row[-1].left + row[-1].width - left, row[0].height)
    return _zone(scale, bounds, role="text", label=" ".join(word.text for word in row))


def _is_blue(word: Word, colours: NDArray[np.int16]) -> bool:
    drawn = colours[word.top : word.top + word.height, max(word.left, 0) : word.left + word.width].reshape(-1, 3)
    ink = drawn[drawn.min(axis=1) < 120]
    return bool(len(ink)) and float((ink[:, 2] - ink[:, 0]).mean()) > BLUE


def _zone(scale: float, bounds: tuple[int, int, int, int], **said: object) -> dict[str, object]:
    return {"state": {}, **said, "bounds": [round(side / scale) for side in bounds]}


def _bounds(zone: dict[str, object]) -> list[int]:
    bounds = zone["bounds"]
    assert isinstance(bounds, list)
    return bounds


def _reading_order(zone: dict[str, object]) -> tuple[int, int]:
    left, top, _, height = _bounds(zone)
    return round((top + height / 2) / 8), left


def main() -> None:
    while line := sys.stdin.buffer.readline():
        count, width, height = map(int, line.split())
        zones = read(sys.stdin.buffer.read(count), (width, height))
        sys.stdout.write(json.dumps(zones) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
