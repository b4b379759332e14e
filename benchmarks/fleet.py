"""A whole fleet on this machine, for the trials: PostgreSQL, Temporal, one world host, and workers that come and go."""

import asyncio
import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any, TypeVar

import fleet_worker
from errand import Errand
from fleet_worker import Site
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from midcourse.app.agent import new_run
from midcourse.codec import encode
from midcourse.runtimes.temporal import development as temporal
from midcourse.runtimes.temporal.client import FleetClient, RunBroken, RunHandle, connect
from midcourse.runtimes.temporal.wire import Pace
from midcourse.runtimes.temporal.worker import Capacity
from midcourse.store.postgres import PostgresStore
from midcourse.store.postgres import development as postgres
from midcourse.store.postgres.migrate import migrate
from midcourse.worlds.host.start import host_in
from midcourse.worlds.host.wire import Handle

T = TypeVar("T")
HERE = Path(__file__).parent
PATIENCE = 180.0
"""Seconds after which a run counts as stuck."""
os.environ["PYTHONPATH"] = str(HERE)
NURSERY = multiprocessing.get_context("forkserver")
NURSERY.set_forkserver_preload(["fleet_worker"])
"""Workers are forked from a process that has everything imported, so that one takes the place of another at once."""


@dataclass(frozen=True, kw_only=True)
class Given:
    """What a trial is told."""

    folder: Path
    runs: int
    first_seed: int
    concurrency: int
    workers: int
    heartbeat: float
    say: Callable[[str], None]


@dataclass(kw_only=True)
class Fleet:
    """One tenant's workers, of which there are always as many as there should be."""

    site: Site
    client: Client
    store: PostgresStore
    tenant: str
    pace: Pace
    capacity: Capacity
    workers: list[ForkServerProcess] = field(default_factory=list[ForkServerProcess])

    @property
    def runs(self) -> FleetClient:
        return FleetClient(self.client, store=self.store, tenant=self.tenant, pace=self.pace)

    async def begin(self, run_id: str, errand: Errand) -> RunHandle:
        self.site.errand(run_id).write_text(encode(errand), encoding="utf-8")
        run = new_run(errand.task, run_id)
        await self.store.begin(run, errand.task)
        return await while_the_server_is_away(lambda: self.runs.start(run, world="office"))

    def hire(self, count: int = 1) -> None:
        for _ in range(count):
            process = NURSERY.Process(target=fleet_worker.work, args=(self.site, self.tenant, self.capacity))
            process.start()
            self.workers.append(process)

    def kill(self, pid: int) -> None:
        """With -9, and have another take its place."""
        victim = next(worker for worker in self.workers if worker.pid == pid)
        os.kill(pid, signal.SIGKILL)
        victim.join()
        self.workers.remove(victim)
        self.hire()

    def replace_dead(self) -> list[int]:
        """Who had died by themselves."""
        dead = [worker for worker in self.workers if not worker.is_alive()]
        for worker in dead:
            self.workers.remove(worker)
        self.hire(len(dead))
        return [worker.pid or 0 for worker in dead]

    def dismiss(self) -> None:
        for worker in self.workers:
            worker.kill()
            worker.join()
        self.workers.clear()


async def while_the_server_is_away(ask: Callable[[], Awaitable[T]]) -> T:
    """Ask again until it answers. A refusal is an answer."""
    while True:
        try:
            return await ask()
        except RPCError as error:
            if error.status not in (
                RPCStatusCode.UNAVAILABLE,
                RPCStatusCode.CANCELLED,
                RPCStatusCode.DEADLINE_EXCEEDED,
            ):
                raise
            await asyncio.sleep(0.1)


async def carry_out(
    fleet: Fleet,
    errands: Mapping[str, Errand],
    concurrency: int,
    *,
    begun: Callable[[str], None] = lambda _run: None,
    ended: Callable[[str], None] = lambda _run: None,
) -> dict[str, str]:
    """So many at a time, each to its end. Returns what went wrong with those that did not get there."""
    places = asyncio.Semaphore(concurrency)
    trouble: dict[str, str] = {}

    async def one(run: str, errand: Errand) -> None:
        async with places:
            handle = await fleet.begin(run, errand)
            begun(run)
            try:
                async with asyncio.timeout(PATIENCE):
                    await while_the_server_is_away(handle.result)
            except TimeoutError:
                trouble[run] = f"stuck for {PATIENCE:g} s"
            except RunBroken as broken:
                trouble[run] = str(broken)
            ended(run)

    async with asyncio.TaskGroup() as group:
        for run, errand in errands.items():
            group.create_task(one(run, errand))
    return trouble


@asynccontextmanager
async def site_in(folder: Path) -> AsyncGenerator[Site]:
    """Everything but workers, started anew in this folder, and stopped in the end."""
    for name in ("errands", "deaths"):
        (folder / name).mkdir(parents=True)
    url = await asyncio.to_thread(postgres.start, folder / "postgres")
    try:
        await asyncio.to_thread(migrate, url)
        server = await asyncio.to_thread(temporal.start_server, folder / "temporal")
        try:
            with _host(folder) as host:
                yield Site(folder=folder, temporal=server.address, postgres=url, host=host)
        finally:
            server.stop()
    finally:
        await asyncio.to_thread(postgres.stop, folder / "postgres", "immediate")


@contextlib.contextmanager
def _host(folder: Path) -> Generator[Handle]:
    ready = folder / "host.json"
    words = [sys.executable, "-m", "midcourse", "host", "--worlds", "office:Office", "--ready", str(ready)]
    with (folder / "host.log").open("wb") as log:
        process = subprocess.Popen(
            [*words, "--idle", "36000", "--grace", "2"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**os.environ, "MIDCOURSE_HOME": str(folder)},
        )
    try:
        while not ready.exists():
            if process.poll() is not None:
                raise SystemExit(f"the host did not start: {(folder / 'host.log').read_text()}")
            time.sleep(0.05)
        yield host_in(ready)
    finally:
        process.terminate()
        process.wait()


@asynccontextmanager
async def fleet_at(site: Site, tenant: str, *, heartbeat: float, **changes: Any) -> AsyncGenerator[Fleet]:
    """Without workers. Those that it has in the end are killed."""
    pace = Pace(heartbeat_seconds=heartbeat, session_seconds=heartbeat, margin_seconds=10.0)
    capacity = Capacity(heartbeat_seconds=heartbeat, sticky_seconds=heartbeat)
    client = await connect(site.temporal)
    async with PostgresStore(site.postgres, tenant=tenant) as store:
        fleet = Fleet(
            site=site,
            client=client,
            store=store,
            tenant=tenant,
            pace=replace(pace, **{name: value for name, value in changes.items() if hasattr(pace, name)}),
            capacity=replace(capacity, **{name: value for name, value in changes.items() if hasattr(capacity, name)}),
        )
        try:
            yield fleet
        finally:
            fleet.dismiss()
