"""`midcourse resume`: continues a run or a batch, here or in a fleet."""

import asyncio
from typing import Annotated

import typer

from midcourse.agent.control import LocalControl
from midcourse.agent.undo import undone_run
from midcourse.agent.wiring import load_run_job
from midcourse.batch.batch import saved_batch
from midcourse.cli.commands.control import report
from midcourse.cli.lookup import find_batch, find_run
from midcourse.cli.options import (
    Detach,
    Fleet,
    HomeFolder,
    Json,
    Quiet,
    RequireVerified,
    Verbosity,
    load_both_settings,
    next_runs,
    teach,
    with_options,
)
from midcourse.cli.session.local import print_result, resume_run
from midcourse.config.defaults import DEMO_PLANNERS
from midcourse.config.fleet_settings import FleetSettings
from midcourse.config.settings import Settings
from midcourse.errors import TaskInvalid
from midcourse.home.folder import run_folder
from midcourse.home.stores import LocalStore

commands = typer.Typer()


@commands.command(
    epilog=teach(
        ("midcourse resume last", "the latest run"),
        ("midcourse resume 20260802-11", "the beginning of an id is enough"),
    ),
)
def resume(
    run: Annotated[
        str,
        typer.Argument(
            metavar="RUN",
            help="A run's or a batch's id, the beginning of one, or 'last'.",
            show_default=False,
            autocompletion=next_runs,
        ),
    ],
    set_: Fleet = None,
    home: HomeFolder = "",
    detach: Detach = False,
    restored: Annotated[
        bool,
        typer.Option(
            "--restored", help="Continue in a copied or restored folder, after you have checked what the run did."
        ),
    ] = False,
    json: Json = False,
    quiet: Quiet = False,
    require_verified: RequireVerified = False,
) -> int:
    """Continue a run or batch that was paused or interrupted.

    The run first looks at the world. It repeats nothing that is finished, and
    finds out whether the interrupted step happened. If the run has ended, the
    command shows its verdict again. RUN may also be a durable run.

    A run in a copied or restored folder is resumed only if you have checked
    what it did and confirm that with --restored.

    Exit codes: 0 success, 1 ended without success, 2 misuse, 3 done but
    not verified (with --require-verified), 130 left before its end.
    """
    settings, fleet = load_both_settings(with_options(set_, home=home), "home", "step_delay_seconds")
    verbosity = Verbosity(json=json, quiet=quiet, require_verified=require_verified)
    return asyncio.run(_resume(run, settings, fleet, verbosity, detach=detach, restored=restored))


async def _resume(
    name: str, settings: Settings, fleet: FleetSettings | None, verbosity: Verbosity, *, detach: bool, restored: bool
) -> int:
    batch_id = await find_batch(settings, name)
    if batch_id is not None:
        from midcourse.cli.session.batch import follow_batch

        return await follow_batch(saved_batch(settings, batch_id), verbosity)
    async with find_run(settings, fleet, name) as found:
        run_id, store = found.run.id, found.store
        if isinstance(store, LocalStore):
            if detach:
                raise TaskInvalid(f"--detach is for durable runs: run {run_id} needs the process that drives it")
            result = await store.result(run_id)
            if result is not None:
                return await print_result(result, store, run_folder(settings, run_id), verbosity, ended=True)
            if found.state == "paused":  # by another process, which still drives it
                why_not = await LocalControl(store, run_id).resume()
                return report(run_id, why_not, "it continues in the process that runs it", json=verbosity.json)
            _, task = await store.load(run_id)
            if undone := undone_run(task):
                raise TaskInvalid(f"run {run_id} is an undo; midcourse undo {undone} continues it")
            job = load_run_job(settings, run_id)
            if job.file.planner.name in DEMO_PLANNERS:
                raise TaskInvalid(
                    f"the shop of run {run_id} ended with its demo, so it cannot continue; type: midcourse demo"
                )
            return await resume_run(job, run_id, store, verbosity, restored=restored)
    assert fleet is not None, "a durable run is in a fleet"
    from midcourse.cli.session.durable import resume_durable

    return await resume_durable(run_id, run_folder(settings, run_id), fleet, verbosity, detach=detach)
