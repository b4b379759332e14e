"""`midcourse init`: creates a task, world or planner to start from, or writes the task file of a run."""

import asyncio
import keyword
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from midcourse.agent.wiring import load_run_job
from midcourse.cli.lookup import find_run
from midcourse.cli.options import Home, Json, load_settings, next_runs, teach
from midcourse.config.settings import Settings
from midcourse.errors import TaskInvalid
from midcourse.policy.spelling import describe_unknown
from midcourse.terminal.output import print_outcome, terminal

TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of file that can be created."""

    suffix: str
    try_it: str
    read: str
    """The page of the documentation about it."""


KINDS = {
    "task": Kind(suffix=".toml", try_it="midcourse run {file}", read="docs/task-files.md"),
    "world": Kind(suffix=".py", try_it="python {file}", read="docs/your-own-world.md"),
    "planner": Kind(suffix=".py", try_it="python {file}", read="docs/your-own-planner.md"),
}


commands = typer.Typer()


@commands.command(
    epilog=teach(
        ("midcourse init task lamp.toml", "a task file that runs, with a comment on each part"),
        ("midcourse init world mailbox.py", "a world of your own, with a skill and a probe"),
        ("midcourse init planner", "a planner of your own"),
        ("midcourse init task lamp.toml --from last", "the task of midcourse do, as a task file"),
    ),
)
def init(
    what: Annotated[
        str,
        typer.Argument(
            metavar="task|world|planner",
            help="What to create.",
            show_default=False,
            autocompletion=lambda: ["task", "world", "planner"],
        ),
    ],
    name: Annotated[
        str,
        typer.Argument(metavar="[NAME]", help="What to call the file; task.toml, world.py or planner.py by default."),
    ] = "",
    run: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="RUN",
            help="Write the task file of this run; 'last' is the latest.",
            autocompletion=next_runs,
        ),
    ] = "",
    set_: Home = None,
    json: Json = False,
) -> None:
    """Create a working task, world or planner to start from.

    Nothing is overwritten.
    """
    if what not in KINDS:
        raise TaskInvalid(describe_unknown("template", what, KINDS))
    if run and what != "task":
        raise TaskInvalid("--from makes a task file of a run: midcourse init task NAME --from RUN")
    kind = KINDS[what]
    path = _path(name or what, kind)
    settings = load_settings(set_, "home")
    if run:
        text = asyncio.run(_text_of(settings, run))
    else:
        template = (TEMPLATES / f"{what}{kind.suffix}").read_text(encoding="utf-8")
        text = template.replace("{file}", str(path)).replace("{module}", path.stem)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise TaskInvalid(f"{path} is there already; give another name: midcourse init {what} NAME") from None
    try_it = kind.try_it.format(file=path)
    wrote = ("wrote ", (str(path), "bold"), "; to try it: ", (try_it, "cyan"))
    print_outcome({"file": str(path), "try": try_it}, *wrote, json=json)
    if not json:
        terminal().say(f"what it can contain: {kind.read} in the documentation", style="dim")


def _path(name: str, kind: Kind) -> Path:
    path = Path(name) if name.endswith(kind.suffix) else Path(f"{name}{kind.suffix}")
    if kind.suffix == ".py" and (not path.stem.isidentifier() or keyword.iskeyword(path.stem)):
        raise TaskInvalid(f"'{path.stem}' is not a module name; use letters, digits and _, such as lamp_shop")
    return path


async def _text_of(settings: Settings, run: str) -> str:
    """The task file that a run was started from, as it was then."""
    async with find_run(settings, None, run) as found:
        return load_run_job(settings, found.run.id).source
