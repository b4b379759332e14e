"""`midcourse policy`: proposes a policy file, from a supervised run or from one that has ended."""

import asyncio
import sys
from contextlib import redirect_stdout, suppress
from typing import Annotated

import typer

from midcourse.cli.commands.run import run_once
from midcourse.cli.lookup import find_run
from midcourse.cli.options import Set, next_runs, teach
from midcourse.cli.overrides import Overrides, load_both_settings
from midcourse.cli.session.local import Verbosity

commands = typer.Typer(
    help="Propose a policy file: what may leave a browser, and what needs no question.", no_args_is_help=True
)


@commands.command(
    epilog=teach(
        (
            "midcourse policy learn https://shop.example > origins.toml",
            "you work in a browser; close it when you are done",
        ),
        ("midcourse policy learn order.toml > origins.toml", "the task runs, and you are asked as always"),
    ),
)
def learn(
    watched: Annotated[
        str, typer.Argument(metavar="URL|TASK", help="Where you begin to work, or a task to run.", show_default=False)
    ],
    set_: Set = None,
) -> int:
    """Propose a policy file from one supervised run.

    It names the origins that were contacted. What would make a browser
    stricter is proposed as it is; what would loosen it is a comment, and
    counts only once you take the # away.

    Exit codes: those of the run; 0 if you worked yourself.
    """
    from midcourse.app.browser_policy import learn_policy

    with learn_policy() as learned:
        if watched.startswith(("http://", "https://")):
            print(
                "Work in the browser as the task would. Close it, or press Ctrl-C, when you are done.", file=sys.stderr
            )
            with suppress(KeyboardInterrupt):
                asyncio.run(_until_closed(watched))
            code = 0
        else:
            with redirect_stdout(sys.stderr):
                code = run_once(watched, set_, Verbosity(quiet=True))
    print(learned.proposal(), end="")
    return code


@commands.command(
    epilog=teach(
        ("midcourse policy propose last > origins.toml", "read it, then give it to the next run"),
        ('midcourse run order.toml   # with [world] origins = "origins.toml"', "asks about the order only"),
    ),
)
def propose(
    run: Annotated[
        str,
        typer.Argument(
            metavar="RUN", help="A run that has ended, or 'last'.", show_default=False, autocompletion=next_runs
        ),
    ],
    set_: Set = None,
) -> None:
    """Propose a policy file from what a run was allowed to send.

    Requests that led up to the last one (drafts, a basket, pages of a form)
    are proposed as safe: the next run does not ask about them. The last
    request, and every one whose address names an effect, is asked about
    as before. Read the file before you use it.
    """
    print(asyncio.run(_proposal(run, set_)), end="")


async def _proposal(name: str, overrides: Overrides) -> str:
    from midcourse.app.browser_policy import proposal_from

    async with find_run(*load_both_settings(overrides, "home"), name) as found:
        return await proposal_from(found.store, found.run.id)


async def _until_closed(url: str) -> None:
    from midcourse.app.browser_policy import open_attended

    async with open_attended(url) as session:
        await session.wait_until_closed()
