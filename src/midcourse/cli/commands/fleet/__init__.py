"""`midcourse fleet`: starts the parts of a fleet one by one, and looks after its database."""

from typing import ClassVar

import typer

from midcourse.cli.lazy import Entry, LazyGroup

_HERE = "midcourse.cli.commands.fleet."


class FleetCommands(LazyGroup):
    table: ClassVar = {
        "worker": Entry(f"{_HERE}worker", "Carry out the runs of a fleet, until it is stopped."),
        "host": Entry(
            f"{_HERE}host", "Open worlds, such as browsers, for the workers of a fleet, until it is stopped."
        ),
        "migrate": Entry(f"{_HERE}migrate", "Bring a fleet's database to the schema of this version."),
        "expire": Entry(f"{_HERE}expire", "Delete journals, observations and screenshots of the runs of a month."),
    }


commands = typer.Typer(cls=FleetCommands, no_args_is_help=True)


@commands.callback()
def fleet() -> None:
    """Start a worker or a world host, or look after a fleet's database. `midcourse up` does all of it on one machine."""
