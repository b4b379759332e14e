"""The stores of a home: runs, lessons and plan segments."""

from pathlib import Path
from typing import TypeAlias

from midcourse.home.folder import KEPT, LESSONS, database_path, open_home
from midcourse.ports.memory import Memory
from midcourse.ports.plan_cache import PlanCache
from midcourse.store.blob_folder import BlobFolder
from midcourse.store.sqlite import SqliteStore

LocalStore: TypeAlias = SqliteStore
"""The type of the store of a home."""


def open_store(home: Path) -> LocalStore:
    """Open the store of a home. It is created if it does not exist."""
    open_home(home)
    return SqliteStore(database_path(home))


def open_lessons(home: Path, *, agent: str) -> Memory:
    """The lessons of a home, as this agent sees them."""
    from midcourse.store.sqlite.memory import SqliteMemory

    return SqliteMemory(open_home(home) / LESSONS, agent=agent)


def open_lessons_beside(store: object, *, agent: str) -> Memory | None:
    """The lessons in the same folder as this store. None: it is not a file."""
    from midcourse.store.sqlite.memory import SqliteMemory

    return SqliteMemory(store.path.with_name(LESSONS), agent=agent) if isinstance(store, SqliteStore) else None


def open_segments(home: Path) -> PlanCache:
    """The plan segments that a home keeps."""
    from midcourse.store.sqlite.plan_cache import SqlitePlanCache

    return SqlitePlanCache(open_home(home) / KEPT)


def open_blobs(home: Path) -> BlobFolder:
    """Screenshots of the runs that are kept in this home."""
    return BlobFolder(home)
