"""`midcourse migrate`: bring a fleet's database to the schema of this version."""

from collections.abc import Sequence

from rich.text import Text
from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError, OperationalError

from midcourse.app.fleet.settings import FleetSettings
from midcourse.app.settings.run import Settings
from midcourse.cli.overrides import pairs, split
from midcourse.cli.view.terminal import print_object, terminal
from midcourse.errors import FleetUnavailable
from midcourse.store.postgres.migrate import migrate as migrate_database

DONE = 0


def migrate(overrides: Sequence[str], *, json: bool) -> int:
    of_runs, of_fleets = split(overrides)
    url = FleetSettings.load(Settings.load(overrides=pairs(of_runs)).home, of_fleets).database_url.get_secret_value()
    if not url:
        raise FleetUnavailable("which database? say MIDCOURSE_DATABASE_URL, as whoever owns the tables")
    try:
        where = make_url(url).render_as_string(hide_password=True)
        migrate_database(url)
    except (ArgumentError, OperationalError) as trouble:
        raise FleetUnavailable(f"the database cannot be reached: {trouble}") from trouble
    if json:
        print_object({"database": where})
    else:
        said = f"{where} has the schema of this version, and room for the months ahead"
        terminal().console.print(Text(said), soft_wrap=True)
    return DONE
