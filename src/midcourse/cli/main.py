"""`midcourse`: its commands as they are called, and what becomes of their errors.

What a command does is in the file of its name, which is imported when it is called: help has to be quick.
"""

import json as json_format
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated, Protocol, runtime_checkable

import typer

from midcourse.cli.commands import control_options, effects_options, lessons_options, reuse_options
from midcourse.cli.commands.fleet import fleet_options
from midcourse.cli.commands.records import audit_options, runs_options
from midcourse.cli.commands.start import start_options
from midcourse.cli.options import (
    EXIT_CODES,
    Again,
    ArmA,
    ArmB,
    At,
    BatchId,
    Cassette,
    Change,
    Concurrency,
    Detach,
    Diff,
    Durable,
    ExampleName,
    Fleet,
    Inputs,
    Journal,
    Json,
    LookJson,
    OriginsFile,
    Png,
    Quiet,
    Record,
    Recording,
    Restored,
    Results,
    Run,
    RunId,
    RunOrBatch,
    Set,
    Task,
    Url,
    Whole,
    teach,
)
from midcourse.errors import MidcourseError

MISUSE, LEFT = 2, 130
OF_FLEETS = ("alembic", "cryptography", "psycopg", "sqlalchemy", "temporalio")
"""Packages that the base install does not have."""

app = typer.Typer(
    name="midcourse",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    epilog="Start here: [cyan]midcourse demo[/cyan], or without a browser [cyan]midcourse run notepad[/cyan]\n\n"
    + EXIT_CODES,
)


