"""Output to the terminal of this process: its consoles, the symbols it can show, and text and JSON that cannot disturb it."""

import json as json_format
import os
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import TextIOWrapper
from typing import TextIO

from rich.cells import cell_len, chop_cells, set_cell_size
from rich.console import Console
from rich.table import Table
from rich.text import Text

from midcourse.policy.invisible import make_readable, spell_out


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


# --- the terminal


@dataclass(frozen=True, kw_only=True)
class Terminal:
    console: Console
    """The console for the output of a command."""
    marks: Marks
    asks_on: Console | None
    """The console for questions; None without a terminal to answer in."""
    live: bool
    """Whether `console` can show something that moves."""

    def say(self, *parts: str | tuple[str, str] | Text, style: str = "") -> None:
        """Print a line of these parts, each a text or a text with its style. Control characters in them are spelt out."""
        clean = self.marks.clean
        assembled = (
            clean(part) if isinstance(part, str) else part if isinstance(part, Text) else (clean(part[0]), part[1])
            for part in parts
        )
        self.console.print(Text.assemble(*assembled, style=style), soft_wrap=True)

    def print_rows(self, columns: Sequence[str], rows: Iterable[Sequence[str]], *, none: str) -> None:
        """Print a table, of which only the last column wraps; elsewhere than in a terminal, lines of tab-separated cells."""
        cleaned = [[self.marks.clean(cell) for cell in row] for row in rows]
        if not cleaned:
            self.say(none)
        elif self.console.is_terminal:
            table = plain_table(*columns, wraps=columns[-1:])
            for row in cleaned:
                table.add_row(*row)
            self.console.print(table)
        else:
            for row in cleaned:
                print("\t".join(row))


def terminal(*, silent: bool = False) -> Terminal:
    """The terminal of this process. `silent`: only the outcome may go to standard output, so questions go to standard error."""
    console = _console(stderr=False)
    attended = sys.stdin.isatty() and _is_in_foreground()
    live = attended and sys.stdout.isatty() and not console.is_dumb_terminal and not silent
    asks_on = console if live else _console(stderr=True) if attended and sys.stderr.isatty() else None
    return Terminal(console=console, marks=marks_for(sys.stdout), asks_on=asks_on, live=live)


def _is_in_foreground() -> bool:
    """Whether this process may use the terminal. A job that a shell started with `&` would be stopped as soon as it changes a mode of it."""
    if sys.platform == "win32":
        return True
    try:
        return os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except OSError:  # it is a terminal, but not the one that controls this process
        return True


def _console(*, stderr: bool) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="replace")
    return Console(stderr=stderr, highlight=False, emoji=False, markup=False)


def plain_table(*columns: str, wraps: Sequence[str] = ()) -> Table:
    """A table without lines. A cell of a column that does not wrap is never cut."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for column in columns:
        table.add_column(column, no_wrap=column not in wraps)
    return table


def print_outcome(value: object, *parts: str | tuple[str, str], json: bool) -> None:
    """Print what a command did: with `--json` this value, otherwise a line."""
    if json:
        print_object(value)
    else:
        terminal().say(*parts)


def print_json(text: str) -> None:
    """Print JSON as one line, in ASCII if the output cannot show other characters."""
    print(
        json_format.dumps(json_format.loads(text)) if marks_for(sys.stdout).ascii_only else _harmless(text), flush=True
    )


def print_object(value: object) -> None:
    print(_harmless(json_format.dumps(value, ensure_ascii=marks_for(sys.stdout).ascii_only)), flush=True)


def _harmless(line: str) -> str:
    """The same JSON with control and invisible characters as JSON escapes."""
    return spell_out(line, lambda char: json_format.dumps(char)[1:-1] if ord(char) > 127 else f"\\u{ord(char):04x}")
