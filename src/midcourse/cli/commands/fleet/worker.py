"""`midcourse worker`: takes part in a fleet until it is told to stop."""

import asyncio
import logging
import os
import signal
from collections.abc import Sequence
from pathlib import Path

from rich.text import Text
from sqlalchemy import make_url

from midcourse.app.fleet.connection import Fleet, connected
from midcourse.app.fleet.settings import FleetSettings
from midcourse.app.fleet.worker import make_build_current, worker_of
from midcourse.app.home import open_home
from midcourse.cli.overrides import fleet_with
from midcourse.cli.view.terminal import Terminal, print_object, terminal
from midcourse.errors import TaskInvalid
from midcourse.redact import log_discreetly

STOPPED = 0


def worker(overrides: Sequence[str], *, current: bool, json: bool) -> int:
    home, settings = fleet_with(overrides)
    open_home(home)
    if current and not settings.build:
        raise TaskInvalid("--current is for a worker with a build: say which, with --set build=NAME")
    log_discreetly(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    return asyncio.run(_work(home, settings, current=current, json=json))


async def _work(home: Path, settings: FleetSettings, *, current: bool, json: bool) -> int:
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    where = terminal(silent=json)
    async with connected(settings) as fleet, worker_of(fleet, home):
        if current:
            await make_build_current(fleet)
        _announce(fleet, where, json=json)
        await stopped.wait()
        if not json:
            _say(where, f"taking nothing new; what is under way gets {settings.shutdown_seconds:g} s")
    if not json:
        _say(where, "stopped; its runs go on with other workers, or when one is started")
    return STOPPED


def _announce(fleet: Fleet, where: Terminal, *, json: bool) -> None:
    settings = fleet.settings
    database = make_url(settings.database_url.get_secret_value()).render_as_string(hide_password=True)
    facts = {
        "pid": os.getpid(),
        "tenant": settings.tenant,
        "temporal": settings.temporal_address,
        "namespace": settings.temporal_namespace,
        "database": database,
        "host_file": str(settings.host_file or ""),
        "build": settings.build,
    }
    if json:
        print_object(facts)
        return
    build = f", build {settings.build}" if settings.build else ""
    _say(where, f"working for tenant '{settings.tenant}', process {os.getpid()}{build}")
    _say(where, f"Temporal: {settings.temporal_address}, namespace '{settings.temporal_namespace}'")
    _say(where, f"database: {database}")
    _say(where, f"worlds: at the host in {settings.host_file}" if settings.host_file else "worlds: beside this worker")
    _say(where, f"to stop: Ctrl-C, or kill {os.getpid()}; steps under way are finished first")


def _say(where: Terminal, text: str) -> None:
    where.console.print(Text(where.marks.clean(text)), soft_wrap=True)
