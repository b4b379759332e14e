"""`midcourse resume`: go on with a run that was left, or whose process died."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from midcourse.app.settings import Settings
from midcourse.app.wiring import Job, run_folder, saved_job
from midcourse.cli.find import find_run, opened_store
from midcourse.cli.overrides import settings_with
from midcourse.cli.session import Manner, pick_up, present
from midcourse.errors import RunBusy


def resume(name: str, overrides: Sequence[str], *, json: bool, quiet: bool) -> int:
    settings = settings_with(overrides, "home", "step_delay_seconds")
    return asyncio.run(_resume(name, settings, Manner(json=json, quiet=quiet)))


async def _resume(name: str, settings: Settings, manner: Manner) -> int:
    with opened_store(settings) as store:
        found = await find_run(store, name)
        result = await store.result(found.id)
        if result is not None:
            return await present(result, store, run_folder(settings, found.id), manner)
        try:
            return await pick_up(_job(settings, found.id), found.id, store, manner)
        except RunBusy:
            said = f"another process drives run {found.id} right now; midcourse show {found.id} looks on"
            raise RunBusy(said) from None


def _job(settings: Settings, run_id: str) -> Job:
    """As it was begun, kept where it was found, at the pace that was asked for now."""
    job = saved_job(run_folder(settings, run_id))
    now = {"home": str(settings.home)}
    if "step_delay_seconds" in settings.model_fields_set:
        now["step_delay_seconds"] = str(settings.step_delay_seconds)
    return replace(job, settings=job.settings.with_overrides(now))
