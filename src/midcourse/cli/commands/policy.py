"""`midcourse policy`: proposes a policy file, from a supervised run or from one that has ended."""

import asyncio
import sys
from contextlib import redirect_stdout, suppress
from typing import Annotated

import typer

from midcourse.cli.commands.run import run
from midcourse.cli.lookup import find_run
from midcourse.cli.options import Json, Overrides, Set, load_both_settings, next_runs, teach
from midcourse.terminal.output import print_object

commands = typer.Typer(
    help="Propose a policy file: what may leave a browser, what tools may do, and what needs no question.",
    no_args_is_help=True,
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

    The file names the origins that were contacted. Rules that would make a
    browser stricter are active; rules that would make it less strict are
    comments, and take effect only when you remove the #.

    Exit codes: those of the run; 0 if you worked yourself.
    """
    from midcourse.worlds.browser.learn import learn_policy

    with learn_policy() as learned:
        if watched.startswith(("http://", "https://")):
            print(
                "Work in the browser as the task would. Close it, or press Ctrl-C, when you are done.", file=sys.stderr
            )
            with suppress(KeyboardInterrupt):
                asyncio.run(_work_until_closed(watched))
            code = 0
        else:
            with redirect_stdout(sys.stderr):
                code = run(task=watched, set_=set_, quiet=True)
    print(learned.propose(), end="")
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
    are proposed as safe: the next run does not ask about them. It still asks
    about the last request, and about every request with an address that names
    an effect. Read the file before you use it.
    """
    print(asyncio.run(_propose(run, set_)), end="")


@commands.command(
    epilog=teach(
        (
            'midcourse policy tools "mcp-server-git --repository ." > git-tools.toml',
            "read it, then name it in `policy`",
        ),
        ("midcourse policy tools git.toml --json", "the server that a task file names, for programs"),
    ),
)
def tools(
    server: Annotated[
        str,
        typer.Argument(
            metavar="SERVER|TASK", help="The command or address of an MCP server, or a task.", show_default=False
        ),
    ],
    json: Json = False,
) -> None:
    """Print the tools of an MCP server with the digests of their definitions.

    The output is a policy file that pins every tool: if the server changes the
    description, schema or hints of a tool, you are asked about that tool,
    whatever else the policy says. Effects that the server claims are written
    as comments.
    """
    from midcourse.agent.tool_policy import list_definitions, propose_tool_policy

    found = asyncio.run(list_definitions(server))
    if json:
        print_object([{"tool": tool.name, "definition": tool.digest, "says": tool.says} for tool in found])
    else:
        print(propose_tool_policy(found), end="")


async def _propose(name: str, overrides: Overrides) -> str:
    from midcourse.worlds.browser.learn import list_sent_requests, propose_policy

    async with find_run(*load_both_settings(overrides, "home"), name) as found:
        return propose_policy(await list_sent_requests(found.store, found.run.id))


async def _work_until_closed(url: str) -> None:
    from midcourse.worlds.browser.learn import open_attended

    async with open_attended(url) as session:
        await session.wait_until_closed()
