"""A batch: writes that wait and become one transaction."""

from typing import Any, TypeVar

import psycopg

from midcourse.codec import encode
from midcourse.domain.command import Command
from midcourse.domain.event import Event
from midcourse.domain.records.answers import Answered, Asked
from midcourse.domain.records.audit import AuditLog, Head
from midcourse.domain.records.ledger import LedgerEntry
from midcourse.domain.run import Run
from midcourse.domain.task import Task
from midcourse.errors import RunBusy
from midcourse.ports.store import Happened, Standing
from midcourse.store.postgres.database import Database, Place
from midcourse.store.postgres.journal import Entry
from midcourse.store.postgres.kinds import Key, Kind
from midcourse.store.postgres.people import traces
from midcourse.store.postgres.records import Records
from midcourse.store.postgres.statements import (
    ADD_TO_AUDIT,
    SAVE_ASKED,
    SAVE_EVENT,
    TAKE_TURN,
    TELL_STANDING,
    Statement,
    Values,
)
from midcourse.store.postgres.tables import turns

T = TypeVar("T")


class PostgresBatch(Records):
    """The writes of one command, say. Used by one task at a time.

    An act's ledger entry is written immediately, before the act, and takes along what waits; so do `begin` and `keep`, which
    can be refused. A `flush` that raised may be called again: nothing in it minds being written twice.
    """

    def __init__(self, database: Database, run_id: str = "", turn: int = 0, attempt: int = 0) -> None:
        super().__init__(database)
        self._turn = run_id, turn, attempt
        self._waiting: dict[tuple[Statement, Values], Values] = {}
        self._values: dict[Place, tuple[Any, int]] = {}
        self._events: dict[tuple[str, int], Event] = {}

    async def flush(self) -> None:
        if not self._waiting:
            return
        run_id, turn, _ = self._turn
        if turn:
            self._waiting[TAKE_TURN, (run_id,)] = self._turn
        try:
            await self._database.write([(statement, values) for (statement, _), values in self._waiting.items()])
        except psycopg.errors.NotNullViolation as refused:
            if refused.diag.table_name != turns.name:
                raise
            raise RunBusy(f"run {run_id!r} has gone on without turn {turn}: another process drives it") from None
        for place, (value, weight) in self._values.items():
            self._database.remember(*place, value, weight)
        self._waiting.clear()
        self._values.clear()
        self._events.clear()

    async def append(self, run_id: str, happened: tuple[Happened, ...], standing: Standing | None = None) -> None:
        month = await self._database.month_of(run_id)
        for item in happened:
            body = encode(item.event, Event)
            self._events[run_id, item.seq] = item.event
            await self._write((SAVE_EVENT, (run_id, month, item.seq, item.event.kind, body, None)))
            await self._write(*traces(run_id, item.seq, item.event, body))
        if standing and happened:
            began_at = happened[0].event.at
            told = (run_id, happened[-1].seq, standing.phase, standing.final_reason, began_at)
            await self._write((TELL_STANDING, told))

    async def begin(self, run: Run, task: Task, *, after: str = "", job: str = "") -> None:
        await self.flush()
        await super().begin(run, task, after=after, job=job)

    async def keep(self, run: Run, event: Event, commands: tuple[Command, ...]) -> None:
        await self.flush()
        await super().keep(run, event, commands)

    async def asked(self, run_id: str) -> tuple[Asked, ...]:
        await self._flush_if(SAVE_ASKED)
        return await super().asked(run_id)

    async def answered(self, shape: str, limit: int) -> tuple[Answered, ...]:
        await self._flush_if(SAVE_ASKED, ADD_TO_AUDIT)
        return await super().answered(shape, limit)

    async def audit(self) -> AuditLog:
        await self.flush()
        return await super().audit()

    async def audit_head(self) -> Head:
        """With what waits to be added to it."""
        await self._flush_if(ADD_TO_AUDIT)
        return await super().audit_head()

    async def _flush_if(self, *statements: Statement) -> None:
        if any(statement in statements for statement, _ in self._waiting):
            await self.flush()

    async def write_ledger(self, run_id: str, entry: LedgerEntry) -> None:
        await super().write_ledger(run_id, entry)
        if entry.dispatched_at is not None and entry.outcome is None:
            await self.flush()

    # --- what waits comes before what is stored

    async def _write(self, *writes: tuple[Statement, Values]) -> None:
        for statement, values in writes:
            self._waiting[statement, values[: statement.key]] = values

    async def _put(
        self, kind: Kind[T], run_id: str, key: Key, value: T, values: Values, *also: tuple[Statement, Values]
    ) -> None:
        await self._database.month_of(run_id)
        waits = self._waits(kind, run_id, key)
        if waits is not None and kind.settle and kind.settle(waits, value) is waits:
            return
        self._values[kind, run_id, key] = value, len(values[-1])
        await self._write((kind.write, values), *also)

    def _waits(self, kind: Kind[T], run_id: str, key: Key) -> T | None:
        found = self._values.get((kind, run_id, key))
        return found[0] if found else None

    def _at_hand(self, kind: Kind[T], run_id: str, key: Key) -> T | None:
        return self._waits(kind, run_id, key) or super()._at_hand(kind, run_id, key)

    async def _get(self, kind: Kind[T], run_id: str, key: Key) -> T | None:
        waits = self._waits(kind, run_id, key)
        if waits is not None and kind.settle is None:
            return waits
        stored = await super()._get(kind, run_id, key)
        if waits is None or stored is None or kind.settle is None:
            return waits or stored
        return kind.settle(stored, waits)

    async def _since(self, kind: Kind[T], run_id: str, since: int) -> dict[int, T]:
        found = await super()._since(kind, run_id, since)
        for (waits, run, key), (value, _) in self._values.items():
            if (waits, run) != (kind, run_id) or not isinstance(key, int) or key < since:
                continue
            found[key] = kind.settle(found[key], value) if kind.settle and key in found else value
        return dict(sorted(found.items()))

    async def _entries(self, run_id: str, above: int) -> list[Entry]:
        entries = {entry.seq: entry for entry in await super()._entries(run_id, above)}
        entries |= {
            seq: Entry(seq=seq, event=event)
            for (run, seq), event in self._events.items()
            if run == run_id and seq > above
        }
        return [entries[seq] for seq in sorted(entries)]
