"""The worker processes of the fleet's trials, which are killed.

    python -m benchmarks.fleet.worker

is a process that has everything imported and forks a worker for each line that it reads, so that a killed worker is
replaced immediately. It answers with the worker's pid. Its workers end with it.
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
from benchmarks.fleet.task import Assignment, Clerk, Witness
from benchmarks.harness.process_pool import serve_forks
from midcourse.app.defaults import EnvironmentVault
from midcourse.codec import decode
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
    """Where everything of a trial is."""

    folder: Path
    temporal: str
    postgres: str
    host: Handle

    @property
    def log(self) -> Path:
        """The office's own."""
        return self.folder / "office.jsonl"

    @property
    def calls(self) -> Path:
        """Every plan that was asked for."""
        return self.folder / "calls.jsonl"

    @property
    def holders(self) -> Path:
        """Which process took on which run, and when."""
        return self.folder / "holders.jsonl"

    @property
    def deaths(self) -> Path:
        """Which worker was killed, a file for each run."""
        return self.folder / "deaths"

    @property
    def said(self) -> Path:
        """The workers' output."""
        return self.folder / "workers.log"

    def assignment(self, run_id: str) -> Path:
        return self.folder / "assignments" / f"{run_id}.json"


@dataclass(frozen=True, kw_only=True)
class WorkerSpec:
    """What a worker works on."""

    site: Site
    tenant: str
    capacity: Capacity
    metrics_port: int = 0
    another_director: bool = False
    dropped: float = 0.0
    """The share of notifications that it does not hear."""
    seed: int = 0


def main() -> None:
    serve_forks(lambda line: _work_at(decode(WorkerSpec, line)))


def _work_at(spec: WorkerSpec) -> NoReturn:
    said = os.open(spec.site.said, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for stream in (1, 2):
        os.dup2(said, stream)
    if spec.metrics_port:
        metrics = PrometheusConfig(bind_address=f"127.0.0.1:{spec.metrics_port}")
        Runtime.set_default(Runtime(telemetry=TelemetryConfig(metrics=metrics)))
    if spec.another_director:
        use_another_director()
    try:
        asyncio.run(_work(spec))
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


async def _work(spec: WorkerSpec) -> None:
    site, tenant, capacity = spec.site, spec.tenant, spec.capacity
    client = await connect(site.temporal)
    assignments: dict[str, Assignment] = {}
    interrupter = Interrupter(site.deaths, lambda run_id: assignments[run_id].planned_kill)
    async with PostgresStore(site.postgres, tenant=tenant) as store:
        interrupted = cast(SharedStore, InterruptedStore(store, interrupter))
        if spec.dropped:
            heard = site.folder / "heard.jsonl"
            interrupted = cast(SharedStore, DroppingStore(interrupted, spec.dropped, spec.seed, heard))

        async def ports_for(run_id: str) -> Ports:
            assignment = assignments[run_id] = decode(Assignment, site.assignment(run_id).read_bytes())
            note(site.holders, run=run_id, pid=os.getpid())
            return ports_of(site, interrupted, run_id, assignment, interrupter)

        stopped = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
        async with FleetWorker(client, store=interrupted, ports_for=ports_for, tenant=tenant, capacity=capacity):
            await stopped.wait()


def ports_of(site: Site, store: SharedStore, run_id: str, assignment: Assignment, interrupter: Interrupter) -> Ports:
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
        approver=Posts() if assignment.waits else Witness(run_id, site.log),
        store=store,
        clock=SystemClock(),
        vault=EnvironmentVault(),
    )


def note(file: Path, **values: Any) -> None:
    """Append one line, whole."""
    with file.open("a", encoding="utf-8") as out:
        out.write(json.dumps({**values, "at": time.time()}) + "\n")


if __name__ == "__main__":
    main()
