"""The stored state of a run: reads it, refuses formats that this version cannot read, and says which turns must be flushed."""

import json
from typing import Any, TypeVar, cast

from pydantic import ValidationError

from midcourse.codec import decode_any
from midcourse.domain.budget import Cost, total
from midcourse.domain.command import AskPerson, Command
from midcourse.domain.event import Acted, Event
from midcourse.domain.phase import Ended
from midcourse.domain.run import READABLE, Run
from midcourse.errors import FormatUnknown, RunUnknown, StoreUnusable
from midcourse.policy.audit import is_human_input

T = TypeVar("T")


def decode_stored(kind: type[T], text: str | bytes) -> T:
    """Decode what a store holds. Raises `StoreUnusable` if it is damaged."""
    return decode_stored_any(kind, text)


def decode_stored_any(kind: Any, text: str | bytes) -> Any:
    """As `decode_stored`, for unions such as `Event` that no type checker takes as a class."""
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


def must_survive(run: Run, event: Event, commands: tuple[Command, ...]) -> bool:
    """Whether this turn has to be on the disk before the next, so that a power cut repeats nothing outside this computer.

    Others are observations, checks and plans that cost nothing, which a resumed run makes again. An act that may not be repeated
    is in the ledger before it is sent, which is always flushed.
    """
    if isinstance(event, Acted) or is_human_input(event) or isinstance(run.phase, Ended):
        return True
    if any(isinstance(command, AskPerson) for command in commands) or _is_paid(total(getattr(event, "spent", ()))):
        return True
    issued = {command.id for command in commands}
    return any(_is_paid(pending.reserved) for pending in run.pending if pending.command.id in issued)


def _is_paid(cost: Cost) -> bool:
    """Whether a model was called. A planner that is a program costs a call and nothing else."""
    return bool(cost.tokens or cost.microusd)


def unknown(run_id: str) -> RunUnknown:
    return RunUnknown(f"no run {run_id!r} in this store")
