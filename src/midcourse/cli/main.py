"""`midcourse`: its commands as they are called, and what becomes of their errors.

What a command does is in the file of its name, which is imported when it is called: help has to be quick.
"""

import json as json_format
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated, Protocol, runtime_checkable

import typer

from midcourse.cli.options import (
    EXIT_CODES,
    Address,
    Again,
    All,
    At,
    BatchId,
    Change,
    Concurrency,
    Current,
    DetachUp,
    Diff,
    ExampleName,
    Fleet,
    Grace,
    Home,
    HostJson,
    Idle,
    Inputs,
    Journal,
    Json,
    OnceJson,
    Port,
    Quiet,
    ReadyFile,
    Results,
    Run,
    RunId,
    RunOrBatch,
    Set,
    Task,
    TokenFile,
    Worlds,
    teach,
)
from midcourse.errors import MidcourseError

MISUSE = 2
OF_FLEETS = ("alembic", "cryptography", "psycopg", "sqlalchemy", "temporalio")
"""Packages that the base install does not have."""

app = typer.Typer(
    name="midcourse",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    epilog="Start here: [cyan]midcourse run notepad[/cyan]\n\n" + EXIT_CODES,
)


@app.command(
    name="run",
    epilog=teach(
        ("midcourse run notepad", "a task that ships with Midcourse"),
        ("midcourse run invoice.toml --set max_calls=10", "your own, on a tighter budget"),
        ("midcourse run order --json | jq .final_reason", "for programs"),
        ("midcourse run invoice --inputs rows.csv --results done.csv", "once for every row, four at a time"),
    ),
)
def run_command(
    task: Task,
    set_: Set = None,
    json: Json = False,
    quiet: Quiet = False,
    run_id: RunId = "",
    inputs: Inputs = "",
    concurrency: Concurrency = None,
    results: Results = "",
    batch: BatchId = "",
    again: Again = False,
) -> None:
    """Carry out a task, or one for every row of a table, and watch it.

    In a terminal you see the plan, what is observed and the budget, and are
    asked before anything irreversible is done. Ctrl-C pauses and lets you
    choose; Ctrl-C twice leaves the run to be resumed.

    Without a terminal nobody can be asked, so what needs an approval is
    denied; Ctrl-C cancels.

    A task with a key is done once: a second run under it returns the first,
    or goes on with it.

    Exit codes: 0 success (of all rows), 1 ended without success, 2 misuse,
    130 left before its end.
    """
    from midcourse.cli.run import refuse_mixture, run, run_rows

    refuse_mixture(inputs=inputs, run_id=run_id, batch_id=batch, results=results, concurrency=concurrency)
    if not inputs:
        raise typer.Exit(run(task, set_ or [], run_id=run_id, again=again, json=json, quiet=quiet))
    code = run_rows(
        task,
        set_ or [],
        inputs=inputs,
        batch_id=batch,
        concurrency=concurrency,
        results=results,
        again=again,
        json=json,
        quiet=quiet,
    )
    raise typer.Exit(code)


@app.command(
    name="resume",
    epilog=teach(
        ("midcourse resume last", "the latest run"),
        ("midcourse resume 20260802-11", "the beginning of an id is enough"),
    ),
)
def resume_command(run: RunOrBatch, set_: Home = None, json: Json = False, quiet: Quiet = False) -> None:
    """Go on with a run or a batch that was left, or whose process died.

    The world is looked at first. Nothing finished is done again, and of what
    was under way it is found out whether it happened. A run that has ended
    shows its verdict again.

    Exit codes: 0 success, 1 ended without success, 2 misuse, 130 left
    before its end.
    """
    from midcourse.cli.resume import resume

    raise typer.Exit(resume(run, set_ or [], json=json, quiet=quiet))


@app.command(
    name="runs",
    epilog=teach(
        ("midcourse runs", "the latest runs, and how they ended"),
        ("midcourse runs --all --json", "all of them, for programs"),
    ),
)
def runs_command(set_: Home = None, all_: All = False, json: Json = False) -> None:
    """List the runs that are kept here, the latest first."""
    from midcourse.cli.runs import list_runs

    list_runs(set_ or [], everything=all_, json=json)


@app.command(
    name="show",
    epilog=teach(
        ("midcourse show last", "its plans with why each was made, the journal in brief, the verdict"),
        ("midcourse show last --json | jq .plans", "for programs"),
    ),
)
def show_command(run: Run, set_: Home = None, json: Json = False) -> None:
    """Show what a run did and why, whether it has ended or not."""
    from midcourse.cli.show import show

    show(run, set_ or [], json=json)


