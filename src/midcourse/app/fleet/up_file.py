"""`<home>/up/up.json`: what `midcourse up` started, and where its servers are. So every other command finds the fleet."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from midcourse.codec import decode, encode
from midcourse.files import atomic_write
from midcourse.process import Process

SERVERS = ("PostgreSQL", "Temporal")
"""Without these two there is no fleet, whatever else is alive."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """One thing that was started."""

    name: str
    address: str
    process: Process
    log: str
    ui: str = ""
    """Where a person can look at it."""


@dataclass(frozen=True, kw_only=True)
class Up:
    parts: tuple[Part, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    """Of a fleet, as far as they follow from what was started."""

    def alive(self, name: str) -> Part | None:
        return next((part for part in self.parts if part.name == name and part.process.alive), None)


def up_folder(home: Path) -> Path:
    return home.absolute() / "up"


def read_up(home: Path) -> Up:
    """Read the file; an empty `Up` if nothing was ever started here."""
    try:
        return decode(Up, (up_folder(home) / "up.json").read_bytes())
    except FileNotFoundError:
        return Up()


def write_up(home: Path, up: Up) -> None:
    """Write it atomically, readable by its owner only: a reader of it can use the database."""
    atomic_write(up_folder(home) / "up.json", encode(up))


def fleet_in(home: Path) -> dict[str, str]:
    """The settings of the fleet that was started in this home; none if its servers are not alive any more."""
    up = read_up(home)
    return dict(up.settings) if all(up.alive(name) for name in SERVERS) else {}
