"""Where a person is asked: prints a question, and waits for one of its answers."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console, RenderableType
from rich.text import Text

from midcourse.cli.keyboard import Keyboard
from midcourse.cli.marks import Marks


@dataclass(frozen=True, kw_only=True)
class Choice:
    key: str
    label: str
    """With the key in brackets."""
    leads_to: str


class Desk:
    def __init__(self, *, console: Console, keyboard: Keyboard, marks: Marks) -> None:
        self.console = console
        self.keyboard = keyboard
        self.marks = marks

    @property
    def width(self) -> int:
        return min(self.console.width, 100)

    def say(self, what: RenderableType = "") -> None:
        self.console.print(what, soft_wrap=isinstance(what, Text))

    async def choose(self, choices: Sequence[Choice]) -> str:
        """The key of one of them. There is no default: an Enter too many decides nothing."""
        longest = max(len(choice.label) for choice in choices)
        for choice in choices:
            self.say(Text.assemble("  ", (f"{choice.label:<{longest}}", "bold"), "  ", (choice.leads_to, "dim")))
        keys = [choice.key for choice in choices]
        while True:
            said = (await self.line(f"{'/'.join(keys)}> ")).lower()[:1]
            if said in keys:
                return said
            self.say(Text(f"  one of {', '.join(keys)}, please", "yellow"))

    async def line(self, prompt: str) -> str:
        self.console.print(Text(prompt, "bold magenta"), end="")
        try:
            return await self.keyboard.line()
        except (asyncio.CancelledError, Exception):
            self.keyboard.forget()  # or the half of an answer would be read by whoever comes next
            self.say()
            raise
