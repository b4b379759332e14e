"""Line plots: small panels beside each other, each with its axes."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from drawing.card import EDGE, GRID, OTHERS, OURS, SMALL, WIDTH, draw_card, put_box, put_line, put_text

SPACE, MARGIN, RIGHT, AREA = 20, 42, 14, 150
"""Pixels: between panels, for the numbers of the vertical axis and the last one below, and the height of the area with lines."""
STEPS = (1, 2, 2.5, 5, 10)


@dataclass(frozen=True, kw_only=True)
class Axis:
    low: float
    high: float
    ticks: Sequence[float]
    logarithmic: bool = False

    def place(self, value: float) -> float:
        """Where a value is, as a share of the axis."""
        if self.logarithmic:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


def make_linear_axis(most: float) -> Axis:
    """An axis from 0 with round ticks, that reaches beyond the value."""
    power = 10 ** math.floor(math.log10(most / 4))
    step = next(power * step for step in STEPS if power * step * 5 >= most)
    count = math.ceil(most / step)
    return Axis(low=0, high=step * count, ticks=[step * place for place in range(count + 1)])


def make_log_axis(least: float, most: float, *, every: int = 1) -> Axis:
    """An axis of whole decades around the values, with a tick at every decade or so."""
    low, high = math.floor(math.log10(least)), math.ceil(math.log10(most))
    return Axis(low=10.0**low, high=10.0**high, ticks=[10.0**n for n in range(low, high + 1, every)], logarithmic=True)


def shorten(value: float) -> str:
    """A number as it is written at an axis: 0.1, 250, 10k, 1M."""
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}"


@dataclass(frozen=True, kw_only=True)
class Line:
    label: str
    points: Sequence[tuple[float, float]]
    labels_above: Sequence[tuple[float, float, str]] = ()
    """Points with the text written at them, above the line."""
    labels_below: Sequence[tuple[float, float, str]] = ()
    ours: bool = True
    dotted: bool = True
    """Whether points are drawn: those that were measured."""


@dataclass(frozen=True, kw_only=True)
class Panel:
    title: str
    across: str
    x: Axis
    y: Axis
    lines: Sequence[Line]
    write_y: Callable[[float], str] = shorten


def draw_panels(title: str, note: str, panels: Sequence[Panel]) -> str:
    width = (WIDTH - 2 * EDGE - SPACE * (len(panels) - 1)) / len(panels)
    keys = max(len(panel.lines) for panel in panels)
    top = 98 + (18 * keys if keys > 1 else 0)
    parts = [put_text(EDGE, 52, note, "small quiet")]
    for place, panel in enumerate(panels):
        parts += _draw_panel(panel, EDGE + (width + SPACE) * place, width, top)
    return draw_card(title, " ".join(map(_describe, panels)), top + AREA + 54, parts)


def _draw_panel(panel: Panel, left: float, width: float, top: float) -> list[str]:
    start, right, bottom = left + MARGIN, left + width - RIGHT, top + AREA

    def at(x: float, y: float) -> tuple[float, float]:
        return start + (right - start) * panel.x.place(x), bottom - AREA * panel.y.place(y)

    parts = [put_text(left, 80, panel.title, "strong")]
    if len(panel.lines) > 1:
        for row, line in enumerate(panel.lines):
            y = 98 + 18 * row
            parts += [put_box(left, y - 6, 14, 4, _colour(line)), put_text(left + 20, y, line.label, "small quiet")]
    for tick in panel.y.ticks:
        y = at(panel.x.low, tick)[1]
        parts += [
            put_line(f"M{start:.1f} {y:.1f}H{right:.1f}", GRID),
            put_text(start - 6, y + 4, panel.write_y(tick), "small quiet", anchor="end"),
        ]
    for tick in panel.x.ticks:
        x = at(tick, panel.y.low)[0]
        parts += [
            put_line(f"M{x:.1f} {bottom:.1f}v4", GRID),
            put_text(x, bottom + 6 + SMALL, shorten(tick), "small quiet", anchor="middle"),
        ]
    parts.append(put_text((start + right) / 2, bottom + 40, panel.across, "small quiet", anchor="middle"))
    for line in panel.lines:
        parts += _draw_line(line, at)
    return parts


def _draw_line(line: Line, at: Callable[[float, float], tuple[float, float]]) -> list[str]:
    places = [at(*point) for point in line.points]
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    parts = [put_line(path, _colour(line), 2, ' stroke-linejoin="round"')]
    if line.dotted:
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{_colour(line)}"/>' for x, y in places]
    for labels, anchor, right, down in ((line.labels_above, "end", -4, -6), (line.labels_below, "start", 5, 13)):
        for value, height, text in labels:
            x, y = at(value, height)
            parts += [
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{_colour(line)}"/>',
                put_text(x + right, y + down, text, "small", anchor=anchor),
            ]
    return parts


def _colour(line: Line) -> str:
    return OURS if line.ours else OTHERS


def _describe(panel: Panel) -> str:
    said = [f"{panel.title}, against {panel.across}:"]
    for line in panel.lines:
        (x, y), (last_x, last_y) = line.points[0], line.points[-1]
        way = "rises" if all(b >= a for (_, a), (_, b) in pairwise(line.points)) else "goes"
        said.append(f"{line.label} {way} from {y:,.4g} at {x:,.4g} to {last_y:,.4g} at {last_x:,.4g}.")
    return " ".join(said)
