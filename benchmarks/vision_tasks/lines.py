"""Lines of text in a picture: found as rows of ink, brought to one height, and read together by tesseract."""

import csv
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO, StringIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image

HEIGHT, PADDING, MARGIN = 44, 22, 30
"""Pixels of a line that tesseract reads best, and what is left free around it."""
LEAST_INK = 45
"""Difference in brightness to the background."""
LEAST_CONFIDENCE = 15.0
APART = 1.6
"""Of the height of a line: a wider gap separates two texts."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """A piece of the picture with one line of text, dark on white."""

    left: int
    top: int
    width: int
    height: int
    drawn: NDArray[np.uint8]


@dataclass(frozen=True, kw_only=True)
class Word:
    text: str
    left: int
    top: int
    width: int
    height: int


def find_lines(grey: NDArray[np.uint8], left: int, top: int, background: int, scale: float) -> list[Line]:
    """The lines of one background, whose top left corner is here in the picture."""
    away = np.abs(grey.astype(np.int16) - background)
    ink = away > LEAST_INK
    drawn = (255 - np.clip(away * (255 / max(int(away.max(initial=1)), 1)), 0, 255)).astype(np.uint8)
    found: list[Line] = []
    for first, last in _spans(np.atleast_1d(ink.any(axis=1)), 1):
        height = last - first
        least = max(height, 7 * scale)
        for start, end in _spans(np.atleast_1d(ink[first:last].any(axis=0)), round(APART * least)):
            if end - start > 40 * least or max(height, end - start) < 1.5 * scale:
                continue
            piece = drawn[first:last, start:end]
            found.append(Line(left=left + start, top=top + first, width=end - start, height=height, drawn=piece))
    return found


def _spans(used: NDArray[np.bool_], gap: int) -> list[tuple[int, int]]:
    """Ranges of True. Those with fewer than `gap` places between them are one."""
    places = np.flatnonzero(used)
    if not places.size:
        return []
    breaks = np.flatnonzero(np.diff(places) > gap)
    starts = [places[0], *places[breaks + 1]]
    ends = [*places[breaks], places[-1]]
    return [(int(start), int(end) + 1) for start, end in zip(starts, ends, strict=True)]


def read_lines(lines: Sequence[Line], scale: float) -> list[list[Word]]:
    """The words of each line, with their places in the picture. All lines are read in one go, one below the other."""
    if not lines:
        return []
    times = [HEIGHT / max(line.height, 9 * scale) for line in lines]
    pieces = [Image.fromarray(line.drawn) for line in lines]
    sizes = [
        (max(1, round(line.width * by)), max(1, round(line.height * by))) for line, by in zip(lines, times, strict=True)
    ]
    row = HEIGHT + 2 * PADDING
    sheet = Image.new("L", (max(width for width, _ in sizes) + 2 * MARGIN, row * len(lines)), 255)
    for number, (piece, (width, height)) in enumerate(zip(pieces, sizes, strict=True)):
        sheet.paste(piece.resize((width, height)), (MARGIN, row * number + PADDING + (HEIGHT - height) // 2))
    read: list[list[Word]] = [[] for _ in lines]
    for text, left, top, width, height in _recognized(sheet):
        number = min((top + height // 2) // row, len(lines) - 1)
        line, by = lines[number], times[number]
        place = (line.left + round((left - MARGIN) / by), round(width / by))
        read[number].append(Word(text=text, left=place[0], top=line.top, width=place[1], height=line.height))
    return [sorted(words, key=lambda word: word.left) for words in read]


def _recognized(sheet: Image.Image) -> list[tuple[str, int, int, int, int]]:
    written = BytesIO()
    sheet.save(written, "PNG")
    done = subprocess.run(
        ["tesseract", "stdin", "stdout", "--psm", "6", "tsv"],
        input=written.getvalue(),
        capture_output=True,
        check=True,
        env={**os.environ, "OMP_THREAD_LIMIT": "1"},
    )
    rows = csv.DictReader(StringIO(done.stdout.decode()), delimiter="\t", quoting=csv.QUOTE_NONE)
    return [
        (row["text"].strip(), int(row["left"]), int(row["top"]), int(row["width"]), int(row["height"]))
        for row in rows
        if (row["text"] or "").strip() and float(row["conf"]) >= LEAST_CONFIDENCE
    ]
