"""`midcourse run`: carries out a task, once or for every row of a table, here or in a fleet."""

import asyncio
from dataclasses import dataclass, replace
from typing import Annotated

import typer

from midcourse.agent.start import new_run_id
from midcourse.agent.wiring import Job, load_job, with_inputs
from midcourse.batch.rows import convert_inputs
from midcourse.cli.options import (
    Detach,
    Overrides,
    RunOptions,
    check_name,
    next_tasks,
    parse_inputs,
    parse_overrides,
    split_fleet,
    teach,
)
from midcourse.cli.session.local import start_run
from midcourse.config.fleet_settings import FleetSettings
from midcourse.errors import TaskInvalid
from midcourse.signatures import takes


@dataclass(frozen=True, kw_only=True)
class TaskOptions(RunOptions):
    """The options of `midcourse run`. Raises `TaskInvalid` for one that would have no effect, because the user expects one."""

    task: Annotated[
        str,
        typer.Argument(
            metavar="TASK",
            help="A task file, or the name of one from `midcourse examples`.",
            show_default=False,
            autocompletion=next_tasks,
        ),
    ]
    inputs: Annotated[
        str,
        typer.Option(
            "--inputs", metavar="FILE", help="A CSV file. Each row is a run, and each column an input of the task."
        ),
    ] = ""
    concurrency: Annotated[
        int | None,
        typer.Option(
            "--concurrency", min=1, max=256, metavar="N", help="Rows that run at the same time; 4 by default."
        ),
    ] = None
    results: Annotated[
        str, typer.Option("--results", metavar="FILE", help="Also write the result of each row into this CSV file.")
    ] = ""
    batch: Annotated[
        str, typer.Option("--batch", metavar="ID", help="The id of the batch. Repeating the command continues it.")
    ] = ""
    again: Annotated[
        bool,
        typer.Option(
            "--again", help="Start a new run although an earlier one with the task's key failed and may have done it."
        ),
    ] = False
    durable: Annotated[
        bool, typer.Option("--durable", help="Let the workers of a fleet drive it; `midcourse up` starts one.")
    ] = False
    detach: Detach = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_name("--batch", self.batch)
        if self.inputs and self.durable:
            raise TaskInvalid("--inputs is for runs on this machine; begin durable ones one by one, with --detach")
        if self.detach and not self.durable:
            raise TaskInvalid("--detach is for durable runs: others need the process that drives them")
        if self.inputs and self.run_id:
            raise TaskInvalid("--run-id names one run; with --inputs it is --batch that gives the runs their names")
        of_batch = {"--batch": self.batch, "--results": self.results, "--concurrency": self.concurrency}
        for option, given in of_batch.items():
            if given and not self.inputs:
                raise TaskInvalid(f"{option} is for many runs: name their rows with --inputs FILE")
        if self.require_verified and self.detach:
            raise TaskInvalid(
                "--require-verified needs the end of the run: leave out --detach, or give it to midcourse watch"
            )


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
@takes(TaskOptions)
def run(options: TaskOptions) -> int:
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
    overrides, of_fleet = split_fleet(options.overrides) if options.durable else (options.overrides, {})
    job = replace(job_with_inputs(options.task, overrides, options.input_), sends=options.sends)
    run_id = options.run_id or new_run_id()
    if options.durable:
        settings = FleetSettings.load(job.settings.home, of_fleet)
        settings.check_complete(job.settings.home)
        from midcourse.cli.session.durable import start_durable

        return asyncio.run(
            start_durable(job, run_id, settings, options.verbosity, again=options.again, detach=options.detach)
        )
    if options.inputs:
        from midcourse.cli.session.batch import create_batch, follow_batch

        batch = create_batch(
            job, options.inputs, batch_id=options.batch, results=options.results, concurrency=options.concurrency
        )
        return asyncio.run(follow_batch(batch, options.verbosity, again=options.again))
    return asyncio.run(start_run(job, run_id, options.verbosity, again=options.again))


def job_with_inputs(task: str, overrides: Overrides, inputs: list[str] | None) -> Job:
    """The job of the task with these inputs. Each is converted to the type of the task's own input."""
    job = load_job(task, parse_overrides(overrides))
    given = parse_inputs(inputs)
    return with_inputs(job, convert_inputs(given, job.file.task.inputs, "--input")) if given else job
