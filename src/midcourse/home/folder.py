"""The home: the folder in which runs are kept. Only its owner may read it.

`midcourse.files` creates files and folders in it. Every command opens the home here first, which also makes homes of
earlier versions private. Nothing here needs the domain, so that commands that only list are quick.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

from midcourse.store.sqlite.catalogue import SqliteCatalogue

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
"""The files and folders of a home. Nothing else in it is changed, because `home = "."` may be a project."""
OTHERS = stat.S_IRWXG | stat.S_IRWXO
JOB_FILE = "job.json"


Catalogue: TypeAlias = SqliteCatalogue
"""The type of the list of a home's runs."""


class AtHome(Protocol):
    """Anything that names a home: the settings, or a `Home` alone."""

    @property
    def home(self) -> Path: ...


@dataclass(frozen=True)
class Home:
    """A home without other settings."""

    home: Path


def open_home(home: Path) -> Path:
    """Remove other accounts' access to our files in the home, and return it. A missing folder is not created."""
    if os.name == "nt" or not home.is_dir():
        return home
    top = [path for pattern in OURS for path in home.glob(pattern)]
    if any(_is_open(path) for path in (home, *top)):
        for path in (inner for outer in top for inner in _walk(outer)):
            _make_private(path)
        # The home comes last: if something fails before, the next process that opens it tries again. /tmp belongs to all accounts.
        if not home.stat().st_mode & stat.S_ISVTX and home.absolute() != Path("/"):
            _make_private(home)
    return home


def database_path(home: Path) -> Path:
    return (home / DATABASE).absolute()


def has_store(settings: AtHome) -> bool:
    return (settings.home / DATABASE).is_file()


def open_catalogue(settings: AtHome) -> Catalogue:
    """Open the list of a home's runs. The home must have a store."""
    return SqliteCatalogue(database_path(open_home(settings.home)))


def batch_ids(settings: AtHome) -> list[str]:
    """The ids of the batches in this home, oldest first."""
    found = [file.parent for file in (settings.home / "batches").glob(f"*/{JOB_FILE}")]
    return [folder.name for folder in sorted(found, key=lambda folder: (folder / JOB_FILE).stat().st_mtime_ns)]


def run_folder(settings: AtHome, run_id: str) -> Path:
    return settings.home / "runs" / run_id


def _walk(path: Path) -> Iterator[Path]:
    yield path
    if path.is_dir() and not path.is_symlink():
        for folder, folders, files in os.walk(path):
            yield from (Path(folder, name) for name in (*folders, *files))


def _is_open(path: Path) -> bool:
    with suppress(FileNotFoundError):
        found = path.lstat().st_mode
        return bool(found & OTHERS) and not stat.S_ISLNK(found)
    return False


def _make_private(path: Path) -> None:
    """Remove the access of other accounts. Skips files that are deleted at the same time or belong to another account."""
    with suppress(FileNotFoundError, PermissionError):
        if _is_open(path):
            path.chmod(stat.S_IMODE(path.lstat().st_mode) & ~OTHERS)
