"""The store of a fleet: one tenant's runs in PostgreSQL, their claims, turns and messages, and what else the tenant keeps there."""

import asyncio
import re
import secrets
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from hashlib import md5
from types import TracebackType
from typing import Self, cast

import psycopg
from psycopg import AsyncConnection

from midcourse.codec import decode, decode_any, encode
from midcourse.director.decide import why_no_effect_after
from midcourse.domain.commands import Command
from midcourse.domain.events import Event
from midcourse.domain.records.plan_cache import KeptSegment
from midcourse.domain.run import Run
from midcourse.errors import FleetUnavailable, RunBusy, RunUnknown, TaskInvalid
from midcourse.holding import hold, holder_of, release_abandoned
from midcourse.ports.blobs import Blob, MediaType, is_digest
from midcourse.ports.controls import Message, Posted, Request
from midcourse.ports.driving import Claim
from midcourse.ports.plan_cache import MOST_OF_A_TASK
from midcourse.sealing import Seals
from midcourse.store.postgres.batch import Drive, PostgresBatch
from midcourse.store.postgres.connections import (
    APP_ROLE,
    SET_UP,
    SET_UP_TRANSACTION,
    ConnectionPool,
    Connections,
    translate_driver_errors,
)
from midcourse.store.postgres.database import Database
from midcourse.store.postgres.memory import PostgresMemory
from midcourse.store.postgres.records import PostgresRecords
from midcourse.store.postgres.statements import KEEP_SEGMENT
from midcourse.store.state import build_unknown_error

TENANT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")

CLAIM = b"SELECT pg_try_advisory_lock(hashtextextended(current_setting('midcourse.tenant') || ' run ' || %s, 0))"
CLAIM_FOR_TRANSACTION = CLAIM.replace(b"pg_try_advisory_lock", b"pg_try_advisory_xact_lock")

LISTEN_AGAIN = 0.5
"""Seconds until a lost connection for notifications is opened again."""

CLAIM_RUN = b"""INSERT INTO midcourse.drives AS old (run, epoch, holder, placed, resting)
VALUES (%(run)s, 1, %(holder)s, %(placed)s, false)
ON CONFLICT (tenant, run) DO UPDATE SET epoch = old.epoch + 1, holder = excluded.holder, resting = false,
    placed = greatest(old.placed, excluded.placed)
WHERE old.placed <= excluded.placed OR excluded.placed = 0
RETURNING epoch, decided, rested_epoch, rested_seq"""
"""Claims a run with a new epoch, unless a driver that was placed later has claimed it."""
REST = b"""UPDATE midcourse.drives SET resting = true, rested_epoch = epoch, rested_seq = %(seq)s, wake_at = %(wake_at)s
WHERE run = %(run)s AND epoch = %(epoch)s AND holder = %(holder)s AND messages = %(known)s"""
POST = b"""WITH counted AS (
    UPDATE midcourse.drives SET messages = messages + 1 WHERE run = %(run)s RETURNING messages
), told AS (
    SELECT pg_notify('midcourse_' || md5(current_setting('midcourse.tenant')), %(run)s)
) INSERT INTO midcourse.inbox (run, number, event) SELECT %(run)s, messages, %(event)s FROM counted, told RETURNING number"""
"""Posts a message and notifies. Turns never notify, because a notification locks the whole server during the commit."""
TAKE_DUE = b"""UPDATE midcourse.drives SET wake_at = %(again_at)s WHERE run IN (
    SELECT run FROM midcourse.drives WHERE resting AND wake_at <= %(now)s ORDER BY wake_at LIMIT 1000 FOR UPDATE SKIP LOCKED
) RETURNING run, messages"""
"""Gives each run to one of the workers that ask at the same time, and gives it again later if it still rests then."""

OF_TENANT = "tenant = current_setting('midcourse.tenant')"
"""Retention names the tenant, since row-level security does not apply to a superuser."""
ENDED = """(SELECT (event::json ->> 'at')::float8 FROM midcourse.journal WHERE journal.tenant = runs.tenant AND journal.run = runs.id
    AND journal.month = runs.month ORDER BY seq DESC LIMIT 1)"""

