"""`midcourse examples`: the tasks that ship with Midcourse."""

from typing import Annotated

import typer
from rich.text import Text

from midcourse.app.wiring import load_job, packaged_tasks
from midcourse.cli.options import Json, teach
from midcourse.cli.view.terminal import print_object, terminal
from midcourse.errors import TaskInvalid
from midcourse.policy.spelling import unknown

commands = typer.Typer()


@commands.command(
    epilog=teach(
        ("midcourse examples", "what there is"),
        ("midcourse examples order > order.toml", "make one your own"),
    ),
)
def examples(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Print the task file of this one.", show_default=False)
    ] = "",
    json: Json = False,
) -> None:
    """List the tasks that ship with Midcourse, or print the file of one."""
    names = packaged_tasks()
    if name and name not in names:
        raise TaskInvalid(unknown("example", name, names))
    jobs = [load_job(each, {}) for each in ([name] if name else names)]
    if json:
        print_object([{"name": job.name, "goal": job.task.goal, "source": job.source} for job in jobs])
        return
    if name:
        print(jobs[0].source, end="")
        return
    where = terminal()
    longest = max((len(each) for each in names), default=0)
    for job in jobs:
        line = Text.assemble((f"{job.name:<{longest}}", "bold"), f"  {where.marks.clean(job.task.goal)}")
        where.console.print(line, soft_wrap=True)
    where.console.print(Text("midcourse run NAME runs one; midcourse examples NAME prints its file", "dim"))
