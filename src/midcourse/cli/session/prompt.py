"""A prompt in the terminal: prints a question, and waits for one of its answers."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console, RenderableType
from rich.segment import Segment, Segments
from rich.table import Table
from rich.text import Text

from midcourse.cli.session.keyboard import Keyboard
from midcourse.cli.view.symbols import Marks
from midcourse.cli.view.terminal import Terminal

LEAST_LINES = 20
"""The minimum number of lines on a page, even if the terminal has fewer."""
MORE = "page {page} of {pages}: Enter for the next, q to stop reading> "
AGREED = "approve"


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A key that answers a question."""

    key: str
    label: str
    """The label, with the key in brackets."""
    leads_to: str


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

    async def choose(self, choices: Sequence[Choice]) -> str:
        """Ask for one of these choices and return its key. Enter alone chooses nothing, because it is easily pressed once too often."""
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(no_wrap=True)
        for choice in choices:
            table.add_row(Text.assemble("  ", (choice.label, "bold")), Text(choice.leads_to, "dim"))
        self.print(table)
        keys = [choice.key for choice in choices]
        while True:
            typed = (await self.line(f"{'/'.join(keys)}> ")).lower()[:1]
            if typed in keys:
                return typed
            self.print(Text(f"  one of {', '.join(keys)}, please", "yellow"))

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
