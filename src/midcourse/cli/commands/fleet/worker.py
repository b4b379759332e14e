"""`midcourse fleet worker`: drives durable runs until it is stopped."""

import asyncio
import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from midcourse.cli.options import Fleet, OnceJson, load_fleet_settings, teach
from midcourse.cli.session.signals import stop_event
from midcourse.config.fleet_settings import FleetSettings
from midcourse.home.folder import open_home
from midcourse.redact import log_with_redaction
from midcourse.terminal.output import Terminal, print_object, terminal

if TYPE_CHECKING:
    from midcourse.fleet.connection import Fleet as FleetConnection

STOPPED = 0


commands = typer.Typer()


@commands.command(
    epilog=teach(
        ("midcourse fleet worker", "one more for the fleet that midcourse up started here"),
        ("midcourse fleet worker --tenants acme,globex", "for several tenants, over the same connections"),
        (
            "midcourse fleet worker --set tenant=acme --set heartbeat_seconds=2",
            "another tenant's, and noticed sooner if it dies",
        ),
    ),
)
def worker(
    tenants: Annotated[
        str,
        typer.Option(
            "--tenants",
            metavar="A,B,…",
            help="Work for all of these tenants, over the same connections.",
            show_default=False,
        ),
    ] = "",
    set_: Fleet = None,
    json: OnceJson = False,
) -> int:
    """Carry out the runs of a fleet, until it is stopped.

    Start any number of workers on any number of machines: they share the runs
    of a tenant. If one dies, others continue its runs: they repeat nothing that
    is finished, and find out whether an interrupted step happened.

    MIDCOURSE_TEMPORAL_ADDRESS and MIDCOURSE_DATABASE_URL name Temporal and
    PostgreSQL; by default they are those that `midcourse up` started in .midcourse.

    After Ctrl-C the worker accepts nothing new, finishes its current steps and
    stops; other workers continue its runs. To deploy a new version, start its
    workers and stop the old ones.

    Exit codes: 0 stopped, 2 misuse, or no fleet answers.
    """
    home, settings = load_fleet_settings(set_)
    open_home(home)
    log_with_redaction(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    served = tuple(dict.fromkeys(name.strip() for name in tenants.split(",") if name.strip())) or (settings.tenant,)
    return asyncio.run(_work(home, settings, served, json=json))


async def _work(home: Path, settings: FleetSettings, tenants: tuple[str, ...], *, json: bool) -> int:
    from midcourse.fleet.connection import connect_tenants
    from midcourse.fleet.worker import run_workers

    stopped = stop_event()
    where = terminal(silent=json)
    async with connect_tenants(settings, tenants) as fleets, run_workers(fleets, home):
        _announce(fleets[0], tenants, where, json=json)
        await stopped.wait()
        if not json:
            where.say(f"taking nothing new; current steps get {settings.shutdown_seconds:g} s")
    if not json:
        where.say("stopped; other workers continue its runs, or the next one that is started")
    return STOPPED


def _announce(fleet: "FleetConnection", tenants: tuple[str, ...], where: Terminal, *, json: bool) -> None:
    from midcourse.home.fleet_store import database_label

    settings = fleet.settings
    database = database_label(settings)
    facts = {
        "pid": os.getpid(),
        "tenant": tenants[0],
        "tenants": list(tenants),
        "temporal": fleet.temporal,
        "namespace": fleet.client.namespace,
        "security": fleet.security,
        "database": database,
        "host_file": str(settings.host_file or ""),
        "task_modules": settings.task_modules,
    }
    if json:
        print_object(facts)
        return
    whom = f"tenant '{tenants[0]}'" if len(tenants) == 1 else f"{len(tenants)} tenants"
    where.say(f"working for {whom}, process {os.getpid()}")
    where.say(f"Temporal: {fleet.temporal}, {fleet.security}, namespace '{fleet.client.namespace}'")
    where.say(f"database: {database}")
    where.say(f"worlds: at the host in {settings.host_file}" if settings.host_file else "worlds: beside this worker")
    allowed = f"only Midcourse's own and {settings.task_modules}" if settings.task_modules else "any but Python's own"
    where.say(f"modules that tasks may name: {allowed}")
    where.say(f"to stop: Ctrl-C, or kill {os.getpid()}; current steps are finished first")