@app.command(
    name="plans",
    epilog=teach(
        ("midcourse plans last", "every version, why it was made, and what was mended in it"),
        ("midcourse plans last --diff 1 2", "what the second kept, dropped and added, and why there is one"),
    ),
)
def plans_command(journal: Journal, diff: Diff = None, set_: Home = None, json: Json = False) -> None:
    """Show the plan versions of a run, or what changed between two of them."""
    from midcourse.cli.plans import plans

    plans(journal, diff, set_ or [], json=json)


@app.command(
    name="replay",
    epilog=teach(
        ("midcourse replay last", "the same commands again, to the byte"),
        ("midcourse replay last --set max_replans=2", "what would have been saved, and what lost"),
    ),
)
def replay_command(journal: Journal, set_: Change = None, json: Json = False) -> None:
    """Put a recorded run through the director again, under other settings.

    Nothing is done and no model is asked. The answer is exact where the run
    would only have ended, or asked you, earlier. Where it would have acted
    differently, nobody knows what would have come of it, and it says so.

    Exit codes: 0 there is an answer, 1 the unchanged run came to something
    else (a bug), 2 misuse.
    """
    from midcourse.cli.replay import replay

    raise typer.Exit(replay(journal, set_ or [], json=json))


@app.command(
    name="fork",
    epilog=teach(
        ("midcourse fork last --at 12", "go on from there once more, in a world of its own"),
        ("midcourse fork last --at 12 --set max_replans=2", "under other settings from there on"),
    ),
)
def fork_command(journal: Journal, at: At, set_: Change = None, json: Json = False, quiet: Quiet = False) -> None:
    """Go on live from one event of a recorded run, as a new run.

    A fresh world is brought to that point: what the recorded run did is done
    again, and what is seen is compared. Only worlds that can be rebuilt, such
    as the simulated ones, can be forked. Approvals are asked for anew.

    Exit codes: 0 success, 1 ended without success, 2 misuse, 130 left
    before its end.
    """
    from midcourse.cli.fork import fork

    raise typer.Exit(fork(journal, at, set_ or [], json=json, quiet=quiet))


@app.command(
    name="host",
    epilog=teach(
        ("midcourse host", "every simulated world, on a free port of this machine"),
        ("midcourse host --worlds shop,your_package.module:Mail", "one of them, and one of your own"),
        ("midcourse host --port 4100 --json", "for programs: where it listens, once it does"),
    ),
)
def host_command(
    worlds: Worlds = "",
    port: Port = 0,
    address: Address = "127.0.0.1",
    idle: Idle = 600.0,
    grace: Grace = 10.0,
    token_file: TokenFile = "",
    ready: ReadyFile = "",
    set_: Home = None,
    json: HostJson = False,
) -> None:
    """Own the sessions of worlds for a fleet of runs, until it is told to stop.

    A session belongs to this process, not to the worker that acts in it: a
    worker may die, and the next one takes the session over as it is. Whoever
    was taken over from can no longer act, however late it wakes up.

    It writes url and token into a file that only you can read. Whoever has
    the token can open the worlds named here, and no others.

    Ctrl-C lets the acts under way finish, closes every world and stops.
    Sessions do not outlive their host: their runs open new ones.

    Exit codes: 0 stopped, 1 stopped although a world would not close,
    2 misuse.
    """
    from midcourse.cli.host import host

    code = host(
        set_ or [],
        worlds=worlds,
        address=address,
        port=port,
        idle=idle,
        grace=grace,
        token_file=token_file,
        ready=ready,
        json=json,
    )
    raise typer.Exit(code)


@app.command(
    name="up",
    epilog=teach(
        ("midcourse up", "in a terminal of its own; Ctrl-C stops all of it"),
        ("midcourse up --detach", "in the background, until midcourse down"),
    ),
)
def up_command(detach: DetachUp = False, set_: Home = None, json: OnceJson = False) -> None:
    """Start a whole fleet on this machine, for development.

    PostgreSQL, Temporal with its web page, a host for worlds and a worker: no
    installation besides pip install 'midcourse\\[up]', no container, nothing that
    another machine can reach. The other commands find it by themselves.

    What it keeps is in .midcourse/up. Started again, it goes on from there;
    started while it runs, it starts what is missing and nothing else.

    Exit codes: 0 stopped, or up and left running; 2 it could not start.
    """
    from midcourse.cli.up import up

    raise typer.Exit(up(set_ or [], detach=detach, json=json))


