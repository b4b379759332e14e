"""The `midcourse` program: its table of commands, and how errors become exit codes."""

import json as json_format
import os
import sys
import traceback
import warnings
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Annotated, ClassVar, Protocol, TextIO, runtime_checkable

import typer

from midcourse.cli.lazy import Entry, LazyGroup
from midcourse.cli.options import EXIT_CODES
from midcourse.errors import MidcourseError

MISUSE, LEFT = 2, 130
OF_FLEETS = ("alembic", "cryptography", "psycopg", "sqlalchemy", "temporalio")
"""Packages that the base install does not have."""
HINTS = {
    "TASK": "a task is a file, or one that ships, such as `notepad`; `midcourse examples` lists these",
    "RUN": "a run is named by its id; `midcourse runs` lists them, and `last` is the latest",
}
"""What to type for an argument that is missing."""

START, RUNS, WHILE, KNOWN, SERVED, FLEETS = (
    "Start here",
    "Runs",
    "Control a run from any terminal",
    "Memory and policy",
    "Console, API and MCP",
    "Fleets",
)
_C = "midcourse.cli.commands."


class Commands(LazyGroup):
    """All commands, in the order in which `--help` lists them."""

    table: ClassVar = {
        "demo": Entry(f"{_C}start.demo", "Watch a run through a shop that goes wrong, in a real Chromium.", START),
        "do": Entry(f"{_C}start.do", "Let a model carry out one sentence in a browser.", START),
        "init": Entry(f"{_C}start.init", "Create a working task, world or planner to start from.", START),
        "examples": Entry(
            f"{_C}start.examples", "List the tasks that ship with Midcourse, or print one of them.", START
        ),
        "look": Entry(f"{_C}start.look", "See a web page as a planner sees it.", START),
        "doctor": Entry(f"{_C}start.doctor", "Check Chromium, keys, model, disk, permissions and fleet.", START),
        "settings": Entry(f"{_C}settings", "List settings: the value now, the default, and what each changes.", START),
        "completion": Entry(f"{_C}start.completion", "Print the completion script of a shell.", START),
        "run": Entry(f"{_C}run", "Carry out a task, or one for every row of a table, and watch it.", RUNS),
        "resume": Entry(f"{_C}resume", "Continue a run or batch that was paused or interrupted.", RUNS),
        "runs": Entry(f"{_C}records.runs", "List runs, the latest first.", RUNS),
        "show": Entry(
            f"{_C}records.show", "Show what a run did and why, its plans, or the difference between two plans.", RUNS
        ),
        "watch": Entry(
            f"{_C}records.watch", "Watch runs as they progress, or follow one to its end, from any terminal.", RUNS
        ),
        "effects": Entry(f"{_C}records.effects", "List what a run sent, with the evidence that it happened.", RUNS),
        "undo": Entry(f"{_C}undo", "Undo what a run did, newest first, and list what cannot be undone.", RUNS),
        "export": Entry(f"{_C}records.export", "Write a run as one HTML file that opens anywhere.", RUNS),
        "replay": Entry(
            f"{_C}records.replay", "Replay the decisions of a recorded run, under the same or other settings.", RUNS
        ),
        "fork": Entry(f"{_C}records.fork", "Continue live from one event of a recorded run, as a new run.", RUNS),
        "prune": Entry(f"{_C}records.prune", "Delete the records of runs that ended long ago.", RUNS),
        "approve": Entry(f"{_C}approvals", "Allow what a run asks for: exactly that, and nothing else.", WHILE),
        "reject": Entry(f"{_C}approvals", "Refuse what a run asks for.", WHILE),
        "answer": Entry(f"{_C}approvals", "Tell a run whether something happened, or how to continue.", WHILE),
        "guide": Entry(f"{_C}control", "Give the planner of a run advice for its next plan.", WHILE),
        "pause": Entry(f"{_C}control", "Pause a run after its current step, until it is resumed.", WHILE),
        "take-over": Entry(f"{_C}control", "Pause a run and act in its world yourself.", WHILE),
        "cancel": Entry(f"{_C}control", "End a run after the current step.", WHILE),
        "lessons": Entry(
            f"{_C}lessons", "List what runs learned from failures; show, share or forget a lesson.", KNOWN
        ),
        "kept": Entry(f"{_C}kept", "List or drop stored plan segments that later runs reuse.", KNOWN),
        "policy": Entry(f"{_C}policy", "Propose a policy file for a browser or the tools of an MCP server.", KNOWN),
        "audit": Entry(f"{_C}records.audit", "Show who decided what, and verify that the log is intact.", KNOWN),
        "serve": Entry(f"{_C}serve", "Serve the web console and the HTTP API of the runs in this home.", SERVED),
        "mcp": Entry(f"{_C}mcp", "Serve the runs in this home to an MCP host, such as Claude Code.", SERVED),
        "access": Entry(f"{_C}access", "Add, list or remove API keys of the server.", SERVED),
        "up": Entry(f"{_C}fleet.up", "Start a whole fleet on this machine, for development.", FLEETS),
        "down": Entry(f"{_C}fleet.up", "Stop the fleet that `midcourse up` started here.", FLEETS),
        "schedule": Entry(
            f"{_C}fleet.schedule", "Run tasks in a fleet at set times; list or remove schedules.", FLEETS
        ),
        "fleet": Entry(f"{_C}fleet", "Start a worker or a world host, or look after a fleet's database.", FLEETS),
    }
    removed: ClassVar = {
        "plans": "midcourse show RUN --plans, or midcourse show RUN --diff A B",
        "runs show": "midcourse show RUN",
        "runs watch": "midcourse watch [RUN]",
        "worker": "midcourse fleet worker",
        "host": "midcourse fleet host",
        "migrate": "midcourse fleet migrate",
        "effects learn": "midcourse policy learn URL|TASK",
        "effects propose": "midcourse policy propose RUN",
        "reuse": "midcourse kept",
        "compare": "midcourse run TASK --model MODEL for each model, then midcourse show",
    }


