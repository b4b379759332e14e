"""Arguments and options that several commands share, and epilogs with examples."""

from typing import Annotated

import typer


def next_runs(incomplete: str) -> list[tuple[str, str]]:
    """Completions for the name of a run. Imported only when a shell completes, so that help stays quick."""
    from midcourse.cli.commands.start.completion import run_names

    return list(run_names(incomplete))


def next_settings(incomplete: str) -> list[tuple[str, str]]:
    """Completions for `--set`."""
    from midcourse.cli.commands.start.completion import setting_names

    return list(setting_names(incomplete))


def next_tasks(incomplete: str) -> list[tuple[str, str]]:
    """Completions for a task."""
    from midcourse.cli.commands.start.completion import task_names

    return list(task_names(incomplete))


def teach(*lines: tuple[str, str]) -> str:
    """Build an epilog from pairs of a command line and what it does."""
    return "\n\n".join(
        ["[bold]Examples[/bold]", *(f"[cyan]{line}[/cyan]  [dim]# {what}[/dim]" for line, what in lines)]
    )


EXIT_CODES = (
    "Exit codes: 0 success, 1 ended without success, 2 misuse, 3 done but not verified (with --require-verified), "
    "130 left before its end (resume it)."
)

# --- which run

Run = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="A run's id, the beginning of one, or 'last'.",
        show_default=False,
        autocompletion=next_runs,
    ),
]
Journal = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="A run's id, the beginning of one, 'last', or a journal.jsonl.",
        show_default=False,
        autocompletion=next_runs,
    ),
]
RunId = Annotated[str, typer.Option("--run-id", metavar="ID", help="The id of the run, by which it can be resumed.")]
DurableOnly = Annotated[bool, typer.Option("--durable", help="Use those of the fleet instead of those in this home.")]

# --- settings

Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Change a setting, as often as needed. `midcourse settings --all` lists them.",
        autocompletion=next_settings,
    ),
]
Change = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Change a setting of the recorded run, as often as needed."),
]
Fleet = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Change a setting of the fleet, or home. `midcourse settings --all` lists them.",
    ),
]
Home = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="home=FOLDER", help="The folder with the runs; .midcourse by default."),
]
HomeFolder = Annotated[
    str,
    typer.Option(
        "--home", metavar="FOLDER", help="The folder with the runs; .midcourse by default.", show_default=False
    ),
]
Model = Annotated[
    str,
    typer.Option(
        "--model",
        metavar="PROVIDER:NAME",
        help="The model that plans, such as openai:gpt-5; MIDCOURSE_MODEL by default.",
        show_default=False,
    ),
]
MaxCost = Annotated[
    float | None,
    typer.Option("--max-cost", metavar="USD", min=0.0, help="A ceiling for what models may cost.", show_default=False),
]
ApprovalsMode = Annotated[
    str,
    typer.Option(
        "--approvals",
        metavar="always|adaptive|never",
        help="Whether you are asked before something irreversible is sent.",
        show_default=False,
        autocompletion=lambda: ["always", "adaptive", "never"],
    ),
]
Input = Annotated[
    list[str] | None,
    typer.Option("--input", metavar="NAME=VALUE", help="An input of the task, as often as needed."),
]
OriginsFile = Annotated[
    str, typer.Option("--origins", metavar="FILE", help="A policy file: the other origins that the page may contact.")
]
Headed = Annotated[bool, typer.Option("--headed", help="Show the browser's window.")]
Record = Annotated[
    str,
    typer.Option(
        "--record", metavar="FILE", help="Record what models are asked and answer, without secrets, to play it later."
    ),
]
Cassette = Annotated[
    str, typer.Option("--cassette", metavar="FILE", help="Play the models from such a recording: no model is asked.")
]
Sends = Annotated[
    bool,
    typer.Option("--sends", help="The task must send something: a run that sent nothing but a sign-in fails."),
]
Detach = Annotated[bool, typer.Option("--detach", help="Return as soon as the durable run is started.")]

# --- output

Json = Annotated[bool, typer.Option("--json", help="Print JSON on the last line, and nothing else.")]
OnceJson = Annotated[bool, typer.Option("--json", help="Print one JSON object once it is up, and nothing else.")]
RequireVerified = Annotated[
    bool,
    typer.Option("--require-verified", help="Exit with 3 if it is done, and neither a check nor a probe found so."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print the verdict only, in one line.")]
