"""The live view of a host: where it listens, and its sessions, the last used on top."""

from collections.abc import Sequence
from pathlib import Path

from rich import box
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from midcourse.agent.wiring import WORLDS
from midcourse.presentation.vocabulary import format_elapsed, pluralize
from midcourse.terminal.output import UNICODE, Marks
from midcourse.worlds.host.lifecycle import Host
from midcourse.worlds.host.wire import Listed

WIDEST, TALLEST = 120, 30
FIGURES = 32
"""The number of columns that the figures of a session take."""


class HostView:
    def __init__(self, host: Host, worlds: Sequence[str], ready: Path, marks: Marks = UNICODE) -> None:
        self._host = host
        self._worlds = worlds
        self._ready = ready
        self._marks = marks
        self._names = {spec: name for name, spec in WORLDS.items()}

    def render(self, *, width: int, height: int, now: float, hint: str = "") -> RenderableType:
        """Draw the view, never higher than `height` and never wider than `width`."""
        width = min(width, WIDEST)
        sessions = sorted(self._host.sessions.list(), key=lambda each: each.asked_seconds_ago)
        most = max(4, min(height, TALLEST) - 2)
        lines = [*self._head(width - 4), *self._table(sessions, width - 4, most - 4)]
        for line in lines:
            line.truncate(width - 4)
        return Panel(
            Group(*lines[:most]),
            box=box.ASCII if self._marks.ascii_only else box.ROUNDED,
            title=Text.assemble(("midcourse ", "bold"), ("host", "cyan")),
            title_align="left",
            subtitle=Text(self._marks.fit(hint, max(4, width - 6)), "dim"),
            subtitle_align="right",
            border_style="dim",
            width=width,
        )

    def _head(self, width: int) -> list[Text]:
        sessions = self._host.sessions
        counts = f"{pluralize(len(sessions), 'session')} now, {sessions.opened} since it began"
        fit = self._marks.fit
        return [
            Text.assemble((self._host.url, "bold cyan"), f"  {fit(counts, width - len(self._host.url) - 2)}"),
            Text(fit(f"worlds: {', '.join(self._worlds)}", width), "dim"),
            Text(fit(f"workers find it, and its token, in {self._ready}", width), "dim"),
        ]

    def _table(self, sessions: Sequence[Listed], width: int, most: int) -> list[Text]:
        if not sessions:
            return []
        shown = sessions if len(sessions) < most else sessions[: max(0, most - 2)]
        head = self._line("world", "key", f"{'open':>8}{'idle':>8}{'epoch':>8}{'acts':>8}", width)
        lines = [Text(head, "dim"), *(self._session(each, width) for each in shown)]
        if len(shown) < len(sessions):
            lines.append(Text(f"{self._marks.ellipsis} {len(sessions) - len(shown)} more", "dim"))
        return lines

    def _session(self, session: Listed, width: int) -> Text:
        asked = "now" if not session.asked_seconds_ago else format_elapsed(session.asked_seconds_ago)
        asked = "closing" if session.closing else asked
        figures = f"{format_elapsed(session.open_seconds):>8}{asked:>8}{session.epoch:>8}{session.acts:>8}"
        world = self._names.get(session.world, session.world)
        return Text(self._line(world, session.key, figures, width), "yellow" if session.closing else "")

    def _line(self, world: str, key: str, figures: str, width: int) -> str:
        room = max(12, width - FIGURES - 2)
        column = room // 3
        return f"{self._cell(world, column)}  {self._cell(key, room - column)}{figures}"

    def _cell(self, text: str, width: int) -> str:
        fitted = self._marks.fit(text, width)
        return fitted + " " * (width - len(fitted))
