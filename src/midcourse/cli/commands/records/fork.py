"""`midcourse fork`: continues live from one event of a recorded run, in a world rebuilt to that point."""

import asyncio
import shutil
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

import typer

from midcourse.agent.fork import Forked, find_quiet_point, job_of_fork, limits_of_fork
from midcourse.agent.fork import fork as fork_run
from midcourse.agent.start import new_run_id
from midcourse.agent.wiring import Job, load_saved_job, save_job
from midcourse.cli.lookup import FoundJournal, find_journal
from midcourse.cli.options import Change, Journal, Json, Quiet, Verbosity, split_home, teach
from midcourse.cli.session.local import Session
from midcourse.config.defaults import user, user_id
from midcourse.config.settings import Settings
from midcourse.errors import NotForkable, RunUnknown
from midcourse.home.stores import open_store
from midcourse.terminal.output import terminal

commands = typer.Typer()


@commands.command(
    epilog=teach(
        ("midcourse fork last --at 12", "continue from event 12 again, in a fresh world"),
        ("midcourse fork last --at 12 --set max_replans=2", "under other settings from there on"),
    ),
)
def fork(
    journal: Journal,
    at: Annotated[int, typer.Option("--at", metavar="K", help="The last event that is kept.", show_default=False)],
    set_: Change = None,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Continue live from one event of a recorded run, as a new run.

    The acts of the recorded run are repeated in a fresh world, and what is
    seen is compared with the record. Only worlds that can be rebuilt, such as
    the simulated ones, can be forked. You are asked for approvals again.

    Exit codes: 0 success, 1 ended without success, 2 misuse, 130 left
    before its end.
    """
    settings, changes = split_home(set_)
    found = find_journal(journal, settings)
    find_quiet_point(found.journal, at)
    job = _job(found, settings, changes)
    return asyncio.run(_fork(found, at, job, changes, Verbosity(json=json, quiet=quiet)))


def _job(found: FoundJournal, settings: Settings, changes: Mapping[str, str]) -> Job:
    """The job of the recorded run, changed to use this home and these settings."""
    try:
        job = job_of_fork(load_saved_job(found.folder), settings, changes)
    except RunUnknown:
        raise NotForkable(
            f"there is no job.json in '{found.folder}', so its world and planner are unknown; fork it from Python"
        ) from None
    return replace(job, by=user(), by_id=user_id())


async def _fork(found: FoundJournal, at: int, job: Job, changes: Mapping[str, str], verbosity: Verbosity) -> int:
    limits = limits_of_fork(found.journal, changes)
    run_id = new_run_id()
    with open_store(job.settings.home) as store:
        session = Session(job, run_id, store, verbosity)
        save_job(job, session.folder)
        try:
            forked = await fork_run(
                found.journal,
                at,
                agent=session.agent,
                store=store,
                run_id=run_id,
                limits=limits,
                by=job.by,
                by_id=job.by_id,
            )
        except BaseException:
            shutil.rmtree(session.folder, ignore_errors=True)
            raise
        _announce(found, at, forked, verbosity)
        run, _ = await store.load(run_id)
        session.view.restore(run, await store.plans(run_id), ())
        return await session.follow(session.agent.pick_up(run_id, world_is_open=True))


def _announce(found: FoundJournal, asked: int, forked: Forked, verbosity: Verbosity) -> None:
    text = f"forked from run {found.journal.opening.id} after event {forked.at}"
    if forked.at != asked:
        text += f": after event {asked} an act was not finished, or the run had ended"
    if not verbosity.silent:
        terminal().say(text)
    elif forked.at != asked:
        print(f"midcourse: {text}", file=sys.stderr)
