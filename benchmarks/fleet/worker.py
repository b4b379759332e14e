"""The worker processes of the fleet's trials, which are killed.

    python -m benchmarks.fleet.worker

This process imports everything once, then forks a worker for each line it reads, so that a killed worker is replaced immediately. It
prints the pid of each worker. Its workers end with it.
"""

import asyncio
import json
import os
import signal
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, cast

from temporalio.runtime import PrometheusConfig, Runtime, TelemetryConfig

from benchmarks.fleet.directors import use_another_director
from benchmarks.fleet.dropped import DroppingStore
from benchmarks.fleet.kill_points import InterruptedStore, InterruptedWorld, Interrupter
from benchmarks.fleet.task import Assignment, Clerk, LogApprover
from benchmarks.harness.process_pool import serve_forks
from midcourse.codec import decode
from midcourse.config.defaults import EnvironmentVault
from midcourse.perform import Ports
from midcourse.ports.clock import SystemClock
from midcourse.ports.driving import SharedStore
from midcourse.ports.world import World
from midcourse.runtimes.temporal.client import connect
from midcourse.runtimes.temporal.worker import Capacity, FleetWorker
from midcourse.store.postgres import PostgresStore
from midcourse.testing import Posts
from midcourse.worlds.host.wire import Handle
from midcourse.worlds.remote import RemoteWorld


@dataclass(frozen=True, kw_only=True)
class Site:
    """Addresses and files of a trial."""

    folder: Path
    temporal: str
    postgres: str
    host: Handle

    @property
    def log(self) -> Path:
        """The office's own log."""
        return self.folder / "office.jsonl"

    @property
    def calls(self) -> Path:
        """Every call of the planner, with its cost."""
        return self.folder / "calls.jsonl"

    @property
    def holders(self) -> Path:
        """Which process took on which run, and when."""
        return self.folder / "holders.jsonl"

    @property
    def deaths(self) -> Path:
        """Folder of the records that workers write at kill points, one file per run."""
        return self.folder / "deaths"

    @property
    def output(self) -> Path:
        """The workers' output."""
        return self.folder / "workers.log"

    def assignment(self, run_id: str) -> Path:
        return self.folder / "assignments" / f"{run_id}.json"


@dataclass(frozen=True, kw_only=True)
class WorkerSpec:
    """The configuration of a worker."""

    site: Site
    tenant: str
    capacity: Capacity
    metrics_port: int = 0
    another_director: bool = False
    dropped: float = 0.0
    """The share of notifications that do not reach it."""
    seed: int = 0


def main() -> None:
    serve_forks(lambda line: _run_worker(decode(WorkerSpec, line)))


def _run_worker(spec: WorkerSpec) -> NoReturn:
    output = os.open(spec.site.output, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for stream in (1, 2):
        os.dup2(output, stream)
    if spec.metrics_port:
        metrics = PrometheusConfig(bind_address=f"127.0.0.1:{spec.metrics_port}")
        Runtime.set_default(Runtime(telemetry=TelemetryConfig(metrics=metrics)))
    if spec.another_director:
        use_another_director()
    try:
        asyncio.run(_serve(spec))
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


async def _serve(spec: WorkerSpec) -> None:
    site, tenant, capacity = spec.site, spec.tenant, spec.capacity
    client = await connect(site.temporal)
    assignments: dict[str, Assignment] = {}
    interrupter = Interrupter(site.deaths, lambda run_id: assignments[run_id].planned_kill)
    async with PostgresStore(site.postgres, tenant=tenant) as store:
        store_with_kills = cast(SharedStore, InterruptedStore(store, interrupter))
        if spec.dropped:
            notices_log = site.folder / "heard.jsonl"
            store_with_kills = cast(SharedStore, DroppingStore(store_with_kills, spec.dropped, spec.seed, notices_log))

        async def build_ports(run_id: str) -> Ports:
            assignment = assignments[run_id] = decode(Assignment, site.assignment(run_id).read_bytes())
            append_line(site.holders, run=run_id, pid=os.getpid())
            return make_ports(site, store_with_kills, run_id, assignment, interrupter)

        stopped = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
        async with FleetWorker(
            client, store=store_with_kills, build_ports=build_ports, tenant=tenant, capacity=capacity
        ):
            await stopped.wait()


def make_ports(site: Site, store: SharedStore, run_id: str, assignment: Assignment, interrupter: Interrupter) -> Ports:
    options = {
        "run": run_id,
        "log": str(site.log),
        "counters": [vars(counter) for counter in assignment.counters],
        "toast_seconds": assignment.toast_seconds,
        "padding": assignment.padding,
        "act_seconds": assignment.act_seconds,
        "remembers": assignment.remembers,
    }
    world = RemoteWorld("benchmarks.fleet.world:Office", options=options, host=site.host, key=run_id)
    return Ports(
        run_id=run_id,
        task=assignment.task,
        world=cast(World, InterruptedWorld(world, interrupter, run_id)) if assignment.planned_kill else world,
        planner=Clerk(assignment, run_id, site.calls),
        approver=Posts() if assignment.waits else LogApprover(run_id, site.log),
        store=store,
        clock=SystemClock(),
        vault=EnvironmentVault(),
    )


def append_line(file: Path, **values: Any) -> None:
    """Append one JSON line with the current time."""
    with file.open("a", encoding="utf-8") as out:
        out.write(json.dumps({**values, "at": time.time()}) + "\n")


if __name__ == "__main__":
    main()
