"""Runs by name: in full, abbreviated, or `last`."""

from collections.abc import Generator
from contextlib import contextmanager
from datetime import datetime

from midcourse.app.agent import DATABASE
from midcourse.app.settings import Settings
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
    with SqliteStore(settings.home / DATABASE) as store:
        yield store


async def find_run(store: SqliteStore, name: str) -> RunSummary:
    """By its id, the beginning of its id if that is enough, or `last`."""
    runs = await store.runs()
    if name == LAST and runs:
        return runs[0]
    exact = [run for run in runs if run.id == name]
    found = exact or [run for run in runs if name and run.id.startswith(name)]
    if len(found) == 1:
        return found[0]
    problem = f"no run is called '{name}'" if not found else f"'{name}' could be any of {len(found)} runs"
    raise RunUnknown("\n".join([f"{problem}; the latest are:", *_listed(found or list(runs))]))


def _listed(runs: list[RunSummary]) -> list[str]:
    return [f"  {run.id}  {run.final_reason or 'not ended'}  {run.goal}" for run in runs[:SUGGESTED]]


def is_driven(store: SqliteStore, run_id: str) -> bool:
    """Whether a process drives this run right now."""
    try:
        with store.claim(run_id):
            return False
    except RunBusy:
        return True


def state_of(store: SqliteStore, run: RunSummary) -> str:
    """In words, for a list."""
    if run.phase == "ended" and run.final_reason:
        return {"goal_reached": "done, verified", "plan_complete": "done, not verified"}.get(run.final_reason, "failed")
    if is_driven(store, run.id):
        return {"asking": "asking", "paused": "paused"}.get(run.phase, "running")
    return "interrupted"


def local_time(at: float) -> str:
    return datetime.fromtimestamp(at).astimezone().strftime("%Y-%m-%d %H:%M:%S") if at else ""
