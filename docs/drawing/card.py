"""The card that every drawing is on: frame, title, legend, text, and what a screen reader says instead."""

from collections.abc import Sequence
from html import escape

WIDTH, EDGE = 720, 20
"""Pixels. As wide as a column of the documentation, so that text is shown about as large as it is drawn."""
TEXT, SMALL = 13, 12
"""Font sizes in pixels."""
INK, QUIET, TRACK, GRID = "#1f2328", "#59636e", "#eef1f4", "#d1d9e0"
OURS, OTHERS, OPEN, WRONG = "#1f6feb", "#8c959f", "#d4a72c", "#cf222e"
"""Colours: of Midcourse, of others, of what was left open, and of what was wrong."""
STYLE = (
    f"text{{font:{TEXT}px system-ui,'DejaVu Sans',sans-serif;fill:{INK}}} .title{{font-size:16px;font-weight:600}} "
    f".small{{font-size:{SMALL}px}} .quiet{{fill:{QUIET}}} .strong{{font-weight:600}}"
)


def draw_card(title: str, description: str, height: float, parts: Sequence[str]) -> str:
    """The parts on a white card, which can be read on pages of either theme. The description replaces the drawing."""
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" role="img">',
        f"<title>{escape(title)}</title>",
        f"<desc>{escape(description)}</desc>",
        f"<style>{STYLE}</style>",
        f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1:g}" rx="8" fill="#ffffff" stroke="{GRID}"/>',
        put_text(EDGE, 30, title, "title"),
        *parts,
        "</svg>",
        "",
    ]
    return "\n".join(lines)


def put_text(x: float, y: float, text: str, kind: str = "", *, anchor: str = "") -> str:
    named = f' class="{kind}"' if kind else ""
    anchored = f' text-anchor="{anchor}"' if anchor else ""
    return f'<text x="{x:.5g}" y="{y:.5g}"{named}{anchored}>{escape(text)}</text>'


def put_box(x: float, y: float, width: float, height: float, colour: str) -> str:
    return f'<rect x="{x:.5g}" y="{y:.5g}" width="{width:.5g}" height="{height:.5g}" rx="2" fill="{colour}"/>'


def put_line(path: str, colour: str, width: float = 1, more: str = "") -> str:
    return f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{width:g}"{more}/>'


def measure_text(text: str, size: float = TEXT) -> float:
    """The width of a text in pixels, in the widest of the usual fonts."""
    return 0.6 * size * len(text)


def put_legend(y: float, entries: Sequence[tuple[str, str]]) -> list[str]:
    """Colours and what they stand for, in one line."""
    parts, x = list[str](), float(EDGE)
    for colour, text in entries:
        parts += [put_box(x, y - 10, 12, 12, colour), put_text(x + 18, y, text, "small quiet")]
        x += 18 + measure_text(text, SMALL) + 14
    return parts
