"""Recomputes states and commands from stored events with the director, since a durable run stores only events."""

from collections.abc import Iterable
from dataclasses import dataclass

from midcourse.domain.commands import Command
from midcourse.domain.events import Event
from midcourse.domain.run import Run
from midcourse.ports.store import JournalRow
from midcourse.replay import take_turn


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A row of the journal, without commands if only the event was written."""

    seq: int
    event: Event
    commands: tuple[Command, ...] | None = None


def state_after(run: Run, entries: Iterable[Entry]) -> Run:
    """Return the state after these entries, up to the first gap."""
    for entry in entries:
        if entry.seq != run.seq + 1:
            break
        run, _ = take_turn(run, entry.event)
    return run


def with_commands(opening: Run, entries: list[Entry]) -> tuple[JournalRow, ...]:
    """Return the rows with their commands, as stored or else recomputed. Entries after a gap without stored commands are left out."""
    rows: list[JournalRow] = []
    run = opening
    derived = any(entry.commands is None for entry in entries)
    for entry in entries:
        commands = entry.commands
        if derived and entry.seq == run.seq + 1:
            run, found = take_turn(run, entry.event)
            commands = found if commands is None else commands
        if commands is not None:
            rows.append(JournalRow(seq=entry.seq, event=entry.event, commands=commands))
    return tuple(rows)
