"""Strips of squares: the same cases in each strip, one square for each."""

from collections.abc import Sequence

from drawing.card import EDGE, WIDTH, draw_card, put_box, put_legend, put_text

STRIP = 50
"""Pixels: the height of a strip with its label."""


def draw_strips(
    title: str,
    note: str,
    strips: Sequence[tuple[str, Sequence[str]]],
    legend: Sequence[tuple[str, str]],
) -> str:
    """Each strip has a label and the colours of its squares."""
    pitch = (WIDTH - 2 * EDGE) / max(len(colours) for _, colours in strips)
    parts = [put_text(EDGE, 54, note, "small quiet"), *put_legend(76, legend)]
    for place, (label, colours) in enumerate(strips):
        top = 92 + STRIP * place
        parts.append(put_text(EDGE, top + 13, label))
        parts += [
            put_box(EDGE + pitch * column, top + 20, pitch - 2, pitch - 2, colour)
            for column, colour in enumerate(colours)
        ]
    return draw_card(title, " ".join(f"{label}." for label, _ in strips), 92 + STRIP * len(strips) + 6, parts)