PRUNABLE = f"""SELECT id FROM midcourse.runs WHERE {OF_TENANT} AND pruned_at IS NULL AND phase = 'ended' AND began_at < %(before)s
    AND EXISTS (SELECT FROM midcourse.results WHERE results.tenant = runs.tenant AND results.run = runs.id)
    AND (runs.state IS NOT NULL OR EXISTS (SELECT FROM midcourse.drives
        WHERE drives.tenant = runs.tenant AND drives.run = runs.id AND drives.state IS NOT NULL))
    AND coalesce({ENDED}, began_at) < %(before)s ORDER BY began_at LIMIT %(limit)s""".encode()
"""Selects the runs that may be pruned.

A run that began too late also ended too late, so the index leaves few runs to look at. Runs of version 0.1, for which only the
journal has the state, are not selected: they are deleted with their month.
"""

MARK_PRUNED = f"""UPDATE midcourse.runs SET pruned_at = %s, ended_at = {ENDED}, opening = '{{}}'
WHERE {OF_TENANT} AND id = ANY (%s) AND pruned_at IS NULL AND phase = 'ended' RETURNING id, month""".encode()

IN_MONTHS = ("journal", "observations", "blobs")
PRUNED_TABLES = ("plans", "consequences", "inbox", "approvals", "sessions")
FORGET_MONTH = """DELETE FROM midcourse.{table} AS old USING unnest(%s::text[], %s::date[]) AS gone (run, month)
WHERE old.tenant = current_setting('midcourse.tenant') AND old.run = gone.run AND old.month = gone.month"""
FORGET = f"DELETE FROM midcourse.{{table}} WHERE {OF_TENANT} AND run = ANY (%s)"
FORGET_ACTS = f"""DELETE FROM midcourse.ledger WHERE {OF_TENANT} AND run = ANY (%s)
AND coalesce(body::json ->> 'identity', '') = ''""".encode()
"""Deletes acts that may be repeated. The others stay, to prevent them from being done again."""


