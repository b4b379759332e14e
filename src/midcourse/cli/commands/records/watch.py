"""`midcourse watch`: the durable runs of a fleet as they progress, or one of them to its end."""

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from midcourse.app.fleet.settings import FleetSettings
from midcourse.app.presentation.vocabulary import format_time
from midcourse.cli.commands.records.runs import latest_durable, line_of, plain, tabbed, table_of
from midcourse.cli.lookup import open_durable_run
from midcourse.cli.options import Fleet, Json, Quiet, teach
from midcourse.cli.overrides import Overrides, load_fleet_settings
from midcourse.cli.session.keyboard import Keyboard
from midcourse.cli.session.local import Verbosity
from midcourse.cli.session.screen import LiveView
from midcourse.cli.session.signals import is_set_within, stop_event
from midcourse.cli.view.symbols import Marks
from midcourse.cli.view.terminal import Terminal, print_object, terminal
from midcourse.ports.store import RunSummary

if TYPE_CHECKING:
    from midcourse.app.fleet.connection import Fleet as FleetConnection

LEFT = 0
EVERY = 1.0
"""Seconds between two looks at the database."""
MOST = 100
"""Runs that are watched: the newest."""
HINT = "Ctrl-C leaves; the runs continue"

commands = typer.Typer()


@commands.command(
    epilog=teach(
        ("midcourse watch", "a table of the fleet's runs that is kept up to date"),
        ("midcourse watch last", "one of them, as if you had begun it here; you may answer what it asks"),
        ("midcourse watch --json", "a line for every change, for programs"),
    ),
)
def watch(
    run: Annotated[
        str,
        typer.Argument(
            metavar="[RUN]", help="A run's id, the beginning of one, or 'last'; all runs if none.", show_default=False
        ),
    ] = "",
    set_: Fleet = None,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Watch the durable runs of a fleet, or follow one of them to its end.

    Leaving with Ctrl-C changes nothing about any run.

    Exit codes: 0 left, or the run succeeded, 1 it ended without success,
    2 misuse, or no fleet there, 130 left before the end of the run.
    """
    _, settings = load_fleet_settings(set_)
    if run:
        return asyncio.run(_watch_one(run, set_, settings, Verbosity(json=json, quiet=quiet)))
    return asyncio.run(_watch_all(settings, json=json))


async def _watch_one(name: str, overrides: Overrides, settings: FleetSettings, verbosity: Verbosity) -> int:
    from midcourse.cli.session.durable import watch_durable

    async with open_durable_run(name, overrides) as there:
        run_id = there.run.id
    return await watch_durable(run_id, settings, verbosity)


async def _watch_all(settings: FleetSettings, *, json: bool) -> int:
    from midcourse.app.fleet.connection import connected

    stopped = stop_event()
    where = terminal(silent=json)
    async with connected(settings) as fleet:
        if not where.live:
            await _changes(fleet, stopped, lambda run, state: _report(run, state, where, json=json))
            return LEFT
        view = RunsView(settings.tenant, where.marks)
        with LiveView(where.console, view, Keyboard(), HINT).open():
            while not stopped.is_set():
                view.runs = await latest_durable(fleet, MOST)
                await is_set_within(stopped, EVERY)
    return LEFT


async def _changes(fleet: "FleetConnection", stopped: asyncio.Event, report: Callable[[RunSummary, str], None]) -> None:
    """Report every run once, then every change."""
    known: dict[str, str] = {}
    while not stopped.is_set():
        for run, state in reversed(await latest_durable(fleet, MOST)):
            if known.get(run.id) != state:
                known[run.id] = state
                report(run, state)
        await is_set_within(stopped, EVERY)


def _report(run: RunSummary, state: str, where: Terminal, *, json: bool) -> None:
    if json:
        print_object({"at": round(time.time(), 3), **plain(run, state)})
    else:
        print(f"{format_time(time.time())[11:]}\t{tabbed(run, state, where)}", flush=True)


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
