"""`midcourse fork`: go on live from one event of a recorded run, in a world brought to that point."""

import asyncio
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace

from rich.text import Text

from midcourse.app.home import open_store
from midcourse.app.records.fork import Forked, quiet_point
from midcourse.app.records.fork import fork as fork_run
from midcourse.app.records.replay import DECIDING, changed_limits
from midcourse.app.settings.run import Settings
from midcourse.app.start import new_run_id
from midcourse.app.wiring import Job, save_job, saved_job
from midcourse.cli.lookup.journals import Found, find_journal, split_home
from midcourse.cli.session.local import Manner, Session
from midcourse.cli.view.terminal import terminal
from midcourse.errors import NotForkable, RunUnknown


def fork(name: str, at: int, overrides: Sequence[str], *, json: bool, quiet: bool) -> int:
    settings, changes = split_home(overrides)
    found = find_journal(name, settings)
    quiet_point(found.journal, at)
    job = _job(found, settings, changes)
    return asyncio.run(_fork(found, at, job, changes, Manner(json=json, quiet=quiet)))


def _job(found: Found, settings: Settings, changes: Mapping[str, str]) -> Job:
    """The recorded run's own, kept here, with what is changed."""
    try:
        job = saved_job(found.folder)
    except RunUnknown:
        raise NotForkable(
            f"there is no job.json in '{found.folder}', so nobody knows the world and the planner; fork it from Python"
        ) from None
    if "effects" in job.file.world.options:
        raise NotForkable("the task names a file for its effects, and a fork would write into the same one")
    now = {**changes, "home": str(settings.home)}
    return replace(job, overrides={**job.overrides, **changes}, settings=job.settings.with_overrides(now))


async def _fork(found: Found, at: int, job: Job, changes: Mapping[str, str], manner: Manner) -> int:
    deciding = {name: value for name, value in changes.items() if name in DECIDING}
    limits = changed_limits(found.journal.opening.limits, deciding)
    run_id = new_run_id()
    with open_store(job.settings.home) as store:
        session = Session(job, run_id, store, manner)
        save_job(job, session.folder)
        try:
            forked = await fork_run(found.journal, at, agent=session.agent, store=store, run_id=run_id, limits=limits)
        except BaseException:
            shutil.rmtree(session.folder, ignore_errors=True)
            raise
        _announce(found, at, forked, manner)
        run, _ = await store.load(run_id)
        session.view.recall(run, await store.plans(run_id), ())
        return await session.conduct(session.agent.pick_up(run_id, at_hand=True))


def _announce(found: Found, asked: int, forked: Forked, manner: Manner) -> None:
    said = f"forked from run {found.journal.opening.id} after event {forked.at}"
    if forked.at != asked:
        said += f": after event {asked} an act was under way, or the run was over"
    if not manner.silent:
        where = terminal()
        where.console.print(Text(where.marks.clean(said)), soft_wrap=True)
    elif forked.at != asked:
        print(f"midcourse: {said}", file=sys.stderr)
