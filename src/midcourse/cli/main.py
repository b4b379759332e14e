"""The `midcourse` program: its table of commands, each imported only when it is called, and how errors become exit codes."""

import json as json_format
import os
import sys
import traceback
import warnings
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Annotated, Any, ClassVar, Protocol, TextIO, runtime_checkable

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from midcourse.errors import MidcourseError

MISUSE, LEFT = 2, 130
EXIT_CODES = (
    "Exit codes: 0 success, 1 ended without success, 2 misuse, 3 done but not verified (with --require-verified), "
    "130 left before its end (resume it)."
)
OF_FLEETS = ("alembic", "cryptography", "psycopg", "sqlalchemy", "temporalio")
"""Packages that the base install does not have."""
HINTS = {
    "TASK": "a task is a file, or one that ships, such as `notepad`; `midcourse examples` lists these",
    "RUN": "a run is named by its id; `midcourse runs` lists them, and `last` is the latest",
}
"""What to type for an argument that is missing."""


# --- the table of commands


@dataclass(frozen=True)
class Entry:
    """One row of a command table: where the command is declared, and how `--help` lists it."""

    module: str
    help: str
    panel: str | None = None


class LazyGroup(TyperGroup):
    """Lists its commands from a table. A module has its commands in a Typer app called `commands`."""

    table: ClassVar[Mapping[str, Entry]]
    removed: ClassVar[Mapping[str, str]] = {}
    """Commands of earlier versions, each with the command to type now."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, entry in self.table.items():
            self.add_command(TyperCommand(name, short_help=entry.help, rich_help_panel=entry.panel))

    def get_params(self, ctx: Any) -> list[Any]:
        return _hide_types_of_flags(super().get_params(ctx))

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        for words in (" ".join(args[:2]), args[0]):
            if words in self.removed and not ctx.resilient_parsing:
                ctx.fail(f"'{words}' was removed; type: {self.removed[words]}")
        name, _, rest = super().resolve_command(ctx, args)
        command = self._load(name) if name else None
        for each in (command, *getattr(command, "commands", {}).values()):
            if each is not None:
                _hide_types_of_flags(each.get_params(ctx))
        return name, command, rest

    def _load(self, name: str) -> Any:
        """The command of this name in its module, or the module's whole app if that is a group of this name."""
        commands = import_module(self.table[name].module).commands
        commands._add_completion = False  # noqa: SLF001  # `midcourse completion` does that, for all commands
        found = get_command(commands)
        return found.commands.get(name, found) if isinstance(found, TyperGroup) else found


def _hide_types_of_flags(params: list[Any]) -> list[Any]:
    """Let `--help` show no type beside flags: Typer shows `<bool>`, as if they took a value."""
    for param in params:
        if getattr(param, "is_flag", False):
            param.metavar = ""
    return params


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
        "fleet": Entry(__name__, "Start a worker or a world host, or look after a fleet's database.", FLEETS),
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


class FleetCommands(LazyGroup):
    """The commands of `midcourse fleet`."""

    table: ClassVar = {
        "worker": Entry(f"{_C}fleet.worker", "Carry out the runs of a fleet, until it is stopped."),
        "host": Entry(
            f"{_C}fleet.host", "Open worlds, such as browsers, for the workers of a fleet, until it is stopped."
        ),
        "migrate": Entry(f"{_C}fleet.migrate", "Bring a fleet's database to the schema of this version."),
        "expire": Entry(f"{_C}fleet.expire", "Delete journals, observations and screenshots of the runs of a month."),
    }


commands = typer.Typer(cls=FleetCommands, no_args_is_help=True)


@commands.callback()
def fleet() -> None:
    """Start a worker or a world host, or look after a fleet's database. `midcourse up` does all of it on one machine."""


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
