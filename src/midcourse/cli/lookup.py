"""Finds a run by its id, the beginning of its id, `last`, or a journal file, in the home or in a fleet."""

import asyncio
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from midcourse.agent.control import LocalControl, RunControl, list_open_questions
from midcourse.cli.options import LAST, Overrides, load_home_and_fleet
from midcourse.cli.run_states import batch_of, driven_state, local_state
from midcourse.domain.approval import Question
from midcourse.domain.records.summary import RunSummary
from midcourse.errors import RunUnknown
from midcourse.history.journal import JOURNAL_FILE, Journal, journal_of, read_journal
from midcourse.home.folder import JOB_FILE, AtHome, batch_ids, has_store, run_folder
from midcourse.home.stores import LocalStore, open_blobs, open_store
from midcourse.ports.blobs import Blobs

if TYPE_CHECKING:
    from midcourse.config.fleet_settings import FleetSettings
    from midcourse.home.fleet_store import FleetStore

SUGGESTED = 5
PROGRAM = "run"
"""Shown for a run that a program started, because its task has no name."""


def resolve_name(runs: Sequence[RunSummary], name: str) -> RunSummary:
    """Find the run of this name among `runs`, which are sorted newest first. Raises `RunUnknown` with the runs that exist."""
    if name == LAST and runs:
        return runs[0]
    exact = [run for run in runs if run.id == name]
    found = exact or [run for run in runs if name and run.id.startswith(name)]
    if len(found) == 1:
        return found[0]
    if not runs:
        raise RunUnknown(f"no run is called '{name}'; there are none")
    problem = f"no run is called '{name}'" if not found else f"'{name}' could be any of {len(found)} runs"
    listed = [f"  {run.id}  {run.final_reason or 'not ended'}  {run.goal}" for run in (found or runs)[:SUGGESTED]]
    raise RunUnknown("\n".join([f"{problem}; the latest are:", *listed]))


# --- a run, here or in the fleet


@dataclass(frozen=True, kw_only=True)
class FoundRun:
    """A stored run and the store that has it."""

    run: RunSummary
    store: "LocalStore | FleetStore"

    @property
    def durable(self) -> bool:
        return not isinstance(self.store, LocalStore)

    @property
    def state(self) -> str:
        return local_state(self.store, self.run) if isinstance(self.store, LocalStore) else driven_state(self.run)


@asynccontextmanager
async def find_run(settings: AtHome, fleet: "FleetSettings | None", name: str) -> AsyncGenerator[FoundRun]:
    """The run of this name in the home, or in the fleet if there is one. Raises `RunUnknown`."""
    local = _local_candidates(settings, name)
    if fleet is None or (name != LAST and any(run.id == name for run in local)):
        with open_local_store(settings) as store:
            yield FoundRun(run=resolve_name(local, name), store=store)
        return
    from midcourse.home.fleet_store import open_fleet_store

    async with open_fleet_store(fleet) as fleet_store:
        durable = await _durable_candidates(fleet_store, name)
        run = resolve_name(sorted((*local, *durable), key=_age), name)
        if run in durable:
            yield FoundRun(run=run, store=fleet_store)
        else:
            with open_local_store(settings) as store:
                yield FoundRun(run=run, store=store)


def blobs_of_run(found: FoundRun, settings: AtHome, fleet: "FleetSettings | None") -> Blobs:
    """The storage with the screenshots of this run."""
    if fleet is None or isinstance(found.store, LocalStore):
        return open_blobs(settings.home)
    from midcourse.fleet.blobs import open_tenant_blobs

    return open_tenant_blobs(fleet, found.store, settings.home)


async def task_name(found: FoundRun, settings: AtHome) -> str:
    """The name of the task that the run was started from; empty if a program started it."""
    from midcourse.agent.wiring import decode_job, load_saved_name

    if isinstance(found.store, LocalStore):
        return load_saved_name(run_folder(settings, found.run.id))
    _, job = await found.store.job(found.run.id)
    return decode_job(job).name if job else ""


@contextmanager
def open_local_store(settings: AtHome) -> Generator[LocalStore]:
    """The store of this home. Raises `RunUnknown` instead of creating a home only to look into it."""
    if not has_store(settings):
        raise RunUnknown(f"there are no runs in '{settings.home}'; start one with midcourse run, or --set home=FOLDER")
    with open_store(settings.home) as store:
        yield store


