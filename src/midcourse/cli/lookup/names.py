"""Runs by name: in full, abbreviated, or `last`."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from datetime import datetime

from midcourse.app.batch.batch import batch_ids
from midcourse.app.home import DATABASE, open_store
from midcourse.app.settings.run import Settings
from midcourse.errors import RunBusy, RunUnknown
from midcourse.ports.store import RunSummary
from midcourse.store.sqlite import SqliteStore

LAST = "last"
SUGGESTED = 5


def has_store(settings: Settings) -> bool:
    return (settings.home / DATABASE).is_file()


@contextmanager
def opened_store(settings: Settings) -> Generator[SqliteStore]:
    """The store of this home. Looking for runs must not make a home where there is none."""
    if not has_store(settings):
        raise RunUnknown(f"there are no runs in '{settings.home}'; start one with midcourse run, or --set home=FOLDER")
    with open_store(settings.home) as store:
        yield store


async def find_run(store: SqliteStore, name: str) -> RunSummary:
    """By its id, the beginning of its id if that is enough, or `last`."""
    return the_one(await store.runs(), name)


def the_one(runs: Sequence[RunSummary], name: str) -> RunSummary:
    """Of these, the newest first."""
    if name == LAST and runs:
        return runs[0]
    exact = [run for run in runs if run.id == name]
    found = exact or [run for run in runs if name and run.id.startswith(name)]
    if len(found) == 1:
        return found[0]
    if not runs:
        raise RunUnknown(f"no run is called '{name}'; there are none")
    problem = f"no run is called '{name}'" if not found else f"'{name}' could be any of {len(found)} runs"
    raise RunUnknown("\n".join([f"{problem}; the latest are:", *_listed(found or runs)]))


def _listed(runs: Sequence[RunSummary]) -> list[str]:
    return [f"  {run.id}  {run.final_reason or 'not ended'}  {run.goal}" for run in runs[:SUGGESTED]]


async def find_batch(settings: Settings, name: str) -> str | None:
    """The batch that is meant, if it is one: by its id, the beginning of it, or `last` if the latest run is one of its."""
    batches = batch_ids(settings)
    if name in batches:
        return name
    if not batches or not has_store(settings):
        return None
    with opened_store(settings) as store:
        runs = [run.id for run in await store.runs()]
    if name == LAST:
        meant = [batch_of(run, batches) for run in runs[:1]]
    elif name in runs:
        return None
    else:
        meant = [each for each in batches if name and each.startswith(name)]
        meant += [run for run in runs if run.startswith(name) and batch_of(run, batches) is None]
    return meant[0] if len(meant) == 1 and meant[0] in batches else None


def batch_of(run_id: str, batches: Sequence[str]) -> str | None:
    """The batch that a run is a row of."""
    head, dash, number = run_id.rpartition("-")
    return head if dash and number.isdigit() and head in batches else None


def is_driven(store: SqliteStore, run_id: str) -> bool:
    """Whether a process drives this run right now."""
    try:
        with store.claim(run_id):
            return False
    except RunBusy:
        return True


def state_of(store: SqliteStore, run: RunSummary) -> str:
    """In words, for a list."""
    ended = run.phase == "ended" and run.final_reason
    return state_if_driven(run) if ended or is_driven(store, run.id) else "interrupted"


def state_if_driven(run: RunSummary) -> str:
    """The same, of a run that somebody drives."""
    if run.phase == "ended" and run.final_reason:
        return {"goal_reached": "done, verified", "plan_complete": "done, not verified"}.get(run.final_reason, "failed")
    return {"asking": "asking", "paused": "paused"}.get(run.phase, "running")


def local_time(at: float) -> str:
    return datetime.fromtimestamp(at).astimezone().strftime("%Y-%m-%d %H:%M:%S") if at else ""
