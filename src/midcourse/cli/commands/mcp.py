"""`midcourse mcp`: serves Midcourse as an MCP server, for hosts such as Claude Code and Cursor."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from midcourse.cli.commands.serve import DurableRuns, read_served
from midcourse.cli.options import Fleet, HomeFolder, teach, with_options
from midcourse.config.extras import require_extras
from midcourse.errors import TaskInvalid

commands = typer.Typer()

OwnTasks = Annotated[
    str,
    typer.Option(
        "--tasks",
        metavar="FOLDER",
        help="The folder of task files that may be started; by default the tasks that ship with Midcourse.",
    ),
]
Decides = Annotated[
    bool,
    typer.Option("--decisions", help="Let the host pass on what its user decided about questions. Off by default."),
]


@commands.command(
    epilog=teach(
        ("midcourse mcp --tasks tasks", "what a host starts, with a folder of task files"),
        ("claude mcp add midcourse -- midcourse mcp --tasks tasks", "for Claude Code"),
    ),
)
def mcp(
    tasks: OwnTasks = "",
    decisions: Decides = False,
    durable: DurableRuns = False,
    set_: Fleet = None,
    home: HomeFolder = "",
) -> int:
    """Serve the runs of this home to an MCP host, over standard input and output.

    A host can start the tasks of a folder, wait for them, control them, and
    list their questions. It cannot change settings. It can decide questions
    only with --decisions, because an agent must not approve its own requests.
    """
    require_extras("an MCP server", "mcp", "server")
    from midcourse.server.mcp.start import McpServing, serve_stdio

    if tasks and not Path(tasks).is_dir():
        raise TaskInvalid(f"--tasks {tasks}: there is no such folder")
    settings, fleet = read_served(with_options(set_, home=home), durable=durable)
    folder = Path(tasks).absolute() if tasks else None
    asyncio.run(serve_stdio(McpServing(home=settings, fleet=fleet, tasks=folder, decides=decisions)))
    return 0
