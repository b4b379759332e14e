"""`midcourse do`: lets a model carry out a goal, given in one sentence, in a browser."""

import asyncio
from typing import Annotated, cast

import typer

from midcourse.agent.one_line import DRY, DryRun, OneLineTask, job_for
from midcourse.agent.start import new_run_id
from midcourse.cli.commands.run import check_name, parse_inputs, tape_overrides
from midcourse.cli.options import (
    ApprovalsMode,
    Cassette,
    Headed,
    HomeFolder,
    Input,
    Json,
    MaxCost,
    Model,
    OriginsFile,
    Quiet,
    Record,
    RequireVerified,
    RunId,
    Sends,
    Set,
    parse_overrides,
    teach,
    with_options,
)
from midcourse.cli.session.local import Verbosity, start_run
from midcourse.config.extras import require_chromium
from midcourse.domain.budget import Approvals
from midcourse.errors import TaskInvalid

Goal = Annotated[str, typer.Argument(metavar="GOAL", help="What is to be done, in one sentence.", show_default=False)]
Start = Annotated[str, typer.Option("--at", metavar="URL", help="The page where it begins.", show_default=False)]
Secret = Annotated[
    list[str] | None,
    typer.Option(
        "--secret",
        metavar="NAME[@ORIGIN]",
        help="A secret that may be typed at this origin, by default that of --at. Its value is in MIDCOURSE_SECRET_NAME. "
        "Models never see it.",
    ),
]
DryRunWanted = Annotated[
    bool,
    typer.Option("--dry-run", help="Stop at the first irreversible request, show it in full, and drop it."),
]

commands = typer.Typer()


@commands.command(
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
def do(
    goal: Goal,
    at: Start,
    model: Model = "",
    input_: Input = None,
    secret: Secret = None,
    max_cost: MaxCost = None,
    approvals: ApprovalsMode = "",
    headed: Headed = False,
    dry_run: DryRunWanted = False,
    sends: Sends = False,
    origins: OriginsFile = "",
    record: Record = "",
    cassette: Cassette = "",
    home: HomeFolder = "",
    set_: Set = None,
    run_id: RunId = "",
    json: Json = False,
    quiet: Quiet = False,
    require_verified: RequireVerified = False,
) -> int:
    """Let a model carry out one sentence in a browser.

    Before anything irreversible is sent, you are shown the exact request and
    asked. At the end you see what was done, what it cost, the evidence that it
    happened, and the command that saves it as a task file.

    Exit codes: 0 success (a dry run succeeds if it reaches the request), 1 ended
    without success, 2 misuse, 3 done but not verified (with --require-verified),
    130 left before its end (midcourse resume).
    """
    check_name("--run-id", run_id)
    if not goal.strip():
        raise TaskInvalid('give a goal, such as midcourse do "Order one desk lamp" --at https://shop.example')
    one_line = OneLineTask(
        goal=goal,
        at=at,
        model=model,
        inputs=parse_inputs(input_),
        secrets=tuple(secret or ()),
        origins=origins or None,
        max_cost=max_cost,
        approvals=cast(Approvals, approvals) if approvals else None,  # the settings refuse other words
        headed=headed,
        sends=sends,
    )
    dry = DryRun() if dry_run else None
    overrides = with_options(set_, home=home) + tape_overrides(record=record, cassette=cassette)
    job = job_for(one_line, {**parse_overrides(overrides), **(DRY if dry else {})})
    asyncio.run(require_chromium())
    return asyncio.run(
        start_run(
            job, run_id or new_run_id(), Verbosity(json=json, quiet=quiet, require_verified=require_verified), dry=dry
        )
    )
