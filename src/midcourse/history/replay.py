"""Replays a journal under settings given as text; 'identical' means that the encoded commands and states are equal."""

from collections.abc import Mapping
from dataclasses import fields, replace

from midcourse.codec import encode
from midcourse.config.recovery import PRESETS
from midcourse.config.settings import Settings
from midcourse.config.variables import check_names
from midcourse.domain.budget import Limits
from midcourse.domain.command import Command
from midcourse.errors import TaskInvalid
from midcourse.history.journal import Journal
from midcourse.replay import Replayed, replay

COMMANDS = tuple[Command, ...]
DECIDING = tuple(field.name for field in fields(Limits))
"""Settings that the director uses."""


def changed_limits(limits: Limits, changes: Mapping[str, str]) -> Limits:
    """The limits with these changes, which are given as text. The others stay as recorded."""
    check_names(changes, Settings)
    for name in changes:
        if name not in DECIDING and name != "recovery":
            raise TaskInvalid(f"--set {name}: the director does not go by it, so it changes nothing in a replay")
    read = Settings.load(overrides=changes)
    names = {*changes, *PRESETS[read.recovery]} - {"recovery"} if "recovery" in changes else changes
    return replace(limits, **{name: getattr(read, name) for name in names})


def replay_journal(journal: Journal, changes: Mapping[str, str] | None = None) -> Replayed:
    again = replay(journal.opening, journal.rows, changed_limits(journal.opening.limits, changes or {}))
    return _check_bytes(journal, again) if again.verdict == "identical" else again


def _check_bytes(journal: Journal, again: Replayed) -> Replayed:
    for row, commands in zip(journal.rows, again.commands, strict=True):
        if encode(commands, COMMANDS) != encode(row.commands, COMMANDS):
            detail = f"nondeterminism at event {row.seq}: the same commands are written down in another way"
            return replace(again, verdict="nondeterminism", at=row.seq, detail=detail)
    if encode(again.final) != encode(journal.state):
        last = journal.rows[-1].seq if journal.rows else 0
        detail = f"nondeterminism at event {last}: the same commands, but another state than the recorded one"
        return replace(again, verdict="nondeterminism", at=last, detail=detail)
    return again
