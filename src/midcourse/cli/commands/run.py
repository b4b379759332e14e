"""`midcourse run`: carries out a task, once or for every row of a table, here or in a fleet."""

import asyncio
import csv
import io
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

import typer

from midcourse.agent.one_line import tape_settings
from midcourse.agent.start import new_run_id
from midcourse.agent.wiring import Job, load_job, with_inputs
from midcourse.batch.rows import read_rows
from midcourse.cli.lookup import LAST
from midcourse.cli.options import (
    ApprovalsMode,
    Cassette,
    Detach,
    HomeFolder,
    Input,
    Json,
    MaxCost,
    Model,
    Overrides,
    Quiet,
    Record,
    RequireVerified,
    RunId,
    Sends,
    Set,
    next_tasks,
    parse_overrides,
    split_fleet,
    teach,
    with_options,
)
from midcourse.cli.session.local import Verbosity, start_run
from midcourse.config.fleet_settings import FleetSettings
from midcourse.errors import TaskInvalid

Task = Annotated[
    str,
    typer.Argument(
        metavar="TASK",
        help="A task file, or the name of one from `midcourse examples`.",
        show_default=False,
        autocompletion=next_tasks,
    ),
]
Inputs = Annotated[
    str,
    typer.Option(
        "--inputs", metavar="FILE", help="A CSV file. Each row is a run, and each column an input of the task."
    ),
]
Concurrency = Annotated[
    int | None,
    typer.Option("--concurrency", min=1, max=256, metavar="N", help="Rows that run at the same time; 4 by default."),
]
Results = Annotated[
    str, typer.Option("--results", metavar="FILE", help="Also write the result of each row into this CSV file.")
]
BatchId = Annotated[
    str, typer.Option("--batch", metavar="ID", help="The id of the batch. Repeating the command continues it.")
]
Again = Annotated[
    bool,
    typer.Option(
        "--again", help="Start a new run although an earlier one with the task's key failed and may have done it."
    ),
]
Durable = Annotated[
    bool, typer.Option("--durable", help="Let the workers of a fleet drive it; `midcourse up` starts one.")
]

commands = typer.Typer()


@commands.command(
    epilog=teach(
        ("midcourse run notepad", "a task that ships with Midcourse"),
        ("midcourse run invoice.toml --input number=4711", "your own, with one of its inputs"),
        ("midcourse run invoice.toml --model openai:gpt-5 --max-cost 0.50", "planned by a model, with a ceiling"),
        ("midcourse run order --json | jq .final_reason", "for programs"),
        ("midcourse run invoice --inputs rows.csv --results done.csv", "once for every row, four at a time"),
        ("midcourse run order --durable --detach", "driven by the workers of a fleet"),
        ("midcourse run invoice.toml --record tape.jsonl", "record what the model was asked and answered"),
        ("midcourse run invoice.toml --cassette tape.jsonl", "play the recording, without a model"),
    ),
)
def run(
    task: Task,
    input_: Input = None,
    model: Model = "",
    approvals: ApprovalsMode = "",
    max_cost: MaxCost = None,
    home: HomeFolder = "",
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
    sends: Sends = False,
    require_verified: RequireVerified = False,
) -> int:
    """Carry out a task, or one for every row of a table, and watch it.

    In a terminal you see the plan, what is observed and the budget, and are
    asked before anything irreversible is done. Ctrl-C pauses the run and shows
    a menu; Ctrl-C twice leaves the run, which can be resumed later. Without a
    terminal, every step that needs approval is denied, and Ctrl-C cancels.

    A task with a key is done once: a second run with the same key returns the
    result of the first, or continues it.

    With --durable the workers of a fleet (midcourse up) drive the run: it
    survives them, can be answered from anywhere, and continues if you leave.

    Exit codes: 0 success (of all rows), 1 ended without success, 2 misuse,
    3 done but not verified (with --require-verified), 130 left before its end.
    """
    overrides = with_options(set_, model=model, approvals=approvals, max_cost_usd=max_cost, home=home)
    overrides += tape_overrides(record=record, cassette=cassette)
    verbosity = Verbosity(json=json, quiet=quiet, require_verified=require_verified)
    of_batch = {"--batch": batch, "--results": results, "--concurrency": concurrency}
    _refuse_combinations(inputs, run_id, of_batch, durable=durable, detach=detach)
    if require_verified and detach:
        raise TaskInvalid(
            "--require-verified needs the end of the run: leave out --detach, or give it to midcourse watch"
        )
    if durable:
        return _run_durable(task, overrides, input_, verbosity, run_id=run_id, again=again, detach=detach, sends=sends)
    if not inputs:
        return run_once(task, overrides, verbosity, input_, run_id=run_id, again=again, sends=sends)
    from midcourse.cli.session.batch import create_batch, follow_batch

    job = job_with_inputs(task, overrides, input_, sends=sends)
    created = create_batch(job, inputs, batch_id=batch, results=results, concurrency=concurrency)
    return asyncio.run(follow_batch(created, verbosity, again=again))


