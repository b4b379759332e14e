"""Deletes records, files and pictures of a home's runs that ended long ago. Results and effects stay."""

import shutil
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from midcourse.errors import RunBusy
from midcourse.files import DEFAULT_TENANT, folder_of_run
from midcourse.home.folder import database_path
from midcourse.home.stores import open_store

AT_ONCE = 100
"""The number of runs that are pruned in one transaction."""


@dataclass(frozen=True, kw_only=True)
class Pruned:
    runs: int
    """The number of runs that were pruned, or would be."""
    freed_bytes: int = 0
    """How much smaller the database file has become."""
    shrunk: bool = True
    """Whether the file could be made smaller. If other processes drive runs, it keeps its size, and its free pages are reused."""


async def prune_home(home: Path, before: float, at: float, *, dry_run: bool = False) -> Pruned:
    """Prune the runs of a home that ended before this time, or only count them.

    Files are deleted first: the database names them, so if that fails halfway, it can be repeated.
    """
    with open_store(home) as store:
        found = await store.find_prunable(before, None)
        if dry_run or not found:
            return Pruned(runs=len(found))
        size, pruned = _size(home), 0
        for first in range(0, len(found), AT_ONCE):
            with ExitStack() as claims:
                free: list[str] = []
                for run_id in found[first : first + AT_ONCE]:
                    with suppress(RunBusy):  # another process may still use the run, for example to write its report
                        claims.enter_context(store.claim(run_id))
                        free.append(run_id)
                for run_id in free:
                    delete_folder(home, DEFAULT_TENANT, run_id)
                pruned += await store.prune(tuple(free), at)
        shrunk = store.shrink()
        return Pruned(runs=pruned, freed_bytes=max(0, size - _size(home)), shrunk=shrunk)


def delete_folder(home: Path, tenant: str, run_id: str) -> None:
    """Delete the files of a run in this home, pictures included, if it has any."""
    folder = home / folder_of_run(f"{tenant}/{run_id}")
    if folder.exists():
        shutil.rmtree(folder)


def _size(home: Path) -> int:
    database = database_path(home)
    return sum(path.stat().st_size for path in (database, database.with_name(f"{database.name}-wal")) if path.exists())
