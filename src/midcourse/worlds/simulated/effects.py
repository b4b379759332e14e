"""The world's own truth: what really happened in its back end, whatever any screen said.

One JSON line an effect, on disk before the act returns: `{"effect": "order", "at": 1700000000.0, ...}`. The back end
outlives the session, so the lines are read back when a world begins. A line whose `at` lies ahead is an effect that is
on its way and cannot be seen yet.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Happened:
    """One effect: what kind, since when it can be seen, and what it consists of."""

    effect: str
    at: float
    values: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def get(self, name: str) -> Any:
        return self.values.get(name)

    def line(self) -> str:
        return json.dumps({"effect": self.effect, "at": self.at, **self.values})


class EffectLog:
    """Appends to a file, or to memory where no path is given."""

    def __init__(self, path: str = "") -> None:
        self._path = Path(path) if path else None
        self._all: list[Happened] = []
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            _cut_torn_line(self._path)
            self._all.extend(read_effects(path))

    def __len__(self) -> int:
        """Those on their way count, too."""
        return len(self._all)

    def append(self, happened: Happened) -> None:
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(happened.line() + "\n")
                file.flush()
                os.fsync(file.fileno())
        self._all.append(happened)

    def present(self, now: float) -> tuple[Happened, ...]:
        """What can be seen at that time, in the order in which it came about."""
        return tuple(sorted((one for one in self._all if one.at <= now), key=lambda one: one.at))


def read_effects(path: str | Path) -> tuple[Happened, ...]:
    """All effects in a log, those on their way included. For whoever counts from outside."""
    file = Path(path)
    if not file.exists():
        return ()
    return tuple(_happened(line) for line in file.read_text(encoding="utf-8").split("\n")[:-1])


def _happened(line: str) -> Happened:
    values = json.loads(line)
    return Happened(effect=values.pop("effect"), at=values.pop("at"), values=values)


def _cut_torn_line(path: Path) -> None:
    """A line without an end was never acknowledged to anybody: it did not happen."""
    if not path.exists():
        return
    text = path.read_bytes()
    whole = text.rfind(b"\n") + 1
    if whole < len(text):
        os.truncate(path, whole)
