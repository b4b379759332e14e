"""`midcourse do`: lets a model carry out a goal, given in one sentence, in a browser."""

import asyncio
from dataclasses import dataclass
from typing import Annotated, cast

import typer

from midcourse.agent.one_line import DryRun, OneLineTask, job_for
from midcourse.agent.start import new_run_id
from midcourse.agent.wiring import require_chromium
from midcourse.cli.options import Headed, OriginsFile, RunOptions, parse_inputs, parse_overrides, teach
from midcourse.cli.session.local import start_run
from midcourse.domain.budget import Approvals
from midcourse.signatures import takes


@dataclass(frozen=True, kw_only=True)
class DoOptions(RunOptions):
    """The options of `midcourse do`."""

    goal: Annotated[
        str, typer.Argument(metavar="GOAL", help="What is to be done, in one sentence.", show_default=False)
    ]
    at: Annotated[str, typer.Option("--at", metavar="URL", help="The page where it begins.", show_default=False)]
    secret: Annotated[
        list[str] | None,
        typer.Option(
            "--secret",
            metavar="NAME[@ORIGIN]",
            help="A secret that may be typed at this origin, by default that of --at. Its value is in MIDCOURSE_SECRET_NAME. "
            "Models never see it.",
        ),
    ] = None
    output: Annotated[
        list[str] | None,
        typer.Option(
            "--output",
            metavar="NAME[:TYPE]",
            help="A value to return: string, integer, number, boolean or json. Repeat it for more.",
        ),
    ] = None
    output_schema: Annotated[
        str,
        typer.Option(
            "--output-schema", metavar="FILE", help="A JSON schema of the values to return.", show_default=False
        ),
    ] = ""
    file: Annotated[
        list[str] | None,
        typer.Option(
            "--file", metavar="PATH", help="A file that may be uploaded, as often as needed: $file.NAME in the goal."
        ),
    ] = None
    files: Annotated[
        str,
        typer.Option("--files", metavar="FOLDER", help="A folder with files that may be uploaded.", show_default=False),
    ] = ""
    headed: Headed = False
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Stop at the first irreversible request, show it in full, and drop it."),
    ] = False
    origins: OriginsFile = ""
    images: Annotated[
        str,
        typer.Option(
            "--images",
            metavar="off|on|auto",
            help="Whether the model also gets the screenshot. auto: where the names of controls do not say enough.",
            show_default=False,
        ),
    ] = ""


commands = typer.Typer()


@commands.command(
    epilog=teach(
        ('midcourse do "Order one desk lamp" --at https://shop.example --model openai:gpt-5', "you are asked first"),
        ('midcourse do "Order one desk lamp" --at https://shop.example --dry-run', "see what would be sent"),
        (
            'midcourse do "Report that the lamp hums" --at https://desk.example --input user=ada --secret password',
            "types MIDCOURSE_SECRET_PASSWORD there, and nowhere else",
        ),
        (
            'midcourse do "What does the desk lamp cost?" --at https://shop.example --output price:number',
            "the result begins with the answer and the price",
        ),
        ("midcourse init task lamp.toml --from last", "save what you did as a task file"),
    ),
)
@takes(DoOptions)
def do(options: DoOptions) -> int:
    """Let a model carry out one sentence in a browser.

    Before anything irreversible is sent, you are shown the exact request and
    asked. At the end you see what was done, what it cost, the evidence that it
    happened, and the command that saves it as a task file.

    Exit codes: 0 success (a dry run succeeds if it reaches the request), 1 ended
    without success, 2 misuse, 3 done but not verified (with --require-verified),
    130 left before its end (midcourse resume).
    """
    dry = DryRun() if options.dry_run else None
    task = OneLineTask(
        goal=options.goal,
        at=options.at,
        model=options.model,
        inputs=parse_inputs(options.input_),
        secrets=options.secret or (),
        files=options.file or (),
        uploads=options.files,
        origins=options.origins or None,
        max_cost=options.max_cost,
        approvals=cast(Approvals, options.approvals or None),  # the settings refuse other words
        output=options.output or (),
        output_schema=options.output_schema,
        headed=options.headed,
        sends=options.sends,
        approver=dry,
    )
    pictures = {"images": options.images} if options.images else {}
    job = job_for(task, {**parse_overrides(options.overrides), **pictures})
    asyncio.run(require_chromium())
    return asyncio.run(start_run(job, options.run_id or new_run_id(), options.verbosity, dry=dry))