def _local_candidates(settings: AtHome, name: str) -> tuple[RunSummary, ...]:
    """The runs of a home that this name may mean; its newest runs if there are none."""
    if not has_store(settings):
        return ()
    with open_local_store(settings) as store:
        named = store.named(name, SUGGESTED) if name and name != LAST else ()
        exact = tuple(run for run in named if run.id == name)
        return exact or named or store.newest(SUGGESTED)


async def _durable_candidates(store: "FleetStore", name: str) -> tuple[RunSummary, ...]:
    """The fleet's runs that this name may mean; its newest runs if there are none."""
    named = await store.runs_named(name, SUGGESTED) if name and name != LAST else ()
    exact = [run for run in named if run.id == name]
    return tuple(exact) or named or await store.runs(limit=SUGGESTED)


def _age(run: RunSummary) -> float:
    """A key that sorts runs newest first. A run that has not begun yet was stored a moment ago."""
    return -run.began_at if run.began_at else float("-inf")


# --- a run, to control or to follow it


@dataclass(frozen=True, kw_only=True)
class ControlledRun:
    """A run that another process drives, and its control."""

    run: RunSummary
    control: RunControl
    task: str
    """The name of its task."""
    folder: Path | None
    """The folder with its files, if it is a run on this machine."""


@asynccontextmanager
async def open_run(name: str, overrides: Overrides) -> AsyncGenerator[ControlledRun]:
    """The run of this name, on this machine or in the fleet. Raises `RunUnknown` with the runs that exist."""
    settings, fleet = load_home_and_fleet(overrides)
    async with find_run(settings, fleet, name) as found:
        run_id, store = found.run.id, found.store
        if isinstance(store, LocalStore):
            folder = run_folder(settings, run_id)
            task = PROGRAM
            if (folder / JOB_FILE).is_file():
                from midcourse.agent.wiring import load_saved_job

                task = load_saved_job(folder).name
            yield ControlledRun(run=found.run, control=LocalControl(store, run_id), task=task, folder=folder)
            return
        _, job = await store.job(run_id)
    assert fleet is not None, "a durable run is in a fleet"
    fleet.check_complete(settings.home)
    from midcourse.agent.wiring import decode_job
    from midcourse.fleet.connection import connect_fleet
    from midcourse.fleet.control import FleetControl

    async with connect_fleet(fleet) as connection:
        task = decode_job(job).name if job else PROGRAM
        yield ControlledRun(run=found.run, control=FleetControl(connection, run_id), task=task, folder=None)


async def local_questions(settings: AtHome) -> tuple[Question, ...]:
    """The open questions of the runs in this home, including runs that wait for their program to continue them."""
    if not has_store(settings):
        return ()
    with open_local_store(settings) as store:
        asking = [run for run in await store.runs() if run.phase == "asking"]
        return await list_open_questions(store, asking, lambda run_id: bool(store.is_claimed(run_id)))


# --- a journal


@dataclass(frozen=True, kw_only=True)
class FoundJournal:
    journal: Journal
    folder: Path
    """The folder with the run's files."""


def find_journal(name: str, settings: AtHome, fleet: "FleetSettings | None" = None) -> FoundJournal:
    """The journal in this file or folder, or of the run of this name."""
    path = Path(name)
    if path.is_dir() and (path / JOURNAL_FILE).is_file():
        path = path / JOURNAL_FILE
    if path.is_file():
        return FoundJournal(journal=read_journal(path), folder=path.parent)
    if len(path.parts) > 1 or path.suffix == ".jsonl":
        raise RunUnknown(f"there is no journal '{name}'; give a journal.jsonl, or a run's id")

    async def load() -> FoundJournal:
        async with find_run(settings, fleet, name) as found:
            journal = await journal_of(found.store, found.run.id)
            return FoundJournal(journal=journal, folder=run_folder(settings, found.run.id))

    return asyncio.run(load())


# --- batches


async def find_batch(settings: AtHome, name: str) -> str | None:
    """The batch with this name, or with a name that begins with it. For `last`, the batch that the latest run belongs to."""
    batches = batch_ids(settings)
    if name in batches:
        return name
    if not batches or not has_store(settings):
        return None
    with open_local_store(settings) as store:
        runs = [run.id for run in store.newest()]
    if name == LAST:
        meant = [batch_of(run, batches) for run in runs[:1]]
    elif name in runs:
        return None
    else:
        meant = [each for each in batches if name and each.startswith(name)]
        meant += [run for run in runs if run.startswith(name) and batch_of(run, batches) is None]
    return meant[0] if len(meant) == 1 and meant[0] in batches else None
