"""The home: the folder in which runs are kept. Only its owner may read it.

`midcourse.files` creates files and folders in it. Every command opens the home here first, which also makes homes of
earlier versions private.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from midcourse.ports.memory import Memory
from midcourse.ports.plan_cache import PlanCache
from midcourse.store.sqlite import SqliteStore

DATABASE = "midcourse.db"
KEPT = "segments.db"
LESSONS = "lessons.db"
OURS = (
    f"{DATABASE}*",
    f"{KEPT}*",
    f"{LESSONS}*",
    "runs",
    "batches",
    "server",
    "up",
    "host.json",
    "host.log",
    "host.acts.jsonl",
)
"""What a home consists of. Nothing else in it is changed: `home = "."` may be a project."""
OTHERS = stat.S_IRWXG | stat.S_IRWXO


LocalStore: TypeAlias = SqliteStore
"""The store of a home."""


def open_home(home: Path) -> Path:
    """The same folder, with nothing of ours open to other accounts. A folder that does not exist is not created."""
    if os.name == "nt" or not home.is_dir():
        return home
    top = [path for pattern in OURS for path in home.glob(pattern)]
    if any(_is_open(path) for path in (home, *top)):
        for path in (inner for outer in top for inner in _everything_in(outer)):
            _close(path)
        if not home.stat().st_mode & stat.S_ISVTX and home.absolute() != Path("/"):  # a /tmp belongs to all
            _close(home)  # last: until then the next one to open it tries again
    return home


def open_store(home: Path) -> LocalStore:
    """The store of a home, created where there is none."""
    open_home(home)
    return SqliteStore(database_of(home))


def database_of(home: Path) -> Path:
    return (home / DATABASE).absolute()


def open_lessons(home: Path, *, agent: str) -> Memory:
    """The lessons of a home, as this agent sees them."""
    from midcourse.store.sqlite_memory import SqliteMemory

    return SqliteMemory(open_home(home) / LESSONS, agent=agent)


def open_segments(home: Path) -> PlanCache:
    """The plan segments that a home keeps."""
    from midcourse.store.sqlite_plan_cache import SqlitePlanCache

    return SqlitePlanCache(open_home(home) / KEPT)


def _everything_in(path: Path) -> Iterator[Path]:
    yield path
    if path.is_dir() and not path.is_symlink():
        for folder, folders, files in os.walk(path):
            yield from (Path(folder, name) for name in (*folders, *files))


def _is_open(path: Path) -> bool:
    with suppress(FileNotFoundError):
        found = path.lstat().st_mode
        return bool(found & OTHERS) and not stat.S_ISLNK(found)
    return False


def _close(path: Path) -> None:
    """Files come and go while runs are under way, and another account's are not ours to change."""
    with suppress(FileNotFoundError, PermissionError):
        if _is_open(path):
            path.chmod(stat.S_IMODE(path.lstat().st_mode) & ~OTHERS)
