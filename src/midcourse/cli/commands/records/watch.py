"""`midcourse watch`: shows runs as they progress, or follows one of them to its end, from any terminal."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Annotated, TypeAlias

import typer
from rich.console import RenderableType
from rich.text import Text

from midcourse.cli.commands.records.runs import latest_durable, latest_local, line_of, run_json, tab_separated, table_of
from midcourse.cli.lookup import open_local_store, open_run
from midcourse.cli.options import (
    HOME,
    Fleet,
    Json,
    Overrides,
    Quiet,
    RequireVerified,
    Verbosity,
    load_both_settings,
    load_fleet_settings,
    next_runs,
    teach,
)
from midcourse.cli.session.local import print_result
from midcourse.cli.session.screen import LiveView
from midcourse.cli.session.signals import is_set_within, stop_event
from midcourse.cli.session.watching import WatchSession
from midcourse.cli.view.run import draw_frame
from midcourse.home.folder import has_store
from midcourse.ports.store import RunSummary
from midcourse.presentation.vocabulary import format_time
from midcourse.terminal.output import Marks, Terminal, print_object, terminal
from midcourse.terminal.prompt import Keyboard

Latest: TypeAlias = Callable[[], Awaitable[list[tuple[RunSummary, str]]]]
"""Reads the newest runs and their states."""

LEFT = 0
EVERY = 1.0
"""Seconds between two reads of the database."""
MOST = 100
"""The number of runs that are watched, the newest ones."""
HINT = "Ctrl-C leaves; the runs continue"

commands = typer.Typer()


@commands.command(
    epilog=teach(
        ("midcourse watch", "a table of the runs that is kept up to date"),
        ("midcourse watch last", "one run, as if you had started it here; you can answer its questions"),
        ("midcourse watch --json", "a line for every change, for programs"),
    ),
)
def watch(
    run: Annotated[
        str,
        typer.Argument(
            metavar="[RUN]",
            help="A run's id, the beginning of one, or 'last'; all runs if none.",
            show_default=False,
            autocompletion=next_runs,
        ),
    ] = "",
    set_: Fleet = None,
    json: Json = False,
    quiet: Quiet = False,
    require_verified: RequireVerified = False,
) -> int:
    """Watch runs as they progress, or follow one of them to its end.

    RUN may be driven by a process on this machine or by a fleet, and any
    number of terminals may watch it. A run that no process drives is shown as
    it is, and followed once it is resumed. Without RUN, the command shows the
    runs of the fleet, or those in this home if there is no fleet.

    Ctrl-C only stops watching: it changes nothing about any run.

    Exit codes: 0 left, or the run succeeded, 1 it ended without success,
    2 misuse, or nothing to watch, 3 done but not verified (with
    --require-verified), 130 left before the end of the run.
    """
    if run:
        return asyncio.run(_watch_one(run, set_, Verbosity(json=json, quiet=quiet, require_verified=require_verified)))
    return asyncio.run(_watch_all(set_, json=json))


async def _watch_one(name: str, overrides: Overrides, verbosity: Verbosity) -> int:
    async with open_run(name, overrides) as there:
        result = await there.control.store.result(there.run.id)
        if result is not None:
            return await print_result(result, there.control.store, there.folder, verbosity, ended=True)
        session = WatchSession(there.control, verbosity, name=there.task, goal=there.run.goal)
        return await session.follow(there.folder)


async def _watch_all(overrides: Overrides, *, json: bool) -> int:
    stopped = stop_event()
    where = terminal(silent=json)
    async with _open_runs(overrides) as (title, latest):
        if not where.live:
            await _report_changes(latest, stopped, lambda run, state: _report(run, state, where, json=json))
            return LEFT
        view = RunsView(title, where.marks)
        with LiveView(where.console, view, Keyboard(), HINT).open():
            while not stopped.is_set():
                view.runs = await latest()
                await is_set_within(stopped, EVERY)
    return LEFT


@asynccontextmanager
async def _open_runs(overrides: Overrides) -> AsyncGenerator[tuple[str, Latest]]:
    """Yield a title, and a function that reads the newest runs of the fleet, or of this home if no fleet is configured."""
    home, fleet_settings = load_both_settings(overrides, HOME)
    if fleet_settings is None and has_store(home):
        with open_local_store(home) as store:

            async def latest() -> list[tuple[RunSummary, str]]:
                return latest_local(store, MOST)

            yield f"runs in {home.home}", latest
        return
    from midcourse.fleet.connection import connect_fleet

    _, settings = load_fleet_settings(overrides)
    async with connect_fleet(settings) as fleet:
        yield f"runs of {settings.tenant}", lambda: latest_durable(fleet, MOST)


async def _report_changes(latest: Latest, stopped: asyncio.Event, report: Callable[[RunSummary, str], None]) -> None:
    """Report every run once, then every change."""
    known: dict[str, str] = {}
    while not stopped.is_set():
        for run, state in reversed(await latest()):
            if known.get(run.id) != state:
                known[run.id] = state
                report(run, state)
        await is_set_within(stopped, EVERY)


def _report(run: RunSummary, state: str, where: Terminal, *, json: bool) -> None:
    if json:
        print_object({"at": round(time.time(), 3), **run_json(run, state)})
    else:
        print(f"{format_time(time.time())[11:]}\t{tab_separated(run, state, where)}", flush=True)


class RunsView:
    """The newest runs as a table."""

    def __init__(self, title: str, marks: Marks) -> None:
        self.runs: list[tuple[RunSummary, str]] = []
        self._title = title
        self._marks = marks

    def render(self, *, width: int, height: int, now: float, hint: str = "") -> RenderableType:
        """Draw the view, never higher than `height` and never wider than `width`."""
        most = max(1, height - 3)
        lines = [line_of(run, state) for run, state in self.runs[:most]]
        inside = table_of(lines, self._marks, width - 4) if lines else Text("no runs yet", "dim")
        return draw_frame([inside], self._title, hint, self._marks, width=width)
