"""Screens for a run: a live view in a terminal, lines in a log, or none. A question takes their place."""

import asyncio
import time
from collections.abc import Generator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Protocol

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.live import Live
from rich.text import Text

from midcourse.cli.view.run import RunView
from midcourse.drive import Progress
from midcourse.presentation.narration import LogLine
from midcourse.presentation.vocabulary import format_elapsed
from midcourse.terminal.prompt import Keyboard

TICKS_A_SECOND = 5


class Picture(Protocol):
    def render(self, *, width: int, height: int, now: float, hint: str) -> RenderableType: ...


class Screen(Protocol):
    def show(self, progress: Progress, line: LogLine | None) -> None:
        """Show that the view has a new turn. `line` describes the turn, if it is worth a line."""
        ...

    def open(self) -> AbstractContextManager[None]: ...

    def make_room(self) -> AbstractContextManager[None]:
        """Make room for a question."""
        ...


class NoScreen:
    """Shows nothing, for `--json` and `--quiet`."""

    def show(self, progress: Progress, line: LogLine | None) -> None:
        pass

    @contextmanager
    def open(self) -> Generator[None]:
        yield

    @contextmanager
    def make_room(self) -> Generator[None]:
        yield


class Lines:
    """Prints log lines without control codes, for output that is not a terminal."""

    def __init__(self, console: Console, view: RunView) -> None:
        self._console = console
        self._view = view

    def show(self, progress: Progress, line: LogLine | None) -> None:
        if line is not None:
            text = self._view.marks.clean(line.text)
            at = format_elapsed(line.at - self._view.started_at())
            self._console.print(Text(f"{at:>5}  {text}"), soft_wrap=True)

    @contextmanager
    def open(self) -> Generator[None]:
        yield

    @contextmanager
    def make_room(self) -> Generator[None]:
        yield


class LiveView:
    """Redraws the view in place, in this event loop and in no other thread."""

    def __init__(self, console: Console, view: Picture, keyboard: Keyboard, hint: str) -> None:
        self._console = console
        self._view = view
        self._keyboard = keyboard
        self.hint = hint
        self._live: Live | None = None
        self._drawn = ExitStack()
        self._opened = False
        self._size = console.size

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        height = max(4, console.size.height - 1)
        yield self._view.render(width=options.max_width, height=height, now=time.time(), hint=self.hint)

    def show(self, progress: Progress, line: LogLine | None) -> None:
        self.refresh()

    def refresh(self) -> None:
        if self._live is None:
            return
        if self._console.size != self._size:
            self._redraw_all()
        self._live.refresh()

    @contextmanager
    def open(self) -> Generator[None]:
        ticking = asyncio.get_running_loop().create_task(self._tick(), name="live view")
        self._opened = True
        self._draw()
        try:
            yield
        finally:
            self._opened = False
            ticking.cancel()
            self._drawn.close()

    @contextmanager
    def make_room(self) -> Generator[None]:
        """Draw nothing within this context, in which a question is asked. Nested calls have no further effect."""
        if self._live is None:
            yield
            return
        self._live = None
        self._drawn.close()
        try:
            yield
        finally:
            if self._opened:
                self._draw()

    def _redraw_all(self) -> None:
        """Clear the screen first: a terminal that was resized has wrapped the drawn lines, so they cannot be redrawn in place."""
        self._drawn.close()
        self._console.clear()
        self._draw()

    def _draw(self) -> None:
        self._size = self._console.size
        live = Live(self, console=self._console, auto_refresh=False, transient=True)
        self._drawn = ExitStack()
        self._drawn.enter_context(self._keyboard.silence_echo())
        self._live = self._drawn.enter_context(live)
        live.refresh()

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(1 / TICKS_A_SECOND)
            self.refresh()
