"""`midcourse runs` and what can be asked of runs below it."""

import typer

from midcourse.cli.options import All, DurableOnly, Fleet, Json, Quiet, Run, WatchedRun, teach

commands = typer.Typer(
    invoke_without_command=True,
    epilog=teach(
        ("midcourse runs", "the latest runs in this home, and how they ended"),
        ("midcourse runs --durable", "those of the fleet"),
        ("midcourse runs --all --json", "all of them, for programs"),
        ("midcourse runs watch", "the fleet's, as they go"),
    ),
)


@commands.callback()
def runs_command(
    context: typer.Context, set_: Fleet = None, durable: DurableOnly = False, all_: All = False, json: Json = False
) -> None:
    """List runs, the latest first; show one, or watch them."""
    if context.invoked_subcommand is not None:
        return
    if durable:
        from midcourse.cli.commands.records.durable_runs import list_durable

        list_durable(set_ or [], everything=all_, json=json)
    else:
        from midcourse.cli.commands.records.runs import list_runs

        list_runs(set_ or [], everything=all_, json=json)


@commands.command(
    name="show",
    epilog=teach(
        ("midcourse runs show last", "the same as midcourse show last"),
    ),
)
def runs_show_command(run: Run, set_: Fleet = None, json: Json = False) -> None:
    """Show what a run did and why, whether it has ended or not."""
    from midcourse.cli.commands.records.show import show

    show(run, set_ or [], json=json)


@commands.command(
    name="watch",
    epilog=teach(
        ("midcourse runs watch", "a table of the fleet's runs that keeps up with them"),
        ("midcourse runs watch last", "one of them, as if you had begun it here; you may answer what it asks"),
        ("midcourse runs watch --json", "a line for every change, for programs"),
    ),
)
def runs_watch_command(run: WatchedRun = "", set_: Fleet = None, json: Json = False, quiet: Quiet = False) -> None:
    """Watch the durable runs of a fleet, or stay with one of them to its end.

    Leaving with Ctrl-C changes nothing about any run.

    Exit codes: 0 left, or the run succeeded, 1 it ended without success,
    2 misuse, or no fleet there, 130 left before the end of the run.
    """
    from midcourse.cli.commands.records.watch import watch

    raise typer.Exit(watch(run, set_ or [], json=json, quiet=quiet))
