"""Drives runs on SQLite: claims, messages and rest. Each is one write transaction, which excludes all others."""

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, TypeVar

from midcourse.codec import encode
from midcourse.domain.approval import Question
from midcourse.domain.events import Event
from midcourse.domain.phases import Asking
from midcourse.domain.run import Run
from midcourse.errors import RunBusy
from midcourse.ports.controls import Request
from midcourse.ports.driving import Claim
from midcourse.ports.inbox import Message, Posted
from midcourse.store.state import build_unknown_error, decode_stored, decode_stored_any, read_run

T = TypeVar("T")


class SqliteDriving:
    """The part of a store that drives runs, and the SQL helpers that it shares with the other parts."""

    _db: sqlite3.Connection

    async def claim_run(self, run_id: str, *, placed: int = 0) -> Claim:
        with self._transaction():
            sql = "SELECT epoch, placed, messages_decided, rested_epoch, rested_seq FROM runs WHERE id = ?"
            epoch, earlier, decided, rested_epoch, rested_seq = self._fetch_known(run_id, sql)
            if placed and placed < earlier:
                raise RunBusy(f"run {run_id!r} was given to another worker meanwhile")
            change = "UPDATE runs SET epoch = ?, placed = ?, resting = 0 WHERE id = ?"
            self._write(run_id, change, epoch + 1, max(placed, earlier))
        rested_at = rested_seq if rested_epoch == epoch else -1
        return Claim(run=run_id, epoch=epoch + 1, decided=decided, rested_at=rested_at)

    async def rest(self, claim: Claim, *, seq: int, known: int, wake_at: float | None = None) -> bool:
        with self._transaction():
            self._check_claim(claim)
            if self._last_message(claim.run) > known:
                return False
            change = "UPDATE runs SET resting = 1, rested_epoch = ?, rested_seq = ? WHERE id = ?"
            self._write(claim.run, change, claim.epoch, seq)
        return True

    def _check_claim(self, claim: Claim) -> None:
        if self._fetch_known(claim.run, "SELECT epoch FROM runs WHERE id = ?") != (claim.epoch,):
            raise RunBusy(f"run {claim.run!r} was claimed by another process")

    # --- messages from other processes

    async def post(self, run_id: str, event: Request) -> Posted:
        with self._transaction(durable=True):
            decided, resting = self._fetch_known(run_id, "SELECT messages_decided, resting FROM runs WHERE id = ?")
            waiting = await self.messages(run_id, decided)
            from midcourse.director.decide import why_no_effect_after  # not needed to list or show runs

            if refused := why_no_effect_after(self._load_state(run_id), (message.event for message in waiting), event):
                return Posted(refused=refused)
            number = self._last_message(run_id) + 1
            self._db.execute("INSERT INTO inbox VALUES (?, ?, ?)", (run_id, number, encode(event, Event)))
        return Posted(number=number, resting=bool(resting))

    async def messages(self, run_id: str, after: int) -> tuple[Message, ...]:
        rows = self._db.execute(
            "SELECT number, event FROM inbox WHERE run = ? AND number > ? ORDER BY number", (run_id, after)
        )
        return tuple(Message(number=number, event=decode_stored_any(Request, event)) for number, event in rows)

    def _last_message(self, run_id: str) -> int:
        (number,) = self._fetch_one("SELECT coalesce(max(number), 0) FROM inbox WHERE run = ?", run_id)
        return number

    async def save_question(self, question: Question) -> None:
        sql = "INSERT OR REPLACE INTO questions SELECT id, ?, ? FROM runs WHERE id = ?"
        self._write(question.run, sql, question.id, encode(question))

    async def open_question(self, run_id: str) -> Question | None:
        run = self._load_state(run_id)
        if not isinstance(run.phase, Asking):
            return None
        sql = "SELECT body FROM questions WHERE run = ? AND question = ?"
        return self._fetch_body(Question, sql, run_id, run.phase.question)

    def _load_state(self, run_id: str) -> Run:
        return read_run(run_id, *self._fetch_known(run_id, "SELECT state FROM runs WHERE id = ?"))

    # --- SQL

    @contextmanager
    def _transaction(self, *, durable: bool = False) -> Generator[None]:
        """Open a write transaction. A durable one is flushed to the disk, together with all that were committed before.

        Other transactions survive the death of the process, but loss of power may lose them if no durable one has followed.
        """
        if durable:
            self._db.execute("PRAGMA synchronous = FULL")
        try:
            with self._db:
                self._db.execute("BEGIN IMMEDIATE")
                yield
        finally:
            if durable:
                self._db.execute("PRAGMA synchronous = NORMAL")

    def _fetch_one(self, sql: str, *values: object) -> Any:
        return self._db.execute(sql, values).fetchone()

    def _fetch_known(self, run_id: str, sql: str) -> tuple[Any, ...]:
        row = self._fetch_one(sql, run_id)
        if row is None:
            raise build_unknown_error(run_id)
        return row

    def _fetch_body(self, kind: type[T], sql: str, *values: object) -> T | None:
        row = self._fetch_one(sql, *values)
        return decode_stored(kind, row[0]) if row else None

    def _fetch_bodies(self, kind: type[T], sql: str, *values: object) -> tuple[T, ...]:
        return tuple(decode_stored(kind, body) for (body,) in self._db.execute(sql, values))

    def _write(self, run_id: str, sql: str, *values: object) -> None:
        """Execute a statement with the run's id as its last parameter. Raise `RunUnknown` if the run does not exist."""
        if not self._db.execute(sql, (*values, run_id)).rowcount:
            raise build_unknown_error(run_id)
