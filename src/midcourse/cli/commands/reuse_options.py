"""`midcourse reuse` and what can be said about kept segments below it."""

from typing import Annotated

import typer

from midcourse.cli.options import DurableOnly, Fleet, Json, teach

commands = typer.Typer(
    invoke_without_command=True,
    epilog=teach(
        ("midcourse reuse", "what is kept in this home"),
        ("midcourse reuse --durable", "what the fleet keeps"),
        ("midcourse reuse drop 3f2a", "plan this one anew"),
    ),
)

Segment = Annotated[
    str,
    typer.Argument(
        metavar="[SEGMENT]", help="Its id, or the beginning of it; without one nothing but --all.", show_default=False
    ),
]
Everything = Annotated[bool, typer.Option("--all", help="Everything that is kept.")]


@commands.callback()
def reuse_command(context: typer.Context, set_: Fleet = None, durable: DurableOnly = False, json: Json = False) -> None:
    """List what worked and is done again without asking the planner (--set reuse=on)."""
    if context.invoked_subcommand is None:
        from midcourse.cli.commands.reuse import list_kept

        list_kept(set_ or [], durable=durable, json=json)


@commands.command(name="drop")
def drop_command(
    segment: Segment = "",
    everything: Everything = False,
    set_: Fleet = None,
    durable: DurableOnly = False,
    json: Json = False,
) -> None:
    """Drop one of them, or all: the next run asks the planner again.

    Exit codes: 0 dropped, 2 there is no such segment.
    """
    from midcourse.cli.commands.reuse import drop_kept

    drop_kept(segment, set_ or [], everything=everything, durable=durable, json=json)
