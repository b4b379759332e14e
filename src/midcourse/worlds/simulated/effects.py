"""The world's own log: what really happened in its back end, independent of any screen.

One JSON line for each effect, on disk before the act returns: `{"effect": "order", "at": 1700000000.0, ...}`. The back end
outlives the session, so the lines are read back when a world begins. A line whose `at` is in the future is an effect that
is not visible yet. Worlds that name the same file share a back end, in any process.
"""

import json
import os
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from midcourse.files import private_folder, private_opener

if sys.platform != "win32":
    import fcntl


@dataclass(frozen=True, kw_only=True)
class LoggedEffect:
    """One effect: its kind, the time from which it is visible, and its values."""

    effect: str
    at: float
    values: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def get(self, name: str) -> Any:
        return self.values.get(name)

    def line(self) -> str:
        return json.dumps({"effect": self.effect, "at": self.at, **self.values})


class EffectLog:
    """The log of effects, in a file, or in memory if no path is given."""

    def __init__(self, path: str = "") -> None:
        self._path = Path(path) if path else None
        self._all: list[LoggedEffect] = []
        self._read_to = 0
        if self._path is not None:
            private_folder(self._path.parent)

    def __len__(self) -> int:
        """The number of effects, including those that are not visible yet."""
        self._read_new_lines()
        return len(self._all)

    def append(self, happened: LoggedEffect) -> None:
        if self._path is None:
            self._all.append(happened)
            return
        with _lock_file(self._path) as file:
            _cut_torn_line(file)
            file.write(happened.line().encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def present(self, now: float) -> tuple[LoggedEffect, ...]:
        """The effects that are visible at that time, in the order in which they happened."""
        self._read_new_lines()
        return tuple(sorted((effect for effect in self._all if effect.at <= now), key=lambda effect: effect.at))

    def _read_new_lines(self) -> None:
        """Read the lines that were added since the last read, by any process. A line without a line end is skipped: it may be incomplete."""
        if self._path is None or not self._path.exists() or self._path.stat().st_size <= self._read_to:
            return
        with self._path.open("rb") as file:
            file.seek(self._read_to)
            whole, newline, _ = file.read().rpartition(b"\n")
        self._read_to += len(whole) + len(newline)
        self._all += [_parse_line(line) for line in whole.decode().split("\n") if newline]


def read_effects(path: str | Path) -> tuple[LoggedEffect, ...]:
    """All effects in a log, including those that are not visible yet. Used to count effects from outside."""
    file = Path(path)
    if not file.exists():
        return ()
    return tuple(_parse_line(line) for line in file.read_text(encoding="utf-8").split("\n")[:-1])


def _parse_line(line: str) -> LoggedEffect:
    values = json.loads(line)
    return LoggedEffect(effect=values.pop("effect"), at=values.pop("at"), values=values)


@contextmanager
def _lock_file(path: Path) -> Generator[BinaryIO]:
    with open(path, "a+b", opener=private_opener) as file:
        if sys.platform != "win32":
            fcntl.flock(file, fcntl.LOCK_EX)
        yield file


def _cut_torn_line(file: BinaryIO) -> None:
    """Remove a last line without a line end: its act never returned, so it counts as not happened."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 1))
    if file.read() not in (b"", b"\n"):
        file.seek(0)
        file.truncate(file.read().rfind(b"\n") + 1)
