"""`midcourse run`: carry out a task, once or for every row of a table."""

import asyncio
import re
from collections.abc import Sequence

from midcourse.app.fleet.settings import FleetSettings
from midcourse.app.one_line import taping
from midcourse.app.start import new_run_id
from midcourse.app.wiring import load_job
from midcourse.cli.lookup.names import LAST
from midcourse.cli.overrides import pairs, split
from midcourse.cli.session.local import Manner, begin
from midcourse.errors import TaskInvalid


def run(task: str, overrides: Sequence[str], *, run_id: str, again: bool, json: bool, quiet: bool) -> int:
    check_name("--run-id", run_id)
    job = load_job(task, pairs(overrides))
    return asyncio.run(begin(job, run_id or new_run_id(), Manner(json=json, quiet=quiet), again=again))


def run_durably(
    task: str, overrides: Sequence[str], *, run_id: str, again: bool, detach: bool, json: bool, quiet: bool
) -> int:
    check_name("--run-id", run_id)
    of_runs, of_fleets = split(overrides)
    job = load_job(task, pairs(of_runs))
    settings = FleetSettings.load(job.settings.home, of_fleets)
    settings.check_complete(job.settings.home)
    from midcourse.cli.session.durable import begin_durable

    manner = Manner(json=json, quiet=quiet)
    return asyncio.run(begin_durable(job, run_id or new_run_id(), settings, manner, again=again, detach=detach))


def run_rows(
    task: str,
    overrides: Sequence[str],
    *,
    inputs: str,
    batch_id: str,
    concurrency: int | None,
    results: str,
    again: bool,
    json: bool,
    quiet: bool,
) -> int:
    from midcourse.cli.session.batch import begun_batch, conduct_batch

    check_name("--batch", batch_id)
    job = load_job(task, pairs(overrides))
    batch = begun_batch(job, inputs, batch_id=batch_id, results=results, concurrency=concurrency)
    return asyncio.run(conduct_batch(batch, Manner(json=json, quiet=quiet), again=again))


def on_tape(*, record: str, cassette: str) -> list[str]:
    """As settings of the run."""
    return [f"{name}={file}" for name, file in taping(record=record, cassette=cassette).items()]


def refuse_mixture(
    *, inputs: str, run_id: str, batch_id: str, results: str, concurrency: int | None, durable: bool, detach: bool
) -> None:
    """An option that would do nothing is refused: whoever gave it expects it to do something."""
    if inputs and durable:
        raise TaskInvalid("--inputs is for runs on this machine; begin durable ones one by one, with --detach")
    if detach and not durable:
        raise TaskInvalid("--detach is for durable runs: others need the process that drives them")
    if inputs and run_id:
        raise TaskInvalid("--run-id names one run; with --inputs it is --batch that gives the runs their names")
    for option, given in (("--batch", batch_id), ("--results", results), ("--concurrency", concurrency)):
        if given and not inputs:
            raise TaskInvalid(f"{option} is for many runs: name their rows with --inputs FILE")


def check_name(option: str, name: str) -> None:
    """Raises `TaskInvalid` for what cannot be the name of a run or a batch."""
    if name and (name == LAST or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}", name)):
        raise TaskInvalid(f"{option} '{name}': letters, digits, dots and dashes only, 80 at most, and not '{LAST}'")
