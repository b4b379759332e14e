"""From a job to a run in the store: a new one, or the earlier one under the same business key."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass

from midcourse.app.defaults import EnvironmentVault, check_secrets
from midcourse.app.key import Done, Free, Unfinished, standing_of
from midcourse.app.wiring import Job, job_of_run, run_folder, run_to_begin, save_job
from midcourse.domain.result import Result
from midcourse.errors import KeyTaken, RunUnknown, TaskInvalid
from midcourse.ports.store import Store


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A run that is there to be driven, or that has ended."""

    run: str
    job: Job
    result: Result | None = None
    """Of a run that had done it before."""
    earlier: bool = False
    """Whether it was begun before, under the same key."""


async def enter(
    job: Job, run_id: str, store: Store, *, again: bool = False, ready: Callable[[], object] | None = None
) -> Entry:
    """What `again` means is said in `standing_of`. Raises `KeyTaken` if a person has to look first.

    `ready` is called before a new run is stored, and builds what it needs: if that raises, no run is left behind.
    """
    while True:
        match await standing_of(store, job.task.key, again=again):
            case Done(result=result):
                return Entry(run=result.run, job=job, result=result, earlier=True)
            case Unfinished(run=earlier):
                return Entry(run=earlier, job=job_of_run(job.settings, earlier), earlier=True)
            case Free(after=after):
                if await is_stored(store, run_id):
                    raise TaskInvalid(
                        f"there is a run '{run_id}' already; choose another --run-id, or midcourse resume {run_id}"
                    )
                run, task = run_to_begin(job, run_id)
                check_secrets(task.secrets, EnvironmentVault())
                folder = run_folder(job.settings, run_id)
                save_job(job, folder)
                try:
                    if ready is not None:
                        ready()
                except BaseException:
                    shutil.rmtree(folder)
                    raise
                try:
                    await store.begin(run, task, after=after)
                except KeyTaken:  # another process was faster: see what it makes of it
                    shutil.rmtree(folder)
                    continue
                return Entry(run=run_id, job=job)


async def is_stored(store: Store, run_id: str) -> bool:
    try:
        await store.opening(run_id)
    except RunUnknown:
        return False
    return True
