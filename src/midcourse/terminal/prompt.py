"""Asks in the terminal: a prompt prints a question, and waits for one of its answers without blocking the event loop."""

import asyncio
import os
import sys
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console, RenderableType
from rich.segment import Segment, Segments
from rich.table import Table
from rich.text import Text

from midcourse.terminal.output import Marks, Terminal

if sys.platform != "win32":
    import termios

LEAST_LINES = 20
"""The minimum number of lines on a page, even if the terminal has fewer."""
MORE = "page {page} of {pages}: Enter for the next, q to stop reading> "
AGREED = "approve"


class Interrupted(Exception):
    """Ctrl-C instead of an answer."""


class InputEnded(Exception):
    """The input has ended: Ctrl-D, or the terminal is gone."""


class Keyboard:
    """Reads lines from a file descriptor, for one question at a time."""

    def __init__(self, fd: int = 0) -> None:
        self._fd = fd
        self._buffer = b""
        self._ended = False
        self._awaited: asyncio.Future[None] | None = None
        self._pump: threading.Thread | None = None

    def interrupt(self) -> bool:
        """Raise `Interrupted` in the pending call of `line`. Returns whether there is one."""
        waiting = self._awaited is not None and not self._awaited.done()
        if waiting and self._awaited is not None:
            self._awaited.set_exception(Interrupted())
        return waiting

    def forget(self) -> None:
        """Drop what was typed before the question was on the screen: it cannot be an answer."""
        if os.isatty(self._fd):
            self._buffer = b""
            if sys.platform != "win32":
                termios.tcflush(self._fd, termios.TCIFLUSH)

    async def line(self) -> str:
        """The next line. If this is cancelled, what was typed is left for the next question."""
        while b"\n" not in self._buffer and not self._ended:
            await self._wait_for_input()
        line, newline, self._buffer = self._buffer.partition(b"\n")
        if not newline and not line:
            raise InputEnded
        return line.decode(errors="replace").strip()

    async def _wait_for_input(self) -> None:
        loop = asyncio.get_running_loop()
        self._awaited = loop.create_future()
        try:
            loop.add_reader(self._fd, lambda: self._add_input(self._read()))
        except (NotImplementedError, PermissionError):  # Windows; a plain file
            self._start_pump(loop)
            await self._awaited
            return
        try:
            await self._awaited
        finally:
            loop.remove_reader(self._fd)

    def _read(self) -> bytes:
        try:
            return os.read(self._fd, 4096)
        except OSError:  # the terminal is gone
            return b""

    def _add_input(self, read: bytes) -> None:
        self._buffer += read
        self._ended = not read
        if self._awaited is not None and not self._awaited.done():
            self._awaited.set_result(None)

    def _start_pump(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start a thread that reads the input, where the event loop cannot watch it. Nothing waits for the thread at the end."""
        if self._pump is None:
            self._pump = threading.Thread(target=self._pump_lines, args=(loop,), daemon=True)
            self._pump.start()

    def _pump_lines(self, loop: asyncio.AbstractEventLoop) -> None:
        read = b"?"
        while read:
            read = self._read()
            try:
                loop.call_soon_threadsafe(self._add_input, read)
            except RuntimeError:  # the loop is closed, and with it the run
                return

    @contextmanager
    def silence_echo(self) -> Generator[None]:
        """Do not echo what is typed during the block, so that it cannot disturb the live view."""
        if sys.platform == "win32" or not os.isatty(self._fd):
            yield
            return
        before = termios.tcgetattr(self._fd)
        silent = termios.tcgetattr(self._fd)
        modes: int = silent[3]
        silent[3] = modes & ~(termios.ECHO | termios.ECHONL)
        termios.tcsetattr(self._fd, termios.TCSADRAIN, silent)
        try:
            yield
        finally:
            termios.tcsetattr(self._fd, termios.TCSADRAIN, before)


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A key that answers a question."""

    key: str
    label: str
    """The label, with the key in brackets."""
    leads_to: str
    takes_words: bool = False
    """Whether words after the key, on the same line, belong to the answer."""

    @property
    def word(self) -> str:
        """The word of the label that has the key in it: `advice` in 'continue with [a]dvice'."""
        marked = next((word for word in self.label.split() if "[" in word), self.key)
        return marked.translate(str.maketrans("", "", "[](),")).lower()


class Prompt:
    """Asks one question at a time on a console."""

    def __init__(self, *, console: Console, keyboard: Keyboard, marks: Marks) -> None:
        self.console = console
        self.keyboard = keyboard
        self.marks = marks

    @property
    def width(self) -> int:
        return min(self.console.width, 100)

    def print(self, what: RenderableType = "") -> None:
        self.console.print(what, soft_wrap=isinstance(what, Text))

    async def show(self, what: RenderableType) -> bool:
        """Print it one screen at a time. Returns whether all of it was shown: the approver may stop before the end."""
        lines = self.console.render_lines(what, pad=False)
        a_page = max(LEAST_LINES, self.console.height - 2)
        pages = -(-len(lines) // a_page)
        for page in range(pages):
            for line in lines[page * a_page : (page + 1) * a_page]:
                self.console.print(Segments([*line, Segment.line()]), soft_wrap=True)
            if page + 1 < pages and (await self.line(MORE.format(page=page + 1, pages=pages))).strip():
                return False
        return True

    async def choose(self, choices: Sequence[Choice]) -> tuple[str, str]:
        """Ask for one of these choices, and return its key and the words after it.

        Enter alone chooses nothing, because it is easily pressed once too often. Words are never dropped: a yes with a condition is none.
        """
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(no_wrap=True)
        for choice in choices:
            table.add_row(Text.assemble("  ", (choice.label, "bold")), Text(choice.leads_to, "dim"))
        self.print(table)
        keys = [choice.key for choice in choices]
        while True:
            first, _, words = (await self.line(f"{'/'.join(keys)}> ")).partition(" ")
            chosen = next((choice for choice in choices if choice.key == first.lower()[:1]), None)
            if chosen is None:
                self.print(Text(f"  one of {', '.join(keys)}, please", "yellow"))
            elif not words.strip():
                return chosen.key, ""
            elif first.lower() not in (chosen.key, chosen.word):
                self.print(Text(f"  one of {', '.join(keys)}, please, and your words after it", "yellow"))
            elif not chosen.takes_words:
                taking = ", ".join(choice.key for choice in choices if choice.takes_words)
                hint = f"; words can follow {taking}" if taking else ""
                self.print(Text(f"  {chosen.key} takes no words, so nothing was decided{hint}", "yellow"))
            else:
                return chosen.key, words.strip()

    async def confirm_unseen(self, why: str) -> bool:
        """Ask the approver to type a word for what was not shown, because a single key is pressed too easily."""
        self.print(Text(f"  {why}", "yellow"))
        typed = await self.line(f"Type {AGREED} to agree to it all the same, or Enter to go back> ")
        return typed.strip().lower() == AGREED

    async def line(self, prompt: str) -> str:
        self.console.print(Text(prompt, "bold magenta"), end="")
        try:
            return await self.keyboard.line()
        except (asyncio.CancelledError, Exception):
            self.keyboard.forget()  # otherwise the next question would read half an answer
            self.print()
            raise


def open_prompt(where: Terminal, keyboard: Keyboard) -> Prompt | None:
    """A prompt on this terminal; None if questions cannot be answered there."""
    return Prompt(console=where.asks_on, keyboard=keyboard, marks=where.marks) if where.asks_on else None
