"""The terminal of this process: its consoles, its symbols, and JSON output that cannot disturb it."""

import json
import os
import sys
from dataclasses import dataclass
from io import TextIOWrapper

from rich.console import Console

from midcourse.cli.view.symbols import Marks, marks_for
from midcourse.policy.invisible import spell_out


@dataclass(frozen=True, kw_only=True)
class Terminal:
    console: Console
    """The console for the output of a command."""
    marks: Marks
    asks_on: Console | None
    """The console for questions; None without a terminal to answer in."""
    live: bool
    """Whether `console` can show something that moves."""


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


def print_json(text: str) -> None:
    """Print JSON as one line, in ASCII if the output cannot show other characters."""
    print(json.dumps(json.loads(text)) if marks_for(sys.stdout).ascii_only else _harmless(text), flush=True)


def print_object(value: object) -> None:
    print(_harmless(json.dumps(value, ensure_ascii=marks_for(sys.stdout).ascii_only)), flush=True)


def _harmless(line: str) -> str:
    """The same JSON with control and invisible characters as JSON escapes."""
    return spell_out(line, lambda char: json.dumps(char)[1:-1] if ord(char) > 127 else f"\\u{ord(char):04x}")
