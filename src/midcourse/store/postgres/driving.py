"""Drives runs on PostgreSQL: claims, turns, messages and rest. The run's row in `drives`, which is locked, decides about each."""

import asyncio
import secrets
from collections.abc import Callable
from contextlib import suppress
from hashlib import md5

from psycopg import AsyncConnection

from midcourse.codec import decode_any, encode
from midcourse.director.decide import find_objection_after
from midcourse.domain.commands import Command
from midcourse.domain.events import Event
from midcourse.domain.run import Run
from midcourse.errors import RunBusy, RunUnknown
from midcourse.ports.controls import Request
from midcourse.ports.driving import Claim
from midcourse.ports.inbox import Message, Posted
from midcourse.store.postgres import queries
from midcourse.store.postgres.batch import Drive, PostgresBatch
from midcourse.store.postgres.database import Database
from midcourse.store.postgres.records import Records
from midcourse.store.postgres.statements import (
    CLAIM_RUN,
    POST,
    REST,
)

LISTEN_AGAIN = 0.5
"""Seconds until a lost connection for notifications is opened again."""


class PostgresDriving(Records):
    """The part of a store that drives runs."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._drives: dict[str, Drive] = {}

    async def claim_run(self, run_id: str, *, placed: int = 0) -> Claim:
        holder = secrets.token_hex(8)
        await self._database.month_of(run_id)
        rows = await self._database.rows(CLAIM_RUN, {"run": run_id, "holder": holder, "placed": placed})
        if not rows:
            raise RunBusy(f"run {run_id!r} was given to another worker meanwhile")
        epoch, decided, rested_epoch, rested_seq = rows[0]
        ended = [run for run, drive in self._drives.items() if drive.listed == "ended"]
        for run in (run_id, *ended):
            self._forget_drive(run)
        claim = Claim(
            run=run_id,
            epoch=epoch,
            holder=holder,
            decided=decided,
            rested_at=rested_seq if epoch > 1 and rested_epoch == epoch - 1 else -1,
        )
        self._drives[run_id] = Drive(claim)
        return claim

    def _forget_drive(self, run_id: str) -> None:
        """Drop what is cached of a run that this process does not drive. Another process may change it, and a claim reads it again."""
        self._drives.pop(run_id, None)
        self._database.forget(run_id)

    def records(self, claim: Claim) -> PostgresBatch:
        drive = self._drives.get(claim.run)
        return PostgresBatch(self._database, drive if drive and drive.claim == claim else Drive(claim))

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
        """See the port. Without a claim, the first turn claims the run."""
        drive = self._drives.get(run.id)
        claim = claim or (drive.claim if drive else await self.claim_run(run.id))
        await self.records(claim).save_turn(run, event, commands, known=known, message=message)

    async def rest(self, claim: Claim, *, seq: int, known: int, wake_at: float | None = None) -> bool:
        values = {
            "run": claim.run,
            "epoch": claim.epoch,
            "holder": claim.holder,
            "seq": seq,
            "known": known,
            "wake_at": wake_at,
        }
        if await self._database.execute(REST, values):
            self._forget_drive(claim.run)
            return True
        await self.records(claim).check(known)
        return False

    async def post(self, run_id: str, event: Request) -> Posted:
        async with self._database.connections.borrow() as connection, connection.transaction():
            await connection.execute(queries.ENTER_DRIVE, (run_id,))
            found = await (await connection.execute(queries.HOLD_DRIVE, (run_id,))).fetchone()
            if found is None:
                raise RunUnknown(f"no run {run_id!r} in this store")
            decided, resting = found
            run, _ = await self._read(connection, run_id)
            waiting = await _load_messages(connection, run_id, decided)
            if refused := find_objection_after(run, (message.event for message in waiting), event):
                return Posted(refused=refused)
            values = {"run": run_id, "event": encode(event, Event)}
            posted = await (await connection.execute(POST, values)).fetchone()
            assert posted is not None
        return Posted(number=posted[0], resting=resting)

    async def messages(self, run_id: str, after: int) -> tuple[Message, ...]:
        async with self._database.connections.borrow() as connection:
            return await _load_messages(connection, run_id, after)

    async def listen(self, on_message: Callable[[str], None]) -> None:
        if not self._database.connections.pool.listens:
            await asyncio.Event().wait()  # never notified: periodic sweeps find the messages
        tenant = self._database.connections.tenant
        channel = f"midcourse_{md5(tenant.encode(), usedforsecurity=False).hexdigest()}"
        while True:
            with suppress(ConnectionError):
                async with self._database.connections.open_separate() as connection:
                    await connection.execute(f"LISTEN {channel}".encode())
                    async for notice in connection.notifies():
                        on_message(notice.payload)
            await asyncio.sleep(LISTEN_AGAIN)

    async def unread(self, known: dict[str, int]) -> list[str]:
        """Return those of these runs that have messages above the known number."""
        return [run for (run,) in await self._database.rows(queries.UNREAD, (list(known), list(known.values())))]

    async def to_wake(self) -> list[tuple[str, int]]:
        """Return the runs that rest although they have messages, with the number of the last message."""
        return [(run, number) for run, number in await self._database.rows(queries.TO_WAKE, ())]

    async def take_due(self, now: float, again_at: float) -> list[tuple[str, int]]:
        """Return the runs that rest although their time has come. See the port."""
        values = {"now": now, "again_at": again_at}
        return [(run, number) for run, number in await self._database.rows(queries.TAKE_DUE, values)]


async def _load_messages(connection: AsyncConnection, run_id: str, after: int) -> tuple[Message, ...]:
    rows = await (await connection.execute(queries.MESSAGES, (run_id, after))).fetchall()
    return tuple(Message(number=number, event=decode_any(Request, event)) for number, event in rows)
