"""What all stores have in common: how rows are read, and what is refused."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, TypeVar, cast

from pydantic import ValidationError

from midcourse.codec import decode_any
from midcourse.domain.commands import Command
from midcourse.domain.events import ApprovalDecided
from midcourse.domain.phases import Ended
from midcourse.domain.records.answers import AnsweredConsequence, AskedConsequence
from midcourse.domain.records.audit import AuditLog, AuditRow, Head, HumanInput
from midcourse.domain.run import READABLE, Run
from midcourse.errors import FormatUnknown, KeyTaken, RunPruned, RunUnknown, StoreUnusable, TaskInvalid

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


def find_final_reason(run: Run) -> str:
    return run.phase.reason if isinstance(run.phase, Ended) else ""


def check_not_pruned(run_id: str, pruned_at: float | None) -> None:
    if pruned_at is not None:
        when = datetime.fromtimestamp(pruned_at, UTC)
        raise RunPruned(
            f"run {run_id!r} was pruned on {when:%Y-%m-%d at %H:%M} UTC: its journal, plans, observations and files were"
            f" deleted. Its result is still there: midcourse show {run_id}"
        )


def check_key(key: str, latest: str | None, after: str) -> None:
    """Raise `KeyTaken` if another run has the business key of a run that is to begin."""
    if latest is not None and latest != after:
        raise KeyTaken(f"run {latest!r} has the key {key!r} already")


def build_exists_error(run_id: str) -> TaskInvalid:
    return TaskInvalid(f"there is a run {run_id!r} already; choose another id, or resume it")


def build_unknown_error(run_id: str) -> RunUnknown:
    return RunUnknown(f"no run {run_id!r} in this store")


# --- rows


def read_asked(run: str, question: int, shape: str, consequence: str) -> AskedConsequence:
    return AskedConsequence(run=run, question=question, shape=shape, consequence=consequence)


def read_answered(rows: Iterable[tuple[Any, ...]]) -> tuple[AnsweredConsequence, ...]:
    return tuple(
        AnsweredConsequence(asked=read_asked(*row), decision=decode_stored(ApprovalDecided, body))
        for *row, body in rows
    )


def read_audit_log(
    chain: str,
    rows: Iterable[tuple[Any, ...]],
    anchors: Iterable[tuple[str]],
    inputs: Iterable[tuple[Any, ...]],
    *,
    backed: bool = False,
    pruned: Iterable[tuple[str]] = (),
) -> AuditLog:
    return AuditLog(
        chain=chain,
        backed=backed,
        rows=tuple(AuditRow(n=n, run=run, seq=seq, body=body, hash=digest) for n, run, seq, body, digest in rows),
        anchors=tuple(decode_stored(Head, head) for (head,) in anchors),
        inputs=tuple(HumanInput(run=run, seq=seq, body=body) for run, seq, body in inputs),
        pruned=frozenset(run for (run,) in pruned),
    )
