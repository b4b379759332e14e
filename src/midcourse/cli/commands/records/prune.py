"""`midcourse prune`: deletes the records of runs that ended long ago."""

import asyncio
import re
import time
from typing import Annotated

import typer

from midcourse.cli.options import DurableOnly, Fleet, HomeFolder, Json, load_both_settings, teach, with_options
from midcourse.errors import FleetUnavailable, TaskInvalid
from midcourse.presentation.vocabulary import pluralize
from midcourse.terminal.output import print_outcome

DAY = 86_400.0
SECONDS = {"h": 3_600.0, "d": DAY, "w": 7 * DAY}
AGE = re.compile(r"([0-9]+(?:\.[0-9]+)?)([hdw])")
MEGABYTE = 1_000_000

commands = typer.Typer()


@commands.command(
    epilog=teach(
        ("midcourse prune --older-than 90d --dry-run", "prints how many runs would be pruned"),
        ("midcourse prune --older-than 90d", "deletes their journals, plans, observations, files and pictures"),
        ("midcourse prune --durable", "prunes runs of the fleet's tenant, by the setting retention_days"),
    ),
)
def prune(
    older_than: Annotated[
        str,
        typer.Option(
            "--older-than",
            metavar="AGE",
            help="Prune runs that ended longer ago than this: 90d, 12w or 36h; by default the setting retention_days.",
            show_default=False,
        ),
    ] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print how many runs would be pruned.")] = False,
    durable: DurableOnly = False,
    set_: Fleet = None,
    home: HomeFolder = "",
    json: Json = False,
) -> int:
    """Delete journals, plans, observations, files and pictures of runs that ended long ago.

    Goals, inputs, results, business keys, the audit log and the record of
    irreversible acts stay: a task that is started again under the same key is
    still not done twice. With --durable, the database URL must be that of the
    owner of the tables.

    Exit codes: 0 done, 2 misuse, or the database does not answer.
    """
    settings, fleet = load_both_settings(with_options(set_, home=home), "home", "retention_days")
    age = parse_age(older_than) if older_than else (settings.retention_days or 0.0) * DAY
    if not age:
        raise TaskInvalid("how old? --older-than 90d, or set retention_days")
    now = time.time()
    if durable:
        if fleet is None or not fleet.database_url.get_secret_value():
            raise FleetUnavailable("no database: set MIDCOURSE_DATABASE_URL, with the user that owns the tables")
        from midcourse.fleet.retention import prune_tenant

        pruned = asyncio.run(prune_tenant(fleet, settings.home, now - age, now, dry_run=dry_run))
    else:
        from midcourse.home.folder import has_store
        from midcourse.home.retention import Pruned, prune_home

        prunes = prune_home(settings.home, now - age, now, dry_run=dry_run) if has_store(settings) else None
        pruned = asyncio.run(prunes) if prunes else Pruned(runs=0)
    freed = f"; the database is {pruned.freed_bytes / MEGABYTE:.1f} MB smaller" if pruned.freed_bytes else ""
    later = "" if pruned.shrunk else "; the file stays as large until no process drives a run"
    runs = pluralize(pruned.runs, "run")
    sentence = f"{runs} would be pruned" if dry_run else f"{runs} pruned{freed}{later}"
    print_outcome({"runs": pruned.runs, "freed_bytes": pruned.freed_bytes, "dry_run": dry_run}, sentence, json=json)
    return 0


def parse_age(text: str) -> float:
    """Parse an age such as 90d into seconds. Raises `TaskInvalid`."""
    found = AGE.fullmatch(text.strip().lower())
    if found is None:
        raise TaskInvalid(f"--older-than {text}: write a number and h, d or w, such as 90d")
    return float(found[1]) * SECONDS[found[2]]