@app.command(
    name="run",
    epilog=teach(
        ("midcourse run notepad", "a task that ships with Midcourse"),
        ("midcourse run invoice.toml --set max_calls=10", "your own, on a tighter budget"),
        ("midcourse run order --json | jq .final_reason", "for programs"),
        ("midcourse run invoice --inputs rows.csv --results done.csv", "once for every row, four at a time"),
        ("midcourse run order --durable --detach", "driven by the workers of a fleet"),
        ("midcourse run invoice.toml --record tape.jsonl", "keep what the model was asked and answered"),
        ("midcourse run invoice.toml --cassette tape.jsonl", "the same again, without a model"),
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
    durable: Durable = False,
    detach: Detach = False,
    record: Record = "",
    cassette: Cassette = "",
) -> None:
    """Carry out a task, or one for every row of a table, and watch it.

    In a terminal you see the plan, what is observed and the budget, and are
    asked before anything irreversible is done. Ctrl-C pauses and lets you
    choose; Ctrl-C twice leaves the run to be resumed.

    Without a terminal nobody can be asked, so what needs an approval is
    denied; Ctrl-C cancels.

    A task with a key is done once: a second run under it returns the first,
    or goes on with it.

    With --durable the run is driven by the workers of a fleet (midcourse up):
    it survives them, it can be answered from anywhere, and leaving it changes
    nothing.

    Exit codes: 0 success (of all rows), 1 ended without success, 2 misuse,
    130 left before its end.
    """
    from midcourse.cli.commands.run import on_tape, refuse_mixture, run, run_durably, run_rows

    overrides = [*(set_ or []), *on_tape(record=record, cassette=cassette)]
    refuse_mixture(
        inputs=inputs,
        run_id=run_id,
        batch_id=batch,
        results=results,
        concurrency=concurrency,
        durable=durable,
        detach=detach,
    )
    if durable:
        code = run_durably(task, overrides, run_id=run_id, again=again, detach=detach, json=json, quiet=quiet)
        raise typer.Exit(code)
    if not inputs:
        raise typer.Exit(run(task, overrides, run_id=run_id, again=again, json=json, quiet=quiet))
    code = run_rows(
        task,
        overrides,
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
def resume_command(
    run: RunOrBatch,
    set_: Fleet = None,
    detach: Detach = False,
    restored: Restored = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Go on with a run or a batch that was left, paused, or whose process died.

    The world is looked at first. Nothing finished is done again, and of what
    was under way it is found out whether it happened. A run that has ended
    shows its verdict again. Whether it is durable it finds out by itself.

    A run in a copied or restored folder is not resumed until you have checked
    what it did and say so with --restored.

    Exit codes: 0 success, 1 ended without success, 2 misuse, 130 left
    before its end.
    """
    from midcourse.cli.commands.resume import resume

    raise typer.Exit(resume(run, set_ or [], detach=detach, restored=restored, json=json, quiet=quiet))


@app.command(
    name="show",
    epilog=teach(
        ("midcourse show last", "its plans with why each was made, the journal in brief, the verdict"),
        ("midcourse show last --json | jq .plans", "for programs"),
    ),
)
def show_command(run: Run, set_: Fleet = None, json: Json = False) -> None:
    """Show what a run did and why, whether it has ended or not."""
    from midcourse.cli.commands.records.show import show

    show(run, set_ or [], json=json)


@app.command(
    name="plans",
    epilog=teach(
        ("midcourse plans last", "every version, why it was made, and what was mended in it"),
        ("midcourse plans last --diff 1 2", "what the second kept, dropped and added, and why there is one"),
    ),
)
def plans_command(journal: Journal, diff: Diff = None, set_: Fleet = None, json: Json = False) -> None:
    """Show the plan versions of a run, or what changed between two of them."""
    from midcourse.cli.commands.records.plans import plans

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
    from midcourse.cli.commands.records.replay import replay

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
    from midcourse.cli.commands.records.fork import fork

    raise typer.Exit(fork(journal, at, set_ or [], json=json, quiet=quiet))


@app.command(
    name="compare",
    epilog=teach(
        ("midcourse compare tape.jsonl recorded openai:gpt-5-mini", "would a smaller model do?"),
        ("midcourse compare tape.jsonl openai:gpt-5 openai:gpt-5@planner.md", "the same model, another prompt"),
    ),
)
def compare_command(cassette: Recording, a: ArmA, b: ArmB, set_: Set = None, json: Json = False) -> None:
    """Have two models or prompts plan in the situations of a recording, and see what a run would make of it.

    Nothing is carried out. A plan counts as usable if anything of it is left
    for what was visible; whether it would have led anywhere, nobody can know.
    A prompt is a file like src/midcourse/llm/planner.md.
    """
    from midcourse.cli.commands.records.compare import compare

    compare(cassette, a, b, set_ or [], json=json)


@app.command(
    name="examples",
    epilog=teach(
        ("midcourse examples", "what there is"),
        ("midcourse examples order > order.toml", "make one your own"),
    ),
)
def examples_command(name: ExampleName = "", json: Json = False) -> None:
    """List the tasks that ship with Midcourse, or print the file of one."""
    from midcourse.cli.commands.start.examples import examples

    examples(name, json=json)


@app.command(
    name="look",
    epilog=teach(
        ("midcourse look https://example.org", "its zones in the terminal, and drawn over it in look.png"),
        ("midcourse look http://127.0.0.1:8000 --whole --png page.png", "down to the end of the page"),
        ("midcourse look https://example.org --json | jq '.zones[].label'", "for programs"),
    ),
)
def look_command(
    url: Url, png: Png = "look.png", whole: Whole = False, origins: OriginsFile = "", json: LookJson = False
) -> None:
    """See a web page as a planner sees it: every zone with its id, role, name and state.

    Nothing is clicked, typed or sent. What the page wants from other origins
    is not let through, unless a policy file allows them.
    """
    from midcourse.cli.commands.start.look import look

    look(url, png=png, whole=whole, origins=origins, json=json)


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
    from midcourse.cli.commands.settings import settings

    settings(json=json)


app.add_typer(start_options.commands)
app.add_typer(runs_options.commands, name="runs")
app.add_typer(reuse_options.commands, name="reuse")
app.add_typer(lessons_options.commands, name="lessons")
app.add_typer(effects_options.commands, name="effects")
app.add_typer(audit_options.commands, name="audit")
app.add_typer(fleet_options.commands)
app.add_typer(control_options.commands)


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
    if args is not None:
        return _called(args)
    code = _called(sys.argv[1:])
    if "temporalio" in sys.modules:
        from midcourse.app.fleet.process import leave

        leave(code)
    return code


def _called(args: Sequence[str]) -> int:
    if "_MIDCOURSE_COMPLETE" in os.environ:
        from midcourse.cli.commands.start.completion import answer_shells

        answer_shells()
    try:
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
        from midcourse.cli.view.symbols import marks_for

        lines = (marks_for(sys.stderr).clean(line) for line in problem.splitlines())  # it may quote a stranger's file
        print("midcourse: " + "\n".join(lines), file=sys.stderr)
    return MISUSE
