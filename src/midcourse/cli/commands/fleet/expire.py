"""`midcourse fleet expire`: deletes what a fleet stored about the runs of a month."""

import asyncio
from datetime import datetime
from typing import Annotated

import typer

from midcourse.cli.options import Fleet, Json, split_home, teach
from midcourse.config.fleet_settings import FleetSettings
from midcourse.errors import FleetUnavailable
from midcourse.presentation.vocabulary import pluralize
from midcourse.terminal.output import print_outcome

DONE = 0


commands = typer.Typer()


@commands.command(
    epilog=teach(
        ("midcourse fleet expire 2026-01", "prints how many runs would be affected"),
        ("midcourse fleet expire 2026-01 --yes", "deletes their journals, observations and screenshots"),
    ),
)
def expire(
    month: Annotated[
        datetime,
        typer.Argument(formats=["%Y-%m"], metavar="MONTH", help="The month in which the runs began, such as 2026-01."),
    ],
    yes: Annotated[bool, typer.Option("--yes", help="Really delete them.")] = False,
    set_: Fleet = None,
    json: Json = False,
) -> int:
    """Delete the journals, observations and screenshots of a month's runs, for all tenants.

    Results, plans, the ledger and the audit log stay. The command needs the
    rights of the owner of the tables. If screenshots are stored outside the
    database, it also needs the right to delete them there.

    Exit codes: 0 done, 2 misuse, or the database does not answer.
    """
    from midcourse.fleet.retention import expire_month

    settings, of_fleet = split_home(set_)
    fleet = FleetSettings.load(settings.home, of_fleet)
    if not fleet.database_url.get_secret_value():
        raise FleetUnavailable("no database: set MIDCOURSE_DATABASE_URL, with the user that owns the tables")
    expired = asyncio.run(expire_month(fleet, settings.home, month.date(), really=yes))
    runs = pluralize(expired.runs, "run")
    dropped = ", ".join(expired.dropped) or "nothing: there is no such month"
    what = f"{runs}; deleted {dropped}" if yes else f"{runs}; to delete what they saw and did: --yes"
    print_outcome({"runs": expired.runs, "dropped": list(expired.dropped)}, what, json=json)
    return DONE
