"""`midcourse examples`: lists the tasks that ship with Midcourse, or prints one of them."""

import re
from typing import Annotated

import typer

from midcourse.agent.wiring import load_job, packaged_tasks
from midcourse.cli.options import Json, teach
from midcourse.errors import TaskInvalid
from midcourse.policy.spelling import describe_unknown
from midcourse.terminal.output import print_object, terminal

commands = typer.Typer()


@commands.command(
    epilog=teach(
        ("midcourse examples", "list all tasks"),
        ("midcourse examples order > order.toml", "copy one, to change it"),
    ),
)
def examples(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Print the task file of this one.", show_default=False)
    ] = "",
    json: Json = False,
) -> None:
    """List the tasks that ship with Midcourse, or print one of them."""
    names = packaged_tasks()
    if name and name not in names:
        raise TaskInvalid(describe_unknown("example", name, names))
    jobs = [load_job(each, {}) for each in ([name] if name else names)]
    if json:
        described = [(job, first_sentence(job.source) or job.task.goal) for job in jobs]
        print_object(
            [
                {"name": job.name, "goal": job.task.goal, "shows": shows, "source": job.source}
                for job, shows in described
            ]
        )
        return
    if name:
        print(jobs[0].source, end="")
        return
    where = terminal()
    longest = max((len(each) for each in names), default=0)
    for job in jobs:
        shows = first_sentence(job.source) or job.task.goal
        needs = f"; needs {extra}" if (extra := find_needs(job.source)) else ""
        where.say((f"{job.name:<{longest}}", "bold"), f"  {shows}", (needs, "dim"))
    where.say("midcourse run NAME runs one; midcourse examples NAME prints its file", style="dim")


def first_sentence(source: str) -> str:
    """The first sentence of the comment that a task file begins with."""
    return re.split(r"(?<=\.)\s", _read_comment(source))[0].removesuffix(".")


def find_needs(source: str) -> str:
    """What the task needs beyond the base install, by its comment: an extra, or a secret in the environment."""
    comment = _read_comment(source)
    extra = re.search(r"Needs pip install '([^']+)'", comment) or re.search(r"(MIDCOURSE_SECRET_\w+=\S+) ", comment)
    return extra[1] if extra else ""


def _read_comment(source: str) -> str:
    """The comment that a task file begins with, as one line."""
    comment = re.match(r"(?:#.*\n)*", source)
    return " ".join(line.lstrip("# ") for line in comment[0].splitlines()) if comment else ""
