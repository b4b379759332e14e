"""Collects the records of one command until they are written with its turn, and only by the claim that drives the run."""

from dataclasses import dataclass, field
from typing import Any, TypeVar

import psycopg

from midcourse.codec import encode
from midcourse.domain.commands import Command
from midcourse.domain.events import ApprovalDecided, Event
from midcourse.domain.records.answers import AnsweredConsequence, AskedConsequence
from midcourse.domain.records.audit import AuditLog
from midcourse.domain.records.ledger import LedgerEntry
from midcourse.domain.run import Run
from midcourse.errors import RunBusy
from midcourse.policy.audit import is_human_input
from midcourse.ports.driving import Claim, MessageWaiting
from midcourse.store.deltas import NO_BASE, Base, compress
from midcourse.store.postgres.database import Database, Place
from midcourse.store.postgres.records import PostgresRecords
from midcourse.store.postgres.statements import (
    ADD_TO_AUDIT,
    CLOSE_QUESTION,
    FENCE,
    KEEP_TURN,
    SAVE_ASKED,
    SAVE_BASE,
    SAVE_EVENT,
    UPDATE_STANDING,
    Key,
    Kind,
    Statement,
    Values,
)
from midcourse.store.state import COMMANDS, find_final_reason

T = TypeVar("T")

BASE_EVERY = 50
"""The number of turns after which a whole state is stored again."""

CLAIMED_BY = b"SELECT epoch, holder, seq, messages FROM midcourse.drives WHERE run = %s"
TURN = b"""SELECT event, commands FROM midcourse.journal WHERE run = %(run)s AND seq = %(seq)s
AND month = (SELECT month FROM midcourse.runs WHERE id = %(run)s)"""


@dataclass
class Drive:
    """The data that the writers of one claim share."""

    claim: Claim
    base: Base = field(default=NO_BASE)
    listed: str = ""
    """The phase that the list of runs shows."""
    written: int | None = None
    """The last turn that this claim has written."""


