"""`<home>/up/up.json`: what `midcourse up` started, and where its servers are. Other commands find the fleet with it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from midcourse.codec import decode, encode
from midcourse.files import atomic_write
from midcourse.process import Process

SERVERS = ("PostgreSQL", "Temporal")
"""The parts without which there is no fleet, even if others are alive."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """One part of the fleet that was started."""

    name: str
    address: str
    process: Process
    log: str
    ui: str = ""
    """The address of its web page, if it has one."""


@dataclass(frozen=True, kw_only=True)
class Up:
    parts: tuple[Part, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    """Settings of the fleet that follow from what was started, such as addresses."""

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
    """Write the file atomically, readable by its owner only, because its contents give access to the database."""
    atomic_write(up_folder(home) / "up.json", encode(up))


def fleet_in(home: Path) -> dict[str, str]:
    """The settings of the fleet that was started in this home; empty if its servers are no longer alive."""
    up = read_up(home)
    return dict(up.settings) if all(up.alive(name) for name in SERVERS) else {}
