"""Starts and resumes a durable run from the command line, and follows it."""

from pathlib import Path

from midcourse.agent.wiring import Job, decode_job
from midcourse.cli.lookup import PROGRAM
from midcourse.cli.options import Verbosity
from midcourse.cli.session.local import print_result
from midcourse.cli.session.watching import WatchSession, print_problem
from midcourse.config.fleet_settings import FleetSettings
from midcourse.fleet.connection import connect_fleet, start_durable_run
from midcourse.fleet.control import START_ONE, FleetControl
from midcourse.home.folder import run_folder
from midcourse.terminal.output import print_outcome

BEGUN = 0


async def start_durable(
    job: Job, run_id: str, settings: FleetSettings, verbosity: Verbosity, *, again: bool, detach: bool
) -> int:
    """Start a run and follow it, or follow the earlier run with the same business key."""
    async with connect_fleet(settings) as fleet:
        entry = await start_durable_run(fleet, job, run_id, again=again)
        if entry.result is not None:
            return await print_result(entry.result, fleet.store, None, verbosity, key=job.task.key)
        if detach:
            return _print_started(entry.run, verbosity, attended=await fleet.runs.has_workers())
        session = WatchSession(FleetControl(fleet, entry.run), verbosity, name=job.name, goal=job.task.goal)
        folder = run_folder(job.settings, entry.run)
        return await session.follow(folder, writes=True, from_the_start=not entry.earlier)


async def resume_durable(
    run_id: str, folder: Path, settings: FleetSettings, verbosity: Verbosity, *, detach: bool
) -> int:
    """Resume a run and follow it: end its pause, or start its workflow again if none is running."""
    async with connect_fleet(settings) as fleet:
        result = await fleet.store.result(run_id)
        if result is not None:
            return await print_result(result, fleet.store, None, verbosity, ended=True)
        task, text = await fleet.store.job(run_id)
        why_not = await fleet.runs.resume(run_id, world=task.world)
        if why_not:
            return print_problem("refused", why_not, run_id, verbosity)
        if detach:
            return _print_started(run_id, verbosity, attended=await fleet.runs.has_workers())
        session = WatchSession(
            FleetControl(fleet, run_id), verbosity, name=decode_job(text).name if text else PROGRAM, goal=task.goal
        )
        return await session.follow(folder, writes=True)


def _print_started(run_id: str, verbosity: Verbosity, *, attended: bool) -> int:
    """Print that the run was started. `attended` says whether there is a worker to drive it."""
    missing = f"no worker is there to take it up; {START_ONE}"
    state = "has started" if attended else f"waits: {missing}"
    said = run_id if verbosity.quiet else f"run {run_id} {state}; to watch it: midcourse watch {run_id}"
    print_outcome({"run": run_id} if attended else {"run": run_id, "warning": missing}, said, json=verbosity.json)
    return BEGUN