def run_once(
    task: str,
    overrides: Overrides,
    verbosity: Verbosity,
    inputs: list[str] | None = None,
    *,
    run_id: str = "",
    again: bool = False,
    sends: bool = False,
) -> int:
    job = job_with_inputs(task, overrides, inputs, sends=sends)
    return asyncio.run(start_run(job, run_id or new_run_id(), verbosity, again=again))


def _run_durable(
    task: str,
    overrides: Overrides,
    inputs: list[str] | None,
    verbosity: Verbosity,
    *,
    run_id: str,
    again: bool,
    detach: bool,
    sends: bool,
) -> int:
    of_runs, of_fleet = split_fleet(overrides)
    job = job_with_inputs(task, of_runs, inputs, sends=sends)
    settings = FleetSettings.load(job.settings.home, of_fleet)
    settings.check_complete(job.settings.home)
    from midcourse.cli.session.durable import start_durable

    return asyncio.run(start_durable(job, run_id or new_run_id(), settings, verbosity, again=again, detach=detach))


def job_with_inputs(task: str, overrides: Overrides, inputs: list[str] | None, *, sends: bool = False) -> Job:
    """The job of the task with these inputs. Each is converted to the type of the task's own input. `sends`: it must send something."""
    job = replace(load_job(task, parse_overrides(overrides)), sends=sends)
    given = parse_inputs(inputs)
    if not given:
        return job
    table = io.StringIO()
    csv.writer(table).writerows([given.keys(), given.values()])
    (row,) = read_rows(table.getvalue(), job.file.task.inputs, "--input")
    return with_inputs(job, row)


def parse_inputs(texts: list[str] | None) -> dict[str, str]:
    """Parse `--input NAME=VALUE` options into names and values."""
    named: dict[str, str] = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not equals or not re.fullmatch(r"[A-Za-z]\w*", name.strip()):
            raise TaskInvalid(f"--input {text}: write it as NAME=VALUE, such as --input reference=PO-1001")
        named[name.strip()] = value
    return named


def tape_overrides(*, record: str, cassette: str) -> list[str]:
    """The settings that `--record` and `--cassette` stand for, as overrides."""
    return [f"{name}={file}" for name, file in tape_settings(record=record, cassette=cassette).items()]


def _refuse_combinations(
    inputs: str, run_id: str, of_batch: Mapping[str, object], *, durable: bool, detach: bool
) -> None:
    """Raise `TaskInvalid` for an option that would have no effect, because the user expects one."""
    check_name("--run-id", run_id)
    check_name("--batch", str(of_batch["--batch"]))
    if inputs and durable:
        raise TaskInvalid("--inputs is for runs on this machine; begin durable ones one by one, with --detach")
    if detach and not durable:
        raise TaskInvalid("--detach is for durable runs: others need the process that drives them")
    if inputs and run_id:
        raise TaskInvalid("--run-id names one run; with --inputs it is --batch that gives the runs their names")
    for option, given in of_batch.items():
        if given and not inputs:
            raise TaskInvalid(f"{option} is for many runs: name their rows with --inputs FILE")


def check_name(option: str, name: str) -> None:
    """Raise `TaskInvalid` if this cannot be the name of a run or a batch."""
    if name and (name == LAST or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}", name)):
        raise TaskInvalid(f"{option} '{name}': letters, digits, dots and dashes only, 80 at most, and not '{LAST}'")
