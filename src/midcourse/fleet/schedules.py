"""Schedules of a fleet: a task runs at the times of a timetable, once on each day on which it is due."""

from dataclasses import dataclass, replace
from datetime import date, timedelta

from midcourse.agent.start import new_run_of
from midcourse.agent.wiring import BUILT_IN, Job, check_job, decode_job, encode_job, make_portable
from midcourse.config.fleet_settings import FleetSettings
from midcourse.config.task.modules import AllowedModules
from midcourse.errors import KeyTaken
from midcourse.fleet.connection import Fleet
from midcourse.fleet.timetable import Timetable, day_of
from midcourse.runtimes.temporal.schedule import Calendar, Entered, Firing, FleetSchedules, ScheduledTask
from midcourse.runtimes.temporal.schedule import ListedSchedule as ListedSchedule
from midcourse.runtimes.temporal.schedule import Overlap as Overlap
from midcourse.runtimes.temporal.wire import Placement
from midcourse.store.postgres import PostgresStore


@dataclass(frozen=True, kw_only=True)
class RunEntry:
    """Stores the runs of schedules when they are due, for a worker."""

    store: PostgresStore
    settings: FleetSettings

    async def enter(self, firing: Firing) -> Entered:
        """Store the run of this day unless there is one. Late and repeated firings belong to the same day, as do both if 2:30 occurs twice."""
        job = decode_job(firing.task.job)
        AllowedModules(self.settings.task_modules).check(job.file.named_objects(), BUILT_IN)
        day = day_of(firing.at, firing.task.zone)
        key = f"schedule {firing.task.schedule} {day}"
        while True:
            earlier = await self.store.run_with_key(key)
            if earlier is not None:
                ended = await self.store.result(earlier) is not None
                return Entered(run="" if ended else earlier, world=job.task.world)
            run, task = new_run_of(job, f"{firing.task.schedule}-{day}")
            try:
                await self.store.begin(run, replace(task, key=key), job=encode_job(job))
            except KeyTaken:  # another firing was faster
                continue
            return Entered(run=run.id, world=job.task.world)


async def add_schedule(
    fleet: Fleet, name: str, timetable: Timetable, job: Job, *, overlap: Overlap, catch_up: timedelta, today: date
) -> None:
    """Add a schedule for a task. Raises `TaskInvalid` if the task cannot run, or if there is a schedule with this name."""
    AllowedModules(fleet.settings.task_modules).check(job.file.named_objects(), BUILT_IN)
    check_job(job)
    task = ScheduledTask(
        schedule=name,
        zone=timetable.zone,
        job=encode_job(make_portable(job)),
        tenant=fleet.settings.tenant,
        placement=Placement(heartbeat_seconds=fleet.settings.heartbeat_seconds),
    )
    calendar = Calendar(days=timetable.days, times=timetable.times(today), zone=timetable.zone)
    says = f"{job.name}: {timetable}; overlap {overlap}"
    await build_schedules(fleet).add(task, calendar, overlap=overlap, catch_up=catch_up, says=says)


def build_schedules(fleet: Fleet) -> FleetSchedules:
    return FleetSchedules(fleet.client, tenant=fleet.settings.tenant)