class PostgresStore(PostgresRecords):
    """A store in PostgreSQL. Writes are durable when a method returns.

    After a `ConnectionError` they may or may not be stored: write them again when the server is back. All writes are
    idempotent except `begin`, which then reports that the run exists.

    Many workers may share a database; each has one store per tenant, used in one event loop.
    """

    def __init__(
        self,
        url: str,
        *,
        tenant: str,
        role: str = APP_ROLE,
        connections: int = 10,
        seals: Seals | None = None,
        pool: ConnectionPool | None = None,
    ) -> None:
        """`connections` is the maximum number of connections, which are opened when needed. `seals` encrypt the handles of sessions.

        Without `seals`, handles are stored in plain text. A `pool` is shared with other stores, has its own role and size, and stays open.
        """
        if not TENANT.fullmatch(tenant):
            raise TaskInvalid(f"{tenant!r} is not a valid name for a tenant: letters, digits, '.', '_' and '-' only")
        self._pool = pool or ConnectionPool(url, role=role, size=connections)
        self._owns_pool = pool is None
        super().__init__(Database(Connections(self._pool, tenant), seals))
        self._set_up = tenant, self._pool.role
        self._drives: dict[str, Drive] = {}

    @property
    def segments(self) -> "PostgresPlanCache":
        """The plan cache of this tenant."""
        return PostgresPlanCache(self._database)

    @property
    def blobs(self) -> "PostgresBlobs":
        """The screenshots of this tenant's runs."""
        return PostgresBlobs(self._database)

    def memory(self, agent: str) -> PostgresMemory:
        """Return the memory of an agent of this tenant, over the same connections."""
        return PostgresMemory(self._database, agent)

    # --- driving

    @contextmanager
    def claim(self, run_id: str) -> Generator[None]:
        """Lock a run while driving it. Raise `RunBusy` if another process drives it.

        The server releases the lock when this process dies or the connection breaks.
        """
        by_transaction, what = self._pool.by_transaction, (self._pool.address, self._set_up, run_id)
        release_abandoned(what)
        with translate_driver_errors():
            connection = psycopg.connect(self._pool.address, autocommit=not by_transaction, prepare_threshold=None)
        # Behind a pooler this is one transaction, since only a transaction stays on one connection to the server.
        with connection:
            connection.execute(SET_UP_TRANSACTION if by_transaction else SET_UP, self._set_up)
            lock = CLAIM_FOR_TRANSACTION if by_transaction else CLAIM
            if connection.execute(lock, (run_id,)).fetchone() != (True,):
                here = holder_of(what)
                holder = f"this process ({here})" if here else "another process"
                raise RunBusy(f"{holder} is driving run {run_id!r}")

            def release() -> None:
                with suppress(psycopg.Error):  # a connection that broke holds nothing any more
                    connection.commit()
                connection.close()

            with hold(what, release):
                yield

    async def claim_run(self, run_id: str, *, placed: int = 0) -> Claim:
        holder = secrets.token_hex(8)
        await self._database.find_month(run_id)
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
        enter = b"""INSERT INTO midcourse.drives (run) SELECT id FROM midcourse.runs WHERE id = %s
            ON CONFLICT (tenant, run) DO NOTHING"""
        lock = b"SELECT decided, resting FROM midcourse.drives WHERE run = %s FOR UPDATE"
        async with self._database.connections.borrow() as connection, connection.transaction():
            await connection.execute(enter, (run_id,))
            found = await (await connection.execute(lock, (run_id,))).fetchone()
            if found is None:
                raise build_unknown_error(run_id)
            decided, resting = found
            run, _ = await self._read(connection, run_id)
            waiting = await _load_messages(connection, run_id, decided)
            if refused := why_no_effect_after(run, (message.event for message in waiting), event):
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
        sql = b"""SELECT drives.run FROM midcourse.drives JOIN unnest(%s::text[], %s::int[]) AS known (run, number)
            ON known.run = drives.run AND drives.messages > known.number"""
        return [run for (run,) in await self._database.rows(sql, (list(known), list(known.values())))]

    async def to_wake(self) -> list[tuple[str, int]]:
        """Return the runs that rest although they have messages, with the number of the last message."""
        sql = b"SELECT run, messages FROM midcourse.drives WHERE resting AND messages > decided LIMIT 1000"
        return [(run, number) for run, number in await self._database.rows(sql, ())]

    async def take_due(self, now: float, again_at: float) -> list[tuple[str, int]]:
        """Return the runs that rest although their time has come. See the port."""
        values = {"now": now, "again_at": again_at}
        return [(run, number) for run, number in await self._database.rows(TAKE_DUE, values)]

    # --- retention

    async def pruned_at(self, run_id: str) -> float | None:
        (pruned_at,) = await self._database.find_run(b"SELECT pruned_at FROM midcourse.runs WHERE id = %s", run_id)
        return pruned_at

    async def find_prunable(self, before: float, limit: int | None) -> tuple[str, ...]:
        rows = await self._database.rows(PRUNABLE, {"before": before, "limit": limit})
        return tuple(run_id for (run_id,) in rows)

    async def prune(self, run_ids: tuple[str, ...], at: float) -> int:
        """See the port. The role of stores may not delete records, so this needs a store with `role=OWNER`: otherwise `FleetUnavailable`."""
        try:
            async with self._database.connections.borrow() as connection, connection.transaction():
                marked = await (await connection.execute(MARK_PRUNED, (at, list(run_ids)))).fetchall()
                runs, months = [run for run, _ in marked], [month for _, month in marked]
                for table in IN_MONTHS:
                    await connection.execute(FORGET_MONTH.format(table=table).encode(), (runs, months))
                for table in PRUNED_TABLES:
                    await connection.execute(FORGET.format(table=table).encode(), (runs,))
                await connection.execute(FORGET_ACTS, (runs,))
        except psycopg.errors.InsufficientPrivilege as refused:
            raise FleetUnavailable(
                "this user may not delete records: use a database_url with the user that owns the tables"
            ) from refused
        for run_id in runs:
            self._database.forget(run_id)
        return len(runs)

    # --- the server

    async def check_durability(self) -> None:
        """Raise `FleetUnavailable` if the server may lose commits that it has confirmed, because acts could then be repeated."""
        if risk := await find_risk(self._database):
            raise FleetUnavailable(f"the database is not safe for durable runs: {risk}, and start the worker again")

    async def close(self) -> None:
        """Close the connections, unless they are of a shared pool. It is safe to call this twice."""
        if self._owns_pool:
            await self._pool.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


