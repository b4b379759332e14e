"""`midcourse init`: a task, world or planner to begin with, or the task file of a run."""

import asyncio
import keyword
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.text import Text

from midcourse.app.settings.run import Settings
from midcourse.app.wiring import job_of_run
from midcourse.cli.lookup.names import find_run, opened_store
from midcourse.cli.overrides import settings_with
from midcourse.cli.view.terminal import print_object, terminal
from midcourse.errors import TaskInvalid
from midcourse.policy.spelling import unknown

TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True, kw_only=True)
class Kind:
    suffix: str
    try_it: str
    read: str
    """The page about it."""


KINDS = {
    "task": Kind(suffix=".toml", try_it="midcourse run {file}", read="docs/task-files.md"),
    "world": Kind(suffix=".py", try_it="python {file}", read="docs/your-own-world.md"),
    "planner": Kind(suffix=".py", try_it="python {file}", read="docs/your-own-planner.md"),
}


def init(what: str, name: str, overrides: Sequence[str], *, run: str, json: bool) -> None:
    """Raises `TaskInvalid` for a name that will not do, and for a file that is there already."""
    if what not in KINDS:
        raise TaskInvalid(unknown("template", what, KINDS))
    if run and what != "task":
        raise TaskInvalid("--from makes a task file of a run: midcourse init task NAME --from RUN")
    kind = KINDS[what]
    path = _path(name or what, kind)
    settings = settings_with(overrides, "home")
    text = asyncio.run(_text_of(settings, run)) if run else _template(what, path, kind)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise TaskInvalid(f"{path} is there already; give another name: midcourse init {what} NAME") from None
    try_it = kind.try_it.format(file=path)
    if json:
        print_object({"file": str(path), "try": try_it})
        return
    console = terminal().console
    console.print(Text.assemble("wrote ", (str(path), "bold"), "; to try it: ", (try_it, "cyan")), soft_wrap=True)
    console.print(Text(f"what it can say is in {kind.read}", "dim"), soft_wrap=True)


def _path(name: str, kind: Kind) -> Path:
    path = Path(name) if name.endswith(kind.suffix) else Path(f"{name}{kind.suffix}")
    if kind.suffix == ".py" and (not path.stem.isidentifier() or keyword.iskeyword(path.stem)):
        raise TaskInvalid(f"'{path.stem}' is no name for a Python module; use letters, digits and _, such as lamp_shop")
    return path


def _template(what: str, path: Path, kind: Kind) -> str:
    text = (TEMPLATES / f"{what}{kind.suffix}").read_text(encoding="utf-8")
    return text.replace("{file}", str(path)).replace("{module}", path.stem)


async def _text_of(settings: Settings, run: str) -> str:
    """The task file that a run was begun from, as it was then."""
    with opened_store(settings) as store:
        found = await find_run(store, run)
    return job_of_run(settings, found.id).source
