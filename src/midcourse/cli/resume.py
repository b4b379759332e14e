"""`midcourse resume`: go on with a run or a batch that was left, or whose process died."""

import asyncio
from collections.abc import Sequence

from midcourse.app.batch import saved_batch
from midcourse.app.settings import Settings
from midcourse.app.wiring import job_of_run, run_folder
from midcourse.cli.find import find_batch, find_run, opened_store
from midcourse.cli.overrides import settings_with
from midcourse.cli.session import Manner, pick_up, present


def resume(name: str, overrides: Sequence[str], *, json: bool, quiet: bool) -> int:
    settings = settings_with(overrides, "home", "step_delay_seconds")
    return asyncio.run(_resume(name, settings, Manner(json=json, quiet=quiet)))


async def _resume(name: str, settings: Settings, manner: Manner) -> int:
    batch_id = await find_batch(settings, name)
    if batch_id is not None:
        from midcourse.cli.batch import conduct_batch

        return await conduct_batch(saved_batch(settings, batch_id), manner)
    with opened_store(settings) as store:
        found = await find_run(store, name)
        result = await store.result(found.id)
        if result is not None:
            return await present(result, store, run_folder(settings, found.id), manner, ended=True)
        return await pick_up(job_of_run(settings, found.id), found.id, store, manner)
