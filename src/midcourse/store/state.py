"""Reads the stored state of a run, and refuses formats that this version cannot read."""

import json
from datetime import UTC, datetime
from typing import Any, TypeVar, cast

from pydantic import ValidationError

from midcourse.codec import decode_any
from midcourse.domain.commands import Command
from midcourse.domain.phases import Ended
from midcourse.domain.run import READABLE, Run
from midcourse.errors import FormatUnknown, RunPruned, RunUnknown, StoreUnusable

T = TypeVar("T")

COMMANDS = tuple[Command, ...]
"""The type of the commands of a turn, for the codec."""


def decode_stored(kind: type[T], text: str | bytes) -> T:
    """Decode what a store holds. Raise `StoreUnusable` if it is damaged."""
    return decode_stored_any(kind, text)


def decode_stored_any(kind: Any, text: str | bytes) -> Any:
    """Decode like `decode_stored`, but for unions such as `Event`, which type checkers do not accept as a class."""
    try:
        return decode_any(kind, text)
    except ValidationError as error:
        what = error.errors(include_url=False, include_input=False)[0]["msg"]
        raise StoreUnusable(f"a stored {error.title} is damaged ({what}); restore the store from a backup") from error


def read_run(run_id: str, state: str) -> Run:
    check_format(run_id, state)
    return decode_stored(Run, state)


def check_format(run_id: str, state: str) -> None:
    try:
        read: Any = json.loads(state)
    except ValueError as error:
        raise StoreUnusable(
            f"the state of run {run_id!r} is damaged ({error}); restore the store from a backup"
        ) from error
    found = cast(dict[str, Any], read).get("format") if isinstance(read, dict) else None
    if found not in READABLE:
        raise FormatUnknown(f"run {run_id!r} has format {found}, this version reads up to {READABLE[-1]}")


def final_reason_of(run: Run) -> str:
    return run.phase.reason if isinstance(run.phase, Ended) else ""


def check_not_pruned(run_id: str, pruned_at: float | None) -> None:
    if pruned_at is not None:
        when = datetime.fromtimestamp(pruned_at, UTC)
        raise RunPruned(
            f"run {run_id!r} was pruned on {when:%Y-%m-%d at %H:%M} UTC: its journal, plans, observations and files were"
            f" deleted. Its result is still there: midcourse show {run_id}"
        )


def build_unknown_error(run_id: str) -> RunUnknown:
    return RunUnknown(f"no run {run_id!r} in this store")
