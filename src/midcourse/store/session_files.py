"""The handles of worlds' sessions, in files beside the database.

A handle has the token of its session, which allows acting there without approval. So copies and backups of the database
do not have it.
"""

from pathlib import Path
from urllib.parse import quote

from midcourse.files import atomic_write, private_folder


class SessionFiles:
    """A file for each run, for its owner only."""

    def __init__(self, database: Path) -> None:
        self._folder = database.with_name(f"{database.name}.sessions")

    def save(self, run_id: str, handle: str) -> None:
        private_folder(self._folder)
        atomic_write(self._path(run_id), handle)

    def read(self, run_id: str) -> str:
        """Nothing, if none was ever saved."""
        try:
            return self._path(run_id).read_text(encoding="utf-8")
        except FileNotFoundError:
            return ""

    def _path(self, run_id: str) -> Path:
        return self._folder / f"{quote(run_id, safe='')}.handle"
