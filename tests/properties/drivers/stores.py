"""The store of a fleet for the scheduler: in memory as strict as PostgreSQL, and PostgreSQL itself, each call at a gate."""

import copy
import secrets
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from inspect import iscoroutinefunction
from typing import Any, Protocol

from midcourse.domain.records.ledger import LedgerEntry
from midcourse.domain.run import Run
from midcourse.errors import RunBusy
from midcourse.ports.driving import Claim
from midcourse.ports.store import JournalRow
from midcourse.store.memory import MemoryStore, _StoredRun
from midcourse.store.postgres import PostgresStore
from midcourse.store.postgres.connections import Connections
from tests.properties.drivers.scheduler import Process

WRITES = ("save_", "write_", "claim_run", "rest", "post", "begin")


@dataclass(frozen=True, kw_only=True)
class Stored:
    """What the store holds of the one run."""

    everything: Any = None
    """All of its records, only to be compared."""
    epoch: int = 0
    holder: str = ""
    messages: int = 0
    decided: int = 0
    resting: bool = True
    state: Run | None = None
    journal: tuple[JournalRow, ...] = ()
    ledger: tuple[LedgerEntry, ...] = ()


@dataclass(frozen=True)
class Doing:
    """The method of a store that a call belongs to."""

    name: str
    arguments: tuple[Any, ...] = ()
    options: dict[str, Any] = field(default_factory=dict[str, Any])


DOING: ContextVar[Doing] = ContextVar("doing")


class Auditor(Protocol):
    async def committed(self, process: Process, doing: Doing) -> None: ...


class Backend(Protocol):
    """Where the runs of an example are stored."""

    def store_for(self, process: Process, auditor: Auditor) -> Any:
        """The store as this process has it: each of its calls waits for the scheduler, and is audited."""
        ...

    async def read(self, run_id: str) -> Stored: ...


class Noted:
    """Notes which method is under way. Where `gated`, each one is a call that the scheduler lets proceed."""

    def __init__(self, store: Any, wrap: Callable[[str, Callable[..., Any], Any], Any] | None = None) -> None:
        self._store = store
        self._wrap = wrap

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        if name == "records":
            return lambda claim: Noted(found(claim), self._wrap)
        if not iscoroutinefunction(found):
            return found

        async def call(*arguments: Any, **options: Any) -> Any:
            token = DOING.set(Doing(name, arguments, options))
            try:
                made = self._wrap(name, lambda: found(*arguments, **options), self._store) if self._wrap else None
                return await (made or found(*arguments, **options))
            finally:
                DOING.reset(token)

        return call


# --- in memory


class SharedMemoryStore(MemoryStore):
    """A store in memory that several drivers share: claims have random holders, and a command's records wait for its turn."""

    def __init__(self) -> None:
        super().__init__()
        self.holders: dict[str, str] = {}
        self.written: dict[str, int] = {}
        """The last turn that each holder has written, as the holder knows it."""

    async def claim_run(self, run_id: str, *, placed: int = 0) -> Claim:
        claim = replace(await super().claim_run(run_id, placed=placed), holder=secrets.token_hex(8))
        self.holders[run_id] = claim.holder
        return claim

    def _check_claim(self, claim: Claim) -> _StoredRun:
        if self.holders[claim.run] != claim.holder:
            raise RunBusy(f"run {claim.run!r} was claimed by another process")
        return super()._check_claim(claim)

    async def save_turn(
        self, run: Run, event: Any, commands: Any, *, claim: Any = None, known: int | None = None, message: int = 0
    ) -> None:
        kept = self._require_run(run.id)
        if (claim and self.written.get(claim.holder, 0) > kept.state.seq) or (known or 0) > len(kept.messages):
            raise RunBusy(f"run {run.id!r}: commits were lost")
        await super().save_turn(run, event, commands, claim=claim, known=known, message=message)
        if claim:
            self.written[claim.holder] = run.seq

    async def rest(self, claim: Claim, *, seq: int, known: int, wake_at: float | None = None) -> bool:
        if known > len(self._require_run(claim.run).messages):
            raise RunBusy(f"run {claim.run!r}: commits were lost")
        return await super().rest(claim, seq=seq, known=known, wake_at=wake_at)

    def records(self, claim: Claim) -> "MemoryBatch":
        return MemoryBatch(self, claim)

    async def to_wake(self) -> list[tuple[str, int]]:
        runs = self._runs.items()
        return [(run_id, len(k.messages)) for run_id, k in runs if k.resting and len(k.messages) > k.decided]

    async def unread(self, known: dict[str, int]) -> list[str]:
        return [run_id for run_id, number in known.items() if len(self._require_run(run_id).messages) > number]