async def find_risk(database: Database) -> str:
    """Return why confirmed commits may be lost and the statement that changes it, or an empty string if the settings are safe.

    The settings are those of this connection, so a setting of the database, of the login or in the URL counts.
    """
    sql = b"""SELECT current_database(), current_setting('synchronous_commit'), current_setting('fsync'),
        current_setting('synchronous_standby_names')"""
    ((name, commit, flushes, standbys),) = await database.rows(sql, ())
    safe = f'type: ALTER DATABASE "{name}" SET synchronous_commit = on'
    if flushes == "off":
        return "fsync is off, so a crash may destroy the database; type: ALTER SYSTEM SET fsync = on, then reload the server"
    if commit == "off":
        return f"synchronous_commit is off, so a crash loses confirmed commits; {safe}"
    if commit == "local" and standbys:
        return f"synchronous_commit is local, so a fail-over to a standby loses confirmed commits; {safe}"
    return ""


async def _load_messages(connection: AsyncConnection, run_id: str, after: int) -> tuple[Message, ...]:
    sql = b"SELECT number, event FROM midcourse.inbox WHERE run = %s AND number > %s ORDER BY number"
    rows = await (await connection.execute(sql, (run_id, after))).fetchall()
    return tuple(Message(number=number, event=decode_any(Request, event)) for number, event in rows)


# --- beside runs

DROP_OLD_SEGMENTS = b"""DELETE FROM midcourse.segments WHERE task = %(task)s AND id NOT IN
(SELECT id FROM midcourse.segments WHERE task = %(task)s ORDER BY worked_at DESC, id LIMIT %(most)s)"""


class PostgresPlanCache:
    """The plan cache of a tenant. It shares no transaction with the records of runs, since a lost segment is planned again."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, task: str, surface: str) -> tuple[KeptSegment, ...]:
        sql = b"SELECT body FROM midcourse.segments WHERE task = %s AND surface = %s ORDER BY worked_at DESC, id"
        return tuple(decode(KeptSegment, body) for (body,) in await self._database.rows(sql, (task, surface)))

    async def keep(self, *segments: KeptSegment) -> None:
        writes = [(KEEP_SEGMENT, (kept.id, kept.task, kept.surface, kept.worked_at, encode(kept))) for kept in segments]
        await self._database.write(writes)
        for task in sorted({kept.task for kept in segments}):
            await self._database.execute(DROP_OLD_SEGMENTS, {"task": task, "most": MOST_OF_A_TASK})

    async def drop(self, segment_id: str) -> bool:
        return await self._database.execute(b"DELETE FROM midcourse.segments WHERE id = %s", (segment_id,)) > 0

    async def all(self) -> tuple[KeptSegment, ...]:
        sql = b"SELECT body FROM midcourse.segments ORDER BY worked_at DESC, id"
        return tuple(decode(KeptSegment, body) for (body,) in await self._database.rows(sql, ()))


PUT_BLOB = b"""INSERT INTO midcourse.blobs (run, month, digest, media_type, width, height, body)
VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT (tenant, run, month, digest) DO NOTHING"""


class PostgresBlobs:
    """The blobs of a tenant's runs, over the connections of a store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, run_id: str, blob: Blob) -> str:
        """Store a blob. Raise `RunUnknown` for a run that the store does not have."""
        digest, month = blob.digest, await self._database.find_month(run_id)
        values = (run_id, month, digest, blob.media_type, blob.width, blob.height, blob.data)
        await self._database.execute(PUT_BLOB, values)
        return digest

    async def read(self, run_id: str, digest: str) -> Blob | None:
        if not is_digest(digest):
            return None
        try:
            month = await self._database.find_month(run_id)
        except RunUnknown:
            return None
        sql = b"""SELECT body, media_type, width, height FROM midcourse.blobs
            WHERE run = %s AND month = %s AND digest = %s"""
        for body, kind, width, height in await self._database.rows(sql, (run_id, month, digest)):
            found = Blob(data=bytes(body), media_type=cast(MediaType, kind), width=width, height=height)
            return found if found.digest == digest else None
        return None

    async def delete(self, run_id: str) -> None:
        await self._database.execute(b"DELETE FROM midcourse.blobs WHERE run = %s", (run_id,))
