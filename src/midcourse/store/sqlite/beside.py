"""The files next to the database, for what must not be copied and restored with it."""

import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

from midcourse.files import atomic_write, private_folder

ACCEPTED = 0
"""A command id which means that a person has accepted that records of this run may be missing."""


@dataclass(frozen=True, kw_only=True)
class Sent:
    run: str
    command: int


class SentLog:
    """A log of irreversible acts, which reveals a database that has lost records.

    SQLite keeps its newest records in a `-wal` file. A copy of the database without it, or a restored backup, is a valid
    database without the latest acts. This log is written after the ledger and before the act: an entry without its ledger
    entry means that records are lost. It has one line per act, and all processes that use the database only append to it.
    """

    def __init__(self, database: Path) -> None:
        self.path = database.with_name(f"{database.name}.sent")

    def append(self, sent: Sent) -> None:
        """Append a line. One write of one short line is atomic among appending processes.

        The line is not flushed. If the power fails before the system writes it, the database, which was flushed before, has the act.
        """
        line = f"{quote(sent.run, safe='')} {sent.command}\n".encode()
        file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(file, line)
        finally:
            os.close(file)

    def last(self, run_id: str | None = None) -> Sent | None:
        """Return the latest entry, or the latest of this run. A line that was cut off or damaged is skipped."""
        for line in reversed(self._lines()):
            name, _, command = line.partition(" ")
            if command.isdigit() and run_id in (None, unquote(name)):
                return Sent(run=unquote(name), command=int(command))
        return None

    def _lines(self) -> list[str]:
        try:
            return self.path.read_text(encoding="utf-8", errors="replace").splitlines()
        except FileNotFoundError:
            return []


class SessionFiles:
    """The handles of worlds' sessions: one file per run, readable only by its owner.

    A handle contains the token of its session, which allows acting without approval.
    """

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