class MemoryBatch:
    """The records of one command, written with its turn or before an act, and only by the latest claim."""

    def __init__(self, store: SharedMemoryStore, claim: Claim) -> None:
        self._store = store
        self._claim = claim
        self._waiting: list[tuple[str, tuple[Any, ...]]] = []

    async def save_turn(self, *arguments: Any, claim: Claim | None = None, **options: Any) -> None:
        written = await self._written()
        await written.save_turn(*arguments, claim=self._claim, **options)
        self._store._runs, self._store._audit = written._runs, written._audit
        self._waiting.clear()

    async def write_ledger(self, run_id: str, entry: LedgerEntry) -> None:
        self._waiting.append(("write_ledger", (run_id, entry)))
        if entry.dispatched_at is not None and entry.outcome is None:
            self._store._check_claim(self._claim)
            self._store._runs = (await self._written())._runs
            self._waiting.clear()

    async def _written(self) -> SharedMemoryStore:
        """The store as it is once the waiting records are written."""
        shadow = copy.copy(self._store)
        shadow._runs = {run_id: copied(kept) for run_id, kept in self._store._runs.items()}
        shadow._audit = list(self._store._audit)
        for name, arguments in self._waiting:
            await getattr(MemoryStore, name)(shadow, *arguments)
        return shadow

    def __getattr__(self, name: str) -> Any:
        if not iscoroutinefunction(getattr(self._store, name)):
            return getattr(self._store, name)

        async def call(*arguments: Any) -> Any:
            if name.startswith("save_"):
                self._waiting.append((name, arguments))
                return None
            return await getattr(await self._written() if self._waiting else self._store, name)(*arguments)

        return call


def copied(kept: _StoredRun) -> _StoredRun:
    copies: dict[str, Any] = {n: copy.copy(v) for n, v in vars(kept).items() if isinstance(v, dict | list)}
    return replace(kept, **copies)


class InMemory:
    def __init__(self) -> None:
        self.store = SharedMemoryStore()

    def store_for(self, process: Process, auditor: Auditor) -> Any:
        def wrap(name: str, make: Callable[[], Any], store: Any) -> Any:
            if isinstance(store, MemoryBatch) and name.startswith("save_") and name != "save_turn":
                return make()  # it only waits in the batch
            doing = DOING.get()

            async def audited() -> Any:
                try:
                    return await make()
                finally:
                    await auditor.committed(process, doing)

            return process.call(name, audited, writes=name.startswith(WRITES))

        return Noted(self.store, wrap)

    async def read(self, run_id: str) -> Stored:
        kept = self.store._runs.get(run_id)
        if kept is None:
            return Stored()
        return Stored(
            everything=(copied(kept), self.store.holders.get(run_id), len(self.store._audit)),
            epoch=kept.epoch,
            holder=self.store.holders.get(run_id, ""),
            messages=len(kept.messages),
            decided=kept.decided,
            resting=kept.resting,
            state=kept.state,
            journal=tuple(kept.journal.values()),
            ledger=tuple(kept.ledger.values()),
        )

    def save(self) -> Any:
        """What a database would come back with that lost everything since."""
        return {run_id: copied(kept) for run_id, kept in self.store._runs.items()}, dict(self.store.holders)

    def restore(self, saved: Any) -> None:
        runs, holders = saved
        self.store._runs = {run_id: copied(kept) for run_id, kept in runs.items()}
        self.store.holders = dict(holders)


# --- on PostgreSQL

TABLES = (
    "runs drives states inbox journal ledger plans observations consequences results sessions asked approvals audit"
)
EVERYTHING = (
    "SELECT md5(string_agg(line, ' ' ORDER BY line)) FROM ("
    + " UNION ALL ".join(f"SELECT t::text AS line FROM midcourse.{table} AS t" for table in TABLES.split())
    + ") AS lines"
)
DRIVE = "SELECT epoch, holder, messages, decided, resting FROM midcourse.drives WHERE run = %s"


class GatedConnections:
    """Shared connections, as one process has them."""

    def __init__(self, connections: Connections, process: Process, auditor: Auditor) -> None:
        self._connections = connections
        self._process = process
        self._auditor = auditor
        self.tenant = connections.tenant

    @asynccontextmanager
    async def borrow(self) -> AsyncGenerator[Any]:
        process, doing = self._process, DOING.get()
        await process.gate(doing.name)
        with process.scheduler.in_flight():
            try:
                async with self._connections.borrow() as connection:
                    yield connection
            finally:
                await self._auditor.committed(process, doing)
        if doing.name.startswith(WRITES):
            await process.gate(f"{doing.name} answered")

    async def close(self) -> None:
        """The connections are shared."""


class OnPostgres:
    def __init__(self, url: str, tenant: str, connections: Connections) -> None:
        self._url = url
        self._tenant = tenant
        self._connections = connections
        self._last = Stored()

    def store_for(self, process: Process, auditor: Auditor) -> Any:
        store = PostgresStore(self._url, tenant=self._tenant)
        store._database.connections = GatedConnections(self._connections, process, auditor)  # pyrefly: ignore[bad-assignment]
        return Noted(store)

    async def read(self, run_id: str) -> Stored:
        async with self._connections.borrow() as connection:
            (everything,) = await (await connection.execute(EVERYTHING)).fetchone() or ("",)
            if everything == self._last.everything:
                return self._last
            drive = await (await connection.execute(DRIVE, (run_id,))).fetchone()
        store = PostgresStore(self._url, tenant=self._tenant)
        store._database.connections = self._connections  # without what another process caches
        epoch, holder, messages, decided, resting = drive or (0, "", 0, 0, True)
        self._last = Stored(
            everything=everything,
            epoch=epoch,
            holder=holder,
            messages=messages,
            decided=decided,
            resting=resting,
            state=(await store.load(run_id))[0] if everything else None,
            journal=await store.journal(run_id) if everything else (),
            ledger=await store.ledger(run_id),
        )
        return self._last
