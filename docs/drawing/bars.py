"""Bar charts: rows with a label, and a bar in each of some columns."""

from collections.abc import Sequence
from dataclasses import dataclass

from drawing.card import (
    EDGE,
    INK,
    OTHERS,
    OURS,
    TRACK,
    WIDTH,
    draw_card,
    measure_text,
    put_box,
    put_legend,
    put_line,
    put_text,
)

ROW, BAR, GAP = 26, 18, 24
"""Pixels: the height of a row and of a bar, and the space between columns."""


@dataclass(frozen=True, kw_only=True)
class Bar:
    pieces: Sequence[tuple[float, str]]
    """Shares of the whole length with their colours; an empty colour is that of the row."""
    shown: str
    interval: tuple[float, float] | None = None
    tracked: bool = True
    """Whether the whole length means something, such as all runs, and is drawn."""


@dataclass(frozen=True, kw_only=True)
class Row:
    label: str
    bars: Sequence[Bar] = ()
    """None: the row is a heading."""
    ours: bool = False


def draw_bars(
    title: str, columns: Sequence[str], rows: Sequence[Row], note: str = "", legend: Sequence[tuple[str, str]] = ()
) -> str:
    start = EDGE + max(measure_text(row.label) for row in rows if row.bars) + 12
    column = (WIDTH - EDGE - start + GAP) / len(columns)
    value = max(measure_text(bar.shown) for row in rows for bar in row.bars) + 8
    places = [start + column * place for place in range(len(columns))]
    parts, y = list[str](), 48
    if legend:
        parts += put_legend(y + 4, legend)
        y += 24
    parts += [put_text(x, y + 8, name, "quiet") for x, name in zip(places, columns, strict=True)]
    y += 20
    for row in rows:
        parts.append(put_text(EDGE, y + 14, row.label, "" if row.bars else "strong"))
        for x, bar in zip(places, row.bars, strict=False):
            parts += _draw_bar(bar, x, y, column - GAP - value, OURS if row.ours else OTHERS)
        y += ROW
    if note:
        parts.append(put_text(EDGE, y + 14, note, "small quiet"))
        y += 20
    return draw_card(title, _describe(columns, rows), y + 10, parts)


def _draw_bar(bar: Bar, x: float, y: float, length: float, colour: str) -> list[str]:
    parts = [put_box(x, y, length, BAR, TRACK)] if bar.tracked else []
    end = x
    for share, own in bar.pieces:
        if share:
            parts.append(put_box(end, y, max(length * share, 2), BAR, own or colour))
        end += length * share
    if bar.interval:
        low, high = (x + length * edge for edge in bar.interval)
        middle = y + BAR / 2
        ends = f"M{low:.1f} {middle - 4:g}v8M{high:.1f} {middle - 4:g}v8"
        parts.append(put_line(f"M{low:.1f} {middle:g}H{high:.1f}{ends}", INK, 1.5))
    after = x + length if bar.tracked else end
    return [*parts, put_text(after + 8, y + 14, bar.shown, "quiet")]


def _describe(columns: Sequence[str], rows: Sequence[Row]) -> str:
    said = [
        f"{row.label}: " + ", ".join(f"{name} {bar.shown}" for name, bar in zip(columns, row.bars, strict=True)) + "."
        if row.bars
        else f"{row.label}."
        for row in rows
    ]
    return " ".join(said)
