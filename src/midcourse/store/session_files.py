"""Keeps the handles of worlds' sessions in files next to the database.

A handle contains the token of its session, which allows acting without approval, so it must not be in copies and backups of
the database.
"""

from pathlib import Path
from urllib.parse import quote

from midcourse.files import atomic_write, private_folder


class SessionFiles:
    """One file per run, readable only by its owner."""

    def __init__(self, database: Path) -> None:
        self._folder = database.with_name(f"{database.name}.sessions")

    def save(self, run_id: str, handle: str) -> None:
        private_folder(self._folder)
        atomic_write(self._path(run_id), handle)

    def read(self, run_id: str) -> str:
        """Return the handle of a run's session, or an empty string if none was saved."""
        try:
            return self._path(run_id).read_text(encoding="utf-8")
        except FileNotFoundError:
            return ""

    def delete(self, run_id: str) -> None:
        self._path(run_id).unlink(missing_ok=True)

    def _path(self, run_id: str) -> Path:
        return self._folder / f"{quote(run_id, safe='')}.handle"
