"""The commands for a first run."""

from typing import Annotated

import typer

from midcourse.cli.options import Cassette, Home, Json, OriginsFile, Quiet, Record, RunId, Set, next_runs, teach

commands = typer.Typer()

PANEL = "To begin with"

Goal = Annotated[str, typer.Argument(metavar="GOAL", help="What is to be done, in one sentence.", show_default=False)]
Start = Annotated[str, typer.Option("--at", metavar="URL", help="The page where it begins.", show_default=False)]
Model = Annotated[
    str,
    typer.Option(
        "--model",
        metavar="PROVIDER:NAME",
        help="Who plans, such as openai:gpt-5; else MIDCOURSE_MODEL.",
        show_default=False,
    ),
]
Input = Annotated[
    list[str] | None,
    typer.Option("--input", metavar="NAME=VALUE", help="A value that it needs, as often as needed."),
]
Secret = Annotated[
    list[str] | None,
    typer.Option(
        "--secret",
        metavar="NAME[@ORIGIN]",
        help="A secret that it may type, from MIDCOURSE_SECRET_NAME: at this origin, or else at that of --at. "
        "Models never see it.",
    ),
]
MaxCost = Annotated[
    float | None,
    typer.Option(
        "--max-cost", metavar="USD", min=0.0, help="What the model may cost at most. It holds.", show_default=False
    ),
]
ApprovalsMode = Annotated[
    str,
    typer.Option(
        "--approvals",
        metavar="always|adaptive|never",
        help="Whether you are asked before something irreversible is sent. always, if nothing is said.",
        show_default=False,
        autocompletion=lambda: ["always", "adaptive", "never"],
    ),
]
Headed = Annotated[bool, typer.Option("--headed", help="Show the browser's window.")]
What = Annotated[
    str,
    typer.Argument(
        metavar="task|world|planner",
        help="What to begin.",
        show_default=False,
        autocompletion=lambda: ["task", "world", "planner"],
    ),
]
Shell = Annotated[
    str,
    typer.Argument(
        metavar="bash|zsh|fish",
        help="The shell that is to complete.",
        show_default=False,
        autocompletion=lambda: ["bash", "zsh", "fish"],
    ),
]
NewName = Annotated[
    str,
    typer.Argument(
        metavar="[NAME]", help="What to call the file; task.toml, world.py or planner.py if nothing is said."
    ),
]
FromRun = Annotated[
    str,
    typer.Option(
        "--from",
        metavar="RUN",
        help="A task file of what this run was told; 'last' is the latest.",
        autocompletion=next_runs,
    ),
]
DryRunWanted = Annotated[
    bool,
    typer.Option("--dry-run", help="Go up to the first irreversible request, show it in full, and drop it."),
]


@commands.command(
    name="demo",
    rich_help_panel=PANEL,
    epilog=teach(
        ("midcourse demo", "about half a minute; you are asked one question"),
        ("midcourse demo --headed", "with the browser's window"),
        ("midcourse demo --json | jq .orders", "for programs: the demo answers itself"),
    ),
)
def demo_command(headed: Headed = False, set_: Home = None, json: Json = False) -> None:
    """Watch a run through a shop that goes wrong, in a real Chromium.

    A pop-up, renamed controls, a 504 after the order was stored, and one
    question to you. The model is a recording, so no key is needed. Without a
    terminal the demo answers the question itself, and says so.

    Exit codes: 0 the order was placed, 1 ended without it, 2 misuse, 130 left.
    """
    from midcourse.cli.commands.start.demo import demo

    raise typer.Exit(demo(set_ or [], headed=headed, json=json))


@commands.command(
    name="do",
    rich_help_panel=PANEL,
    epilog=teach(
        ('midcourse do "Order one desk lamp" --at https://shop.example --model openai:gpt-5', "you are asked first"),
        ('midcourse do "Order one desk lamp" --at https://shop.example --dry-run', "see what would be sent"),
        (
            'midcourse do "Report that the lamp hums" --at https://desk.example --input user=ada --secret password',
            "types MIDCOURSE_SECRET_PASSWORD there, and nowhere else",
        ),
        ("midcourse init task lamp.toml --from last", "save what you did as a task file"),
    ),
)
def do_command(
    goal: Goal,
    at: Start,
    model: Model = "",
    input_: Input = None,
    secret: Secret = None,
    max_cost: MaxCost = None,
    approvals: ApprovalsMode = "",
    headed: Headed = False,
    dry_run: DryRunWanted = False,
    origins: OriginsFile = "",
    record: Record = "",
    cassette: Cassette = "",
    set_: Set = None,
    run_id: RunId = "",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Have a model do something in a browser, described in one sentence.

    Before anything irreversible is sent, you are shown the very request and
    asked. It ends with what was done, what it cost, what shows that it
    happened, and the command that saves it as a task file.

    Exit codes: 0 success (of a dry run: it came to the request), 1 ended
    without success, 2 misuse, 130 left before its end (midcourse resume).
    """
    from midcourse.cli.commands.run import on_tape
    from midcourse.cli.commands.start.do import do

    code = do(
        goal,
        [*(set_ or []), *on_tape(record=record, cassette=cassette)],
        at=at,
        model=model,
        inputs=input_ or [],
        secrets=secret or [],
        origins=origins,
        max_cost=max_cost,
        approvals=approvals,
        headed=headed,
        dry_run=dry_run,
        run_id=run_id,
        json=json,
        quiet=quiet,
    )
    raise typer.Exit(code)


@commands.command(
    name="init",
    rich_help_panel=PANEL,
    epilog=teach(
        ("midcourse init task lamp.toml", "a task file that runs, with a word on each part"),
        ("midcourse init world mailbox.py", "a world of your own, with a skill and a probe"),
        ("midcourse init planner", "a planner of your own"),
        ("midcourse init task lamp.toml --from last", "what midcourse do was told, as a task file"),
    ),
)
def init_command(what: What, name: NewName = "", from_: FromRun = "", set_: Home = None, json: Json = False) -> None:
    """Create a task, a world or a planner that works, to change into your own.

    Nothing is overwritten.
    """
    from midcourse.cli.commands.start.init import init

    init(what, name, set_ or [], run=from_, json=json)


@commands.command(
    name="doctor",
    rich_help_panel=PANEL,
    epilog=teach(
        ("midcourse doctor", "what works here, and what to type about what does not"),
        ("midcourse doctor --model openai:gpt-5", "whether this one can be reached; nothing that costs is asked"),
        ("midcourse doctor --json | jq -r '.findings[].type_this'", "for programs"),
    ),
)
def doctor_command(model: Model = "", set_: Home = None, json: Json = False) -> None:
    """Check Chromium, keys, model, disk, permissions and fleet, and say what to type.

    What is only absent, such as a fleet, is no mistake.

    Exit codes: 0 all that is there works, 1 something does not, 2 misuse.
    """
    from midcourse.cli.commands.start.doctor import doctor

    raise typer.Exit(doctor(set_ or [], model=model, json=json))


@commands.command(
    name="completion",
    rich_help_panel=PANEL,
    epilog=teach(
        ('eval "$(midcourse completion bash)"', "in this shell, now"),
        ("midcourse completion bash > ~/.local/share/bash-completion/completions/midcourse", "from the next one on"),
        ("midcourse completion fish > ~/.config/fish/completions/midcourse.fish", "the same for fish"),
    ),
)
def completion_command(shell: Shell, json: Json = False) -> None:
    """Print the script by which a shell completes commands, options, runs, tasks and settings."""
    from midcourse.cli.commands.start.completion import completion

    completion(shell, json=json)
