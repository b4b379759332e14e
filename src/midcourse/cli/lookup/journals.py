"""A journal by name: a file that was written, or a run that is kept here."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from midcourse.app.fleet.settings import FleetSettings
from midcourse.app.records.journal import JOURNAL_FILE, Journal, journal_of, read_journal
from midcourse.app.settings.run import Settings
from midcourse.app.wiring import run_folder
from midcourse.cli.lookup.places import located
from midcourse.cli.overrides import pairs
from midcourse.errors import RunUnknown

HOME = "home"


@dataclass(frozen=True, kw_only=True)
class Found:
    journal: Journal
    folder: Path
    """Where the run's files are."""


def find_journal(name: str, settings: Settings, fleet: FleetSettings | None = None) -> Found:
    """A path leads to a file, or to a run's folder; everything else is looked for among the runs, also of this fleet."""
    path = Path(name)
    if path.is_dir() and (path / JOURNAL_FILE).is_file():
        path = path / JOURNAL_FILE
    if path.is_file():
        return Found(journal=read_journal(path), folder=path.parent)
    if len(path.parts) > 1 or path.suffix == ".jsonl":
        raise RunUnknown(f"there is no journal '{name}'; give a journal.jsonl, or a run's id")
    return asyncio.run(_kept(name, settings, fleet))


async def _kept(name: str, settings: Settings, fleet: FleetSettings | None) -> Found:
    async with located(settings, fleet, name) as found:
        journal = await journal_of(found.store, found.run.id)
        return Found(journal=journal, folder=run_folder(settings, found.run.id))


def split_home(overrides: Sequence[str]) -> tuple[Settings, dict[str, str]]:
    """Where the runs are kept, and everything else that was said with `--set`."""
    said = pairs(overrides)
    home = {name: value for name, value in said.items() if name == HOME}
    return Settings.load(overrides=home), {name: value for name, value in said.items() if name != HOME}