@app.command(
    name="down",
    epilog=teach(
        ("midcourse down", "stop what midcourse up --detach left running"),
    ),
)
def down_command(set_: Home = None, json: Json = False) -> None:
    """Stop the fleet that `midcourse up` started here, and nothing else.

    Its runs are kept, and go on when it is started again.
    """
    from midcourse.cli.up import down

    raise typer.Exit(down(set_ or [], json=json))


@app.command(
    name="worker",
    epilog=teach(
        ("midcourse worker", "one more for the fleet that midcourse up started here"),
        (
            "midcourse worker --set tenant=acme --set heartbeat_seconds=2",
            "another tenant's, and noticed sooner if it dies",
        ),
        ("midcourse worker --set build=2026-08-02 --current", "a new build, on which new runs begin"),
    ),
)
def worker_command(set_: Fleet = None, current: Current = False, json: OnceJson = False) -> None:
    """Drive durable runs and do what they command, until it is told to stop.

    Start as many as you like, on as many machines: they share the runs of a
    tenant. If one dies, others go on with its runs: nothing finished is done
    again, and of what was under way it is found out whether it happened.

    Where Temporal and PostgreSQL are is said by MIDCOURSE_TEMPORAL_ADDRESS and
    MIDCOURSE_DATABASE_URL, or by the fleet that `midcourse up` left in .midcourse.

    Ctrl-C takes nothing new, finishes the steps under way, and stops.

    Exit codes: 0 stopped, 2 misuse, or no fleet there.
    """
    from midcourse.cli.worker import worker

    raise typer.Exit(worker(set_ or [], current=current, json=json))


@app.command(
    name="examples",
    epilog=teach(
        ("midcourse examples", "what there is"),
        ("midcourse examples order > order.toml", "make one your own"),
    ),
)
def examples_command(name: ExampleName = "", json: Json = False) -> None:
    """List the tasks that ship with Midcourse, or print the file of one."""
    from midcourse.cli.examples import examples

    examples(name, json=json)


@app.command(
    name="settings",
    epilog=teach(
        ("midcourse settings", "all of them"),
        ("MIDCOURSE_MAX_CALLS=5 midcourse settings --json", "as a run started like this would have them"),
    ),
)
def settings_command(json: Json = False) -> None:
    """List every setting: its value now, its default, and what it changes.

    What is said last wins: --set over the environment (MIDCOURSE_MAX_CALLS, or
    a .env file) over the task file over the default.
    """
    from midcourse.cli.settings import settings

    settings(json=json)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"midcourse {version('midcourse')}")
        raise typer.Exit


@app.callback()
def top(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Agents that plan as far as they can see, look again, and do nothing twice by accident."""


@runtime_checkable
class UsageError(Protocol):
    """What Typer raises for a command line that it does not understand; it has no public name."""

    exit_code: int

    def format_message(self) -> str: ...
    def show(self) -> None: ...


def main(args: Sequence[str] | None = None) -> int:
    """The exit code. What went wrong is told in words, or with `--json` as an object; only a bug leaves a traceback."""
    args = sys.argv[1:] if args is None else args
    try:
        code = app(list(args), prog_name="midcourse", standalone_mode=False)
    except MidcourseError as misuse:
        return _misuse(str(misuse), args)
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in OF_FLEETS:
            raise
        return _misuse(f"{missing.name} is not installed; durable runs need pip install 'midcourse[temporal]'", args)
    except OSError as trouble:
        return _misuse(f"{trouble.filename or 'a file'}: {trouble.strerror or trouble}", args)
    except Exception as error:
        if isinstance(error, UsageError) and "--json" not in args:
            error.show()
            return MISUSE
        if isinstance(error, UsageError):
            return _misuse(error.format_message(), args)
        if "--json" not in args:
            raise
        traceback.print_exc()
        return _misuse(f"{type(error).__name__}: {error}", args)
    return code if isinstance(code, int) else 0


def _misuse(problem: str, args: Sequence[str]) -> int:
    if "--json" in args:
        print(json_format.dumps({"error": problem}), flush=True)
    else:
        print(f"midcourse: {problem}", file=sys.stderr)
    return MISUSE
