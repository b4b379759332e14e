"""Areas of one colour in a picture: connected pixels of about the same brightness, with the box around them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

STEP = 8
"""Levels of brightness that count as one: the edges of letters have many."""
LEAST = 60
"""Pixels. Smaller areas are parts of letters."""


@dataclass(frozen=True, kw_only=True)
class Area:
    left: int
    top: int
    width: int
    height: int
    colour: int
    """Brightness, 0 to 255."""
    pixels: int
    runs: tuple[tuple[int, int, int], ...]
    """Row, first and last column of each piece."""

    @property
    def bounds(self) -> tuple[int, int, int, int]:
        return self.left, self.top, self.width, self.height

    @property
    def fill(self) -> float:
        """Share of its box that it covers."""
        return self.pixels / (self.width * self.height)

    def paint(self, picture: NDArray[np.uint8], colour: int) -> None:
        """Give its pixels another colour."""
        for row, first, last in self.runs:
            picture[row, first:last] = colour

    def holds(self, x: float, y: float) -> bool:
        return self.left <= x < self.left + self.width and self.top <= y < self.top + self.height


def find_areas(grey: NDArray[np.uint8]) -> list[Area]:
    """Join runs of pixels, row by row, with the runs above them that they touch."""
    levels = grey // STEP
    parents: list[int] = []
    runs: list[tuple[int, int, int]] = []  # row, first, last
    above: list[int] = []

    def root(run: int) -> int:
        while parents[run] != run:
            parents[run] = parents[parents[run]]
            run = parents[run]
        return run

    for row, line in enumerate(levels):
        edges = np.flatnonzero(np.diff(line)) + 1
        starts, ends = [0, *edges.tolist()], [*edges.tolist(), len(line)]
        here: list[int] = []
        at = 0
        for first, last in zip(starts, ends, strict=True):
            run = len(runs)
            runs.append((row, first, last))
            parents.append(run)
            here.append(run)
            while at < len(above) and runs[above[at]][2] <= first:
                at += 1
            look = at
            while look < len(above) and runs[above[look]][1] < last:
                if levels[row - 1, runs[above[look]][1]] == line[first]:
                    parents[root(above[look])] = root(run)
                look += 1
        above = here
    return _collected(grey, runs, [root(run) for run in range(len(runs))])


def _collected(grey: NDArray[np.uint8], runs: list[tuple[int, int, int]], roots: list[int]) -> list[Area]:
    found: dict[int, list[tuple[int, int, int]]] = {}
    for run, name in zip(runs, roots, strict=True):
        found.setdefault(name, []).append(run)
    areas = (_area(grey, pieces) for pieces in found.values())
    return [area for area in areas if area.pixels >= LEAST]


def _area(grey: NDArray[np.uint8], runs: list[tuple[int, int, int]]) -> Area:
    left, right = min(first for _, first, _ in runs), max(last for _, _, last in runs)
    top, bottom = runs[0][0], runs[-1][0] + 1
    row, first, last = max(runs, key=lambda run: run[2] - run[1])
    return Area(
        left=left,
        top=top,
        width=right - left,
        height=bottom - top,
        colour=int(grey[row, (first + last) // 2]),
        pixels=sum(last - first for _, first, last in runs),
        runs=tuple(runs),
    )
