"""The commands about what people decided."""

from typing import Annotated

import typer

from midcourse.cli.options import DurableOnly, Fleet, Json, teach

commands = typer.Typer(help="What people decided, and whether the log of it is what was written.", no_args_is_help=True)

OfRun = Annotated[
    str, typer.Argument(metavar="[RUN]", help="Only of this run: its id, or the beginning of it.", show_default=False)
]
Through = Annotated[
    str,
    typer.Option(
        "--through",
        metavar="N:HASH|FILE",
        help="A head that you kept: as verify printed it, or the result.json of a run.",
    ),
]


@commands.command(
    name="show",
    epilog=teach(
        ("midcourse audit show", "every decision, who made it, and when"),
        ("midcourse audit show last-month --durable --json", "of one run of the fleet, for programs"),
    ),
)
def show_command(run: OfRun = "", set_: Fleet = None, durable: DurableOnly = False, json: Json = False) -> None:
    """Show what people said to runs, from the first word on."""
    from midcourse.cli.commands.records.audit import show

    show(run, set_ or [], durable=durable, json=json)


@commands.command(
    name="verify",
    epilog=teach(
        ("midcourse audit verify", "is every row what was written, and in its place?"),
        ("midcourse audit verify --through 41:9c1f…", "and does it lead through the head that you kept?"),
        ("midcourse audit verify --through result.json", "or through the one in a result that you kept"),
    ),
)
def verify_command(through: Through = "", set_: Fleet = None, durable: DurableOnly = False, json: Json = False) -> None:
    """Find out whether the audit log was tampered with.

    Rows that were changed, moved, added or taken out show by themselves. A
    log that was cut off or made up anew shows because results and journals
    remember otherwise. Whoever can write all three can make them fit: keep
    the head that this prints somewhere else, and give it to --through.

    Exit codes: 0 it holds, 1 it does not, 2 misuse.
    """
    from midcourse.cli.commands.records.audit import verify

    raise typer.Exit(verify(through, set_ or [], durable=durable, json=json))
