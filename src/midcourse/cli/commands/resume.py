"""`midcourse resume`: go on with a run or a batch that was left, or whose process died; or with a durable one."""

import asyncio
from collections.abc import Sequence

from midcourse.app.batch.batch import saved_batch
from midcourse.app.fleet.settings import FleetSettings
from midcourse.app.settings.run import Settings
from midcourse.app.wiring import job_of_run, run_folder
from midcourse.cli.lookup.names import find_batch
from midcourse.cli.lookup.places import located
from midcourse.cli.overrides import places_with
from midcourse.cli.session.local import Manner, pick_up, present
from midcourse.errors import TaskInvalid
from midcourse.store.sqlite import SqliteStore


def resume(name: str, overrides: Sequence[str], *, detach: bool, restored: bool, json: bool, quiet: bool) -> int:
    settings, fleet = places_with(overrides, "home", "step_delay_seconds")
    return asyncio.run(_resume(name, settings, fleet, Manner(json=json, quiet=quiet), detach=detach, restored=restored))


async def _resume(
    name: str, settings: Settings, fleet: FleetSettings | None, manner: Manner, *, detach: bool, restored: bool
) -> int:
    batch_id = await find_batch(settings, name)
    if batch_id is not None:
        from midcourse.cli.session.batch import conduct_batch

        return await conduct_batch(saved_batch(settings, batch_id), manner)
    async with located(settings, fleet, name) as found:
        run_id, store = found.run.id, found.store
        if isinstance(store, SqliteStore):
            if detach:
                raise TaskInvalid(f"--detach is for durable runs: run {run_id} needs a process of its own")
            result = await store.result(run_id)
            if result is not None:
                return await present(result, store, run_folder(settings, run_id), manner, ended=True)
            return await pick_up(job_of_run(settings, run_id), run_id, store, manner, restored=restored)
    assert fleet is not None, "a durable run is in a fleet"
    from midcourse.cli.session.durable import resume_durable

    return await resume_durable(run_id, run_folder(settings, run_id), fleet, manner, detach=detach)