app = typer.Typer(
    name="midcourse",
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    epilog="Start here: [cyan]midcourse demo[/cyan], or without a browser [cyan]midcourse run notepad[/cyan]\n\n"
    + EXIT_CODES,
)


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
    """Run agents whose actions have consequences. They ask before an irreversible act, never repeat one, and resume after a crash."""


@runtime_checkable
class UsageError(Protocol):
    """The exception that Typer raises for an invalid command line; it has no public name."""

    exit_code: int

    def format_message(self) -> str: ...
    def show(self) -> None: ...


def main(args: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code. Errors are printed as text, or with `--json` as an object; only a bug prints a traceback."""
    if args is not None:
        return _run_command(args)
    code = _run_command(sys.argv[1:])
    if "temporalio" in sys.modules:
        from midcourse.process import leave

        leave(code)
    return code


def _run_command(args: Sequence[str]) -> int:
    if "_MIDCOURSE_COMPLETE" in os.environ:
        from midcourse.cli.commands.start.completion import answer_shells

        warnings.simplefilter("ignore")  # a shell that completes a line cannot show them
        answer_shells()
    try:
        with _plain_warnings():
            code = app(list(args), prog_name="midcourse", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        return LEFT
    except MidcourseError as misuse:
        return _misuse(str(misuse), args)
    except ModuleNotFoundError as missing:
        if "pip install" in str(missing):
            return _misuse(str(missing), args)
        if (missing.name or "").partition(".")[0] not in OF_FLEETS:
            raise
        extra = "pip install 'midcourse[up]', or 'midcourse[temporal]' for a fleet that runs elsewhere"
        return _misuse(f"{missing.name} is not installed; durable runs need {extra}", args)
    except ConnectionError as trouble:
        return _misuse(str(trouble), args)
    except OSError as trouble:
        return _misuse(f"{trouble.filename or 'a file'}: {trouble.strerror or trouble}", args)
    except Exception as error:
        if isinstance(error, UsageError) and "--json" not in args:
            error.show()
            for argument, hint in HINTS.items():
                if error.format_message().startswith(f"Missing argument '{argument}'"):
                    _print_problem(hint)
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
        _print_problem(problem)
    return MISUSE


def _print_problem(problem: str) -> None:
    from midcourse.terminal.output import marks_for

    lines = (
        marks_for(sys.stderr).clean(line) for line in problem.splitlines()
    )  # the message may quote a file that is not trusted
    print("midcourse: " + "\n".join(lines), file=sys.stderr)


@contextmanager
def _plain_warnings() -> Generator[None]:
    """Within this context, print our own warnings like errors, without the line of code that issued them."""
    with warnings.catch_warnings():
        usual = warnings.showwarning

        def show(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if category.__module__.startswith("midcourse."):
                _print_problem(str(message))
            else:
                usual(message, category, filename, lineno, file, line)

        warnings.showwarning = show
        yield
