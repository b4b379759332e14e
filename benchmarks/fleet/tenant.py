"""The workers and runs of one tenant, for the trials."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from benchmarks.fleet.task import Assignment
from benchmarks.fleet.testbed import TestBed, end_process, is_alive
from benchmarks.fleet.worker import Site, WorkerSpec
from midcourse.agent.start import new_run
from midcourse.codec import encode
from midcourse.domain.run import Run
from midcourse.domain.task import Task
from midcourse.errors import TaskInvalid
from midcourse.runtimes.temporal.client import FleetClient, RunBroken, RunHandle, connect
from midcourse.runtimes.temporal.wire import Placement
from midcourse.runtimes.temporal.worker import Capacity
from midcourse.store.postgres import PostgresStore

T = TypeVar("T")
STUCK_SECONDS = 180.0
"""Seconds after which a run counts as stuck."""
AWAY_STATUSES = (
    RPCStatusCode.UNAVAILABLE,
    RPCStatusCode.UNKNOWN,  # the connection broke in the middle of an answer
    RPCStatusCode.CANCELLED,
    RPCStatusCode.DEADLINE_EXCEEDED,
)


@dataclass(frozen=True, kw_only=True)
class TrialOptions:
    """The options of a trial."""

    runs: int
    first_seed: int
    concurrency: int
    workers: int
    heartbeat: float
    say: Callable[[str], None]
    away: float = 300.0
    """Seconds that each server is away, in the trial of outages."""

    @property
    def seeds(self) -> range:
        return range(self.first_seed, self.first_seed + self.runs)


@dataclass(kw_only=True)
class Fleet:
    """Keeps the requested number of workers: one that dies is replaced."""

    testbed: TestBed
    client: Client
    store: PostgresStore
    tenant: str
    placement: Placement
    capacity: Capacity
    two_directors: bool = False
    """Whether every second worker has another director."""
    dropped: float = 0.0
    """The share of notifications that do not reach its workers."""
    seed: int = 0
    hired: int = 0
    metrics_port: int = 0
    """Port of the metrics of its worker; only for a fleet with one worker."""
    workers: list[int] = field(default_factory=list[int])

    @property
    def site(self) -> Site:
        return self.testbed.site

    @property
    def runs(self) -> FleetClient:
        return FleetClient(self.client, store=self.store, tenant=self.tenant, placement=self.placement)

    async def begin(self, run_id: str, assignment: Assignment) -> RunHandle:
        self.site.assignment(run_id).write_text(encode(assignment), encoding="utf-8")
        run = new_run(assignment.task, run_id)
        await retry_while_away(lambda: self._store_run(run, assignment.task))
        return await retry_while_away(lambda: self.runs.start(run, world="office"))

    async def _store_run(self, run: Run, task: Task) -> None:
        """Store the run, unless an earlier try stored it before the server went away."""
        with suppress(TaskInvalid):
            await self.store.begin(run, task)

    def hire(self, count: int = 1) -> None:
        spec = WorkerSpec(
            site=self.site,
            tenant=self.tenant,
            capacity=self.capacity,
            metrics_port=self.metrics_port,
            dropped=self.dropped,
            seed=self.seed,
        )
        for _ in range(count):
            self.hired += 1
            other = self.two_directors and self.hired % 2 == 0
            self.workers.append(self.testbed.pool.fork(replace(spec, another_director=other)))

    def kill(self, pid: int) -> None:
        """Kill a worker with -9 and start another."""
        self.workers.remove(pid)
        end_process(pid)
        self.hire()

    def replace_dead(self) -> list[int]:
        """Replace the workers that have ended by themselves, and return their pids."""
        dead = [pid for pid in self.workers if not is_alive(pid)]
        self.workers = [pid for pid in self.workers if pid not in dead]
        self.hire(len(dead))
        return dead

    def dismiss(self) -> None:
        while self.workers:
            end_process(self.workers.pop())


@asynccontextmanager
async def start_fleet(
    testbed: TestBed, tenant: str, *, heartbeat: float, metrics_port: int = 0, **changes: Any
) -> AsyncGenerator[Fleet]:
    """Yield a fleet without workers, and kill the workers it has at the end. `changes` are fields of its capacity."""
    client = await connect(testbed.site.temporal)
    async with PostgresStore(testbed.site.postgres, tenant=tenant) as store:
        fleet = Fleet(
            testbed=testbed,
            client=client,
            store=store,
            tenant=tenant,
            placement=Placement(heartbeat_seconds=heartbeat),
            capacity=Capacity(heartbeat_seconds=heartbeat, **changes),
            metrics_port=metrics_port,
        )
        try:
            yield fleet
        finally:
            fleet.dismiss()


async def run_assignments(
    fleet: Fleet,
    assignments: Mapping[str, Assignment],
    concurrency: int,
    *,
    begun: Callable[[str], None] = lambda _run: None,
    ended: Callable[[str], None] = lambda _run: None,
    patience: float = STUCK_SECONDS,
) -> dict[str, str]:
    """Run all assignments, `concurrency` at a time. Return what went wrong, by run, with those that did not end."""
    slots = asyncio.Semaphore(concurrency)
    trouble: dict[str, str] = {}

    async def run_one(run: str, assignment: Assignment) -> None:
        async with slots:
            handle = await fleet.begin(run, assignment)
            begun(run)
            try:
                async with asyncio.timeout(patience):
                    await retry_while_away(handle.result)
            except TimeoutError:
                trouble[run] = f"stuck for {patience:g} s"
            except RunBroken as broken:
                trouble[run] = str(broken)
            ended(run)

    async with asyncio.TaskGroup() as group:
        for run, assignment in assignments.items():
            group.create_task(run_one(run, assignment))
    return trouble


async def retry_while_away(ask: Callable[[], Awaitable[T]]) -> T:
    """Repeat the call until the server answers, because it may have been killed. A refusal is an answer."""
    while True:
        try:
            return await ask()
        except RPCError as error:
            if error.status not in AWAY_STATUSES:
                raise
        except ConnectionError:
            pass
        await asyncio.sleep(0.1)
