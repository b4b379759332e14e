"""`midcourse schedule`: lets the workers of a fleet run tasks at certain times."""

import asyncio
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from midcourse.cli.commands.run import check_name, job_with_inputs
from midcourse.cli.options import Fleet, Input, Json, Set, load_fleet_settings, split_fleet, teach
from midcourse.config.fleet_settings import FleetSettings
from midcourse.errors import TaskInvalid
from midcourse.policy.spelling import describe_unknown
from midcourse.terminal.output import print_object, print_outcome

if TYPE_CHECKING:
    from midcourse.agent.wiring import Job
    from midcourse.fleet.schedules import ListedSchedule, Overlap
    from midcourse.fleet.timetable import Timetable

LONGEST_NAME = 60
OVERLAPS = ("wait", "skip", "allow")

commands = typer.Typer(no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The name of the schedule.", show_default=False)]


@commands.callback()
def schedule() -> None:
    """Let the workers of a fleet (midcourse up) run tasks at certain times."""


@commands.command(
    epilog=teach(
        ('midcourse schedule add "weekdays 9:00 Europe/Berlin" report.toml', "by the clocks of Berlin, also in summer"),
        (
            'midcourse schedule add "mon,thu 18:30 UTC" invoice.toml --input number=4711 --name invoices',
            "with an input",
        ),
    )
)
def add(
    when: Annotated[str, typer.Argument(metavar="WHEN", help="DAYS TIME ZONE, such as 'weekdays 9:00 Europe/Berlin'.")],
    task: Annotated[str, typer.Argument(metavar="TASK", help="A task file, or the name of one that ships.")],
    name: Annotated[
        str, typer.Option("--name", metavar="NAME", help="The name of the schedule; by default that of the task.")
    ] = "",
    overlap: Annotated[
        str,
        typer.Option(
            "--overlap",
            metavar="wait|skip|allow",
            help="What to do if the previous run has not ended: begin after it, skip this run, or run both.",
        ),
    ] = "wait",
    catch_up: Annotated[
        float, typer.Option("--catch-up", metavar="HOURS", min=0.01, help="How late a missed run may still begin.")
    ] = 24.0,
    input_: Input = None,
    set_: Set = None,
    json: Json = False,
) -> None:
    """Run a task at a certain time of day. There is one run for each day.

    DAYS is daily, weekdays, weekends, or days such as mon,thu. If Temporal was
    not running at that time, the run may still begin within --catch-up hours.
    If no worker is there, the run waits for one. If the clocks skip the time on
    a day, the run begins right after it; if they show it twice, there is one
    run.

    The task file and the settings are read now, and kept with the schedule.
    """
    from midcourse.fleet.timetable import Timetable

    if overlap not in OVERLAPS:
        raise TaskInvalid(f"--overlap: {describe_unknown('policy', overlap, OVERLAPS)}")
    of_runs, of_fleet = split_fleet(set_)
    job = job_with_inputs(task, of_runs, input_)
    settings = FleetSettings.load(job.settings.home, of_fleet)
    settings.check_complete(job.settings.home)
    name = name or job.name
    check_name("--name", name)
    if len(name) > LONGEST_NAME:
        raise TaskInvalid(f"--name: {LONGEST_NAME} characters at most, since runs are called NAME-DATE")
    timetable = Timetable.parse(when)
    asyncio.run(_add(settings, name, timetable, job, overlap, timedelta(hours=catch_up)))
    added = f"added the schedule {name}; its runs are called {name}-DATE: midcourse schedule list"
    print_outcome({"schedule": name}, added, json=json)


async def _add(
    settings: FleetSettings, name: str, timetable: "Timetable", job: "Job", overlap: "Overlap", catch_up: timedelta
) -> None:
    from midcourse.fleet.connection import connect_fleet
    from midcourse.fleet.schedules import add_schedule

    today = datetime.now().astimezone().date()
    async with connect_fleet(settings) as fleet:
        await add_schedule(fleet, name, timetable, job, overlap=overlap, catch_up=catch_up, today=today)


@commands.command("list")
def list_schedules(set_: Fleet = None, json: Json = False) -> None:
    """List schedules, with the latest and the next time of each."""
    _, settings = load_fleet_settings(set_)
    found = asyncio.run(_load_schedules(settings))
    rows = [(each.name, each.says, _format_time(each.next_at), _format_time(each.last_at)) for each in found]
    if json:
        print_object(
            [{"name": name, "says": says, "next": next_at, "last": last} for name, says, next_at, last in rows]
        )
        return
    for name, says, next_at, last in rows:
        print(f"{name}\t{says}\tnext {next_at or 'never'}\tlast {last or 'never'}")


async def _load_schedules(settings: FleetSettings) -> "list[ListedSchedule]":
    from midcourse.fleet.connection import connect_fleet
    from midcourse.fleet.schedules import build_schedules

    async with connect_fleet(settings) as fleet:
        return sorted([listed async for listed in build_schedules(fleet).list_all()], key=lambda listed: listed.name)


@commands.command()
def remove(name: Name, set_: Fleet = None, json: Json = False) -> None:
    """Remove a schedule. Runs that it started are left as they are."""
    _, settings = load_fleet_settings(set_)
    asyncio.run(_remove(settings, name))
    print_outcome({"removed": name}, f"removed the schedule {name}", json=json)


async def _remove(settings: FleetSettings, name: str) -> None:
    from midcourse.fleet.connection import connect_fleet
    from midcourse.fleet.schedules import build_schedules

    async with connect_fleet(settings) as fleet:
        await build_schedules(fleet).remove(name)


def _format_time(moment: datetime | None) -> str:
    return moment.astimezone().isoformat(timespec="minutes") if moment else ""