class PostgresBatch(PostgresRecords):
    """Collects writes, and writes them only while the claim is the latest. One task at a time may use it.

    An act's ledger entry is written immediately, before the act, together with the collected writes. A method that has raised may be
    called again, since all writes are idempotent.
    """

    def __init__(self, database: Database, drive: Drive) -> None:
        super().__init__(database)
        self._drive = drive
        self._claim = drive.claim
        self._waiting: dict[tuple[Statement, Values], Values] = {}
        self._values: dict[Place, tuple[Any, int]] = {}

    async def flush(self) -> None:
        if self._waiting:
            claim = self._claim
            await self._send([*self._collect_writes(), (FENCE, (claim.run, claim.epoch, claim.holder))])
            self._forget_flushed()

    async def save_turn(
        self,
        run: Run,
        event: Event,
        commands: tuple[Command, ...],
        *,
        claim: Claim | None = None,
        known: int | None = None,
        message: int = 0,
    ) -> None:
        assert claim in (None, self._claim), "a batch belongs to one claim"
        body, issued = encode(event, Event), encode(commands, COMMANDS)
        month = await self._database.find_month(run.id)
        text, base = encode(run).encode(), self._drive.base
        if not base.text or run.seq - base.seq >= BASE_EVERY:
            base = Base(run.seq, text)
        state = compress(text, base)
        after = self._drive.written
        turn = (run.id, self._claim.epoch, self._claim.holder, known, message, after, run.seq, base.seq, state)
        writes: list[tuple[Statement, Values]] = [
            *self._collect_writes(),
            (SAVE_EVENT, (run.id, month, run.seq, event.kind, body, issued)),
        ]
        if is_human_input(event):
            writes.append((ADD_TO_AUDIT, (run.id, run.seq, body)))
        if isinstance(event, ApprovalDecided) and event.question:
            writes.append((CLOSE_QUESTION, (run.id, event.question, body)))
        # Lists only distinguish waiting, ended and other runs, so most turns change nothing that they show.
        listed = run.phase.kind if run.phase.kind in ("asking", "paused", "ended") else "running"
        if listed != self._drive.listed:
            writes.append((UPDATE_STANDING, (run.id, run.seq, listed, find_final_reason(run), event.at)))
        if base is not self._drive.base:
            writes.append((SAVE_BASE, (run.id, base.seq, compress(base.text))))
        writes.append((KEEP_TURN, turn))
        try:
            await self._send(writes)
        except _TurnRefused as refused:
            await self._check_turn(run, (body, issued), refused.reached, known or 0)
        self._drive.base, self._drive.listed = base, listed
        self._drive.written = run.seq
        self._forget_flushed()

    async def _send(self, writes: list[tuple[Statement, Values]]) -> None:
        """Write everything in one transaction. Its last statement fails if the claim is not the latest."""
        try:
            written = await self._database.write(writes)
        except psycopg.errors.NotNullViolation as refused:
            if refused.diag.table_name != "drives":
                raise
            written = 0
        if written == 0:
            raise _TurnRefused(await self.check())

    async def check(self, known: int = 0) -> int:
        """Return the turn that the run has reached.

        Raise `RunBusy` if the claim is not the latest, or if the database has lost what this claim wrote or read. Then the run must be
        claimed and loaded again.
        """
        claim, written = self._claim, self._drive.written or 0
        for epoch, holder, seq, messages in await self._database.rows(CLAIMED_BY, (claim.run,)):
            if (epoch, holder) == (claim.epoch, claim.holder):
                if seq < written or messages < known:
                    raise RunBusy(f"run {claim.run!r}: the database has lost commits")
                return seq
        raise RunBusy(f"run {claim.run!r} was claimed by another process")

    async def _check_turn(self, run: Run, turn: tuple[str, str], reached: int, known: int) -> None:
        """Return if this turn is stored, because an earlier attempt was written and only its answer was lost.

        Raise `MessageWaiting` if the run has not reached this turn, `RunBusy` if another turn is stored in its place.
        """
        if reached < run.seq:
            await self.check(known)
            raise MessageWaiting
        if await self._database.rows(TURN, {"run": run.id, "seq": run.seq}) != [turn]:
            raise RunBusy(f"run {run.id!r} was continued by another process at turn {run.seq}")

    def _collect_writes(self) -> list[tuple[Statement, Values]]:
        return [(statement, values) for (statement, _), values in self._waiting.items()]

    def _forget_flushed(self) -> None:
        """Move the records that were written from this batch to the cache."""
        for place, (value, weight) in self._values.items():
            self._database.remember(*place, value, weight)
        self._waiting.clear()
        self._values.clear()

    # --- reads that need what is not flushed yet

    async def asked_consequences(self, run_id: str) -> tuple[AskedConsequence, ...]:
        await self._flush_if(SAVE_ASKED)
        return await super().asked_consequences(run_id)

    async def answered_consequences(self, shape: str, limit: int) -> tuple[AnsweredConsequence, ...]:
        await self._flush_if(SAVE_ASKED)
        return await super().answered_consequences(shape, limit)

    async def audit(self) -> AuditLog:
        await self.flush()
        return await super().audit()

    async def _flush_if(self, statement: Statement) -> None:
        if any(waiting is statement for waiting, _ in self._waiting):
            await self.flush()

    async def write_ledger(self, run_id: str, entry: LedgerEntry) -> None:
        await super().write_ledger(run_id, entry)
        if entry.dispatched_at is not None and entry.outcome is None:
            await self.flush()

    # --- unflushed writes take precedence over stored rows

    async def _write(self, *writes: tuple[Statement, Values]) -> None:
        for statement, values in writes:
            self._waiting[statement, values[: statement.key]] = values

    async def _put(
        self, kind: Kind[T], run_id: str, key: Key, value: T, values: Values, *also: tuple[Statement, Values]
    ) -> None:
        await self._database.find_month(run_id)
        waits = self._find_unflushed(kind, run_id, key)
        if waits is not None and kind.choose and kind.choose(waits, value) is waits:
            return
        self._values[kind, run_id, key] = value, len(values[-1])
        await self._write((kind.write, values), *also)

    def _find_unflushed(self, kind: Kind[T], run_id: str, key: Key) -> T | None:
        found = self._values.get((kind, run_id, key))
        return found[0] if found else None

    def _find_cached(self, kind: Kind[T], run_id: str, key: Key) -> T | None:
        return self._find_unflushed(kind, run_id, key) or super()._find_cached(kind, run_id, key)

    async def _get(self, kind: Kind[T], run_id: str, key: Key) -> T | None:
        waits = self._find_unflushed(kind, run_id, key)
        if waits is not None and kind.choose is None:
            return waits
        stored = await super()._get(kind, run_id, key)
        if waits is None or stored is None or kind.choose is None:
            return waits or stored
        return kind.choose(stored, waits)

    async def _load_since(self, kind: Kind[T], run_id: str, since: int) -> dict[int, T]:
        found = await super()._load_since(kind, run_id, since)
        for (waits, run, key), (value, _) in self._values.items():
            if (waits, run) != (kind, run_id) or not isinstance(key, int) or key < since:
                continue
            found[key] = kind.choose(found[key], value) if kind.choose and key in found else value
        return dict(sorted(found.items()))


class _TurnRefused(Exception):
    """Nothing was written, although the claim is the latest. `reached` is the turn that the run has reached."""

    def __init__(self, reached: int) -> None:
        super().__init__()
        self.reached = reached
