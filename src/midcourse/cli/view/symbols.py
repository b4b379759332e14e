"""The symbols that a terminal can show, and functions that make text safe for it."""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TextIO

from rich.cells import cell_len, chop_cells, set_cell_size

from midcourse.policy.invisible import make_readable


@dataclass(frozen=True, kw_only=True)
class Marks:
    done: str = "✓"
    claimed: str = "○"
    """Done, and nothing verified it."""
    current: str = "▸"
    failed: str = "✗"
    waiting: str = "·"
    unknown: str = "?"
    again: str = "↻"
    dot: str = "·"
    dash: str = "—"
    arrow: str = "→"
    newline: str = "↵"
    ellipsis: str = "…"
    full: str = "━"
    empty: str = "─"
    spinner: str = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
    ascii_only: bool = False

    def fit(self, text: str, width: int) -> str:
        """The text as one line, cut to this many cells."""
        text = self.clean(text)
        if cell_len(text) <= width:
            return text
        room = max(0, width - cell_len(self.ellipsis))
        return set_cell_size(text, room).rstrip() + self.ellipsis[:width]

    def wrap(self, text: str, width: int, most: int) -> list[str]:
        """The text in at most `most` lines; what does not fit is cut with an ellipsis."""
        words = list(_split_words(self.clean(text).split(), max(1, width)))
        lines: list[str] = []
        while words and len(lines) < most - 1:
            line = words.pop(0)
            while words and cell_len(line) + 1 + cell_len(words[0]) <= width:
                line += " " + words.pop(0)
            lines.append(line)
        return [*lines, self.fit(" ".join(words), width)] if words else lines

    def clean(self, text: str) -> str:
        """The text without control characters from a page or a planner, and with characters that the terminal cannot show replaced."""
        visible = make_readable(text, _make_visible)
        return visible if not self.ascii_only else _to_ascii(visible)


UNICODE = Marks()
ASCII = Marks(
    done="+",
    claimed="o",
    current=">",
    failed="x",
    waiting=".",
    again="@",
    dot="-",
    dash="-",
    arrow="->",
    newline="\\n",
    ellipsis="...",
    full="#",
    empty=".",
    spinner="|/-\\",
    ascii_only=True,
)

_PLAIN = str.maketrans(
    {"·": "-", "—": "-", "–": "-", "→": "->", "…": "...", "‘": "'", "’": "'", "“": '"', "”": '"', "\u00a0": " "}
)


def marks_for(stream: TextIO) -> Marks:
    encoding = (getattr(stream, "encoding", None) or "utf-8").lower().replace("-", "").replace("_", "")
    return UNICODE if encoding.startswith("utf") else ASCII


def _split_words(words: list[str], width: int) -> Iterator[str]:
    for word in words:
        yield from chop_cells(word, width)


def _make_visible(char: str) -> str:
    """Replace a line end by a space, and spell out control and invisible characters, which could forge what a person reads."""
    if char in "\n\r\t\v\f\u2028\u2029":
        return " "
    return f"\\x{ord(char):02x}" if ord(char) < 256 else f"\\u{ord(char):04x}"


def _to_ascii(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text.translate(_PLAIN))
    bare = "".join(char for char in decomposed if not unicodedata.combining(char))
    return bare.encode("ascii", "replace").decode()
