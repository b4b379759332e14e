"""`midcourse runs watch`: the runs of a fleet as they go, or one of them to its end."""

import asyncio
import signal
import time
from collections.abc import Callable, Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from midcourse.app.fleet.connection import Fleet, connected
from midcourse.app.fleet.settings import FleetSettings
from midcourse.cli.commands.records.durable_runs import latest
from midcourse.cli.commands.records.runs import line_of, plain, tabbed, table_of
from midcourse.cli.lookup.durable import reached
from midcourse.cli.lookup.names import local_time
from midcourse.cli.overrides import fleet_with
from midcourse.cli.session.durable import watch_durable
from midcourse.cli.session.keyboard import Keyboard
from midcourse.cli.session.local import Manner
from midcourse.cli.session.screen import LiveView
from midcourse.cli.view.symbols import Marks
from midcourse.cli.view.terminal import Terminal, print_object, terminal
from midcourse.cli.waiting import is_set_within
from midcourse.ports.store import RunSummary

LEFT = 0
EVERY = 1.0
"""Seconds between two looks at the database."""
MOST = 100
"""Runs that are watched: the newest."""
HINT = "Ctrl-C leaves; the runs go on"


def watch(name: str, overrides: Sequence[str], *, json: bool, quiet: bool) -> int:
    _, settings = fleet_with(overrides)
    if name:
        return asyncio.run(_watch_one(name, overrides, settings, Manner(json=json, quiet=quiet)))
    return asyncio.run(_watch_all(settings, json=json))


async def _watch_one(name: str, overrides: Sequence[str], settings: FleetSettings, manner: Manner) -> int:
    async with reached(name, overrides) as there:
        run_id = there.run.id
    return await watch_durable(run_id, settings, manner)


async def _watch_all(settings: FleetSettings, *, json: bool) -> int:
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    where = terminal(silent=json)
    async with connected(settings) as fleet:
        if not where.live:
            await _changes(fleet, stopped, lambda run, state: _tell(run, state, where, json=json))
            return LEFT
        view = RunsView(settings.tenant, where.marks)
        with LiveView(where.console, view, Keyboard(), HINT).open():
            while not stopped.is_set():
                view.runs = await latest(fleet, MOST)
                await is_set_within(stopped, EVERY)
    return LEFT


async def _changes(fleet: Fleet, stopped: asyncio.Event, tell: Callable[[RunSummary, str], None]) -> None:
    """First how everything stands, then what changes."""
    known: dict[str, str] = {}
    while not stopped.is_set():
        for run, state in reversed(await latest(fleet, MOST)):
            if known.get(run.id) != state:
                known[run.id] = state
                tell(run, state)
        await is_set_within(stopped, EVERY)


def _tell(run: RunSummary, state: str, where: Terminal, *, json: bool) -> None:
    if json:
        print_object({"at": round(time.time(), 3), **plain(run, state)})
    else:
        print(f"{local_time(time.time())[11:]}\t{tabbed(run, state, where)}", flush=True)


class RunsView:
    """The newest runs as a table."""

    def __init__(self, tenant: str, marks: Marks) -> None:
        self.runs: list[tuple[RunSummary, str]] = []
        self._tenant = tenant
        self._marks = marks

    def render(self, *, width: int, height: int, now: float, hint: str = "") -> RenderableType:
        """Never higher than `height` and never wider than `width`."""
        most = max(1, height - 3)
        lines = [line_of(run, state) for run, state in self.runs[:most]]
        inside = table_of(lines, self._marks, width - 4) if lines else Text("no runs yet", "dim")
        return Panel(
            Group(inside),
            box=box.ASCII if self._marks.ascii_only else box.ROUNDED,
            title=Text.assemble(("midcourse ", "bold"), (self._marks.fit(f"runs of {self._tenant}", 40), "cyan")),
            title_align="left",
            subtitle=Text(self._marks.fit(hint, max(4, width - 6)), "dim"),
            subtitle_align="right",
            border_style="dim",
            width=width,
        )
