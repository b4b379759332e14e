"""`midcourse fleet migrate`: brings a fleet's database to the schema of this version."""

import typer

from midcourse.cli.options import Fleet, Json, split_home, teach
from midcourse.config.fleet_settings import FleetSettings
from midcourse.errors import FleetUnavailable
from midcourse.terminal.output import print_outcome

DONE = 0


commands = typer.Typer()


@commands.command(
    epilog=teach(
        (
            "MIDCOURSE_DATABASE_URL=postgresql://owner@db/fleet midcourse fleet migrate",
            "before the workers of a new version",
        ),
    ),
)
def migrate(set_: Fleet = None, json: Json = False) -> int:
    """Bring a fleet's database to the schema of this version.

    Run it before the first worker starts, with every new version, and a few
    times a year to create the partitions of the months ahead. Repeating it
    does no harm. It needs the rights of the owner of the tables, which workers
    must not have. midcourse up does it by itself.

    Exit codes: 0 done, 2 misuse, or the database does not answer.
    """
    from midcourse.home.fleet_store import migrate_database

    settings, of_fleet = split_home(set_)
    fleet = FleetSettings.load(settings.home, of_fleet)
    if not fleet.database_url.get_secret_value():
        raise FleetUnavailable("no database: set MIDCOURSE_DATABASE_URL, with the user that owns the tables")
    where = migrate_database(fleet)
    text = f"{where} has the schema of this version, and room for the months ahead"
    print_outcome({"database": where}, text, json=json)
    return DONE
