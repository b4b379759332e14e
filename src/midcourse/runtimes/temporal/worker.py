"""A worker: drives a tenant's runs.

async with FleetWorker(client, store=store, ports_for=ports_for, tenant="acme"):
    await stopped.wait()
"""

import asyncio
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import timedelta
from types import TracebackType

from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from midcourse.ports.abilities import offers
from midcourse.ports.driving import Durable, SharedStore
from midcourse.runtimes.driver import Turns
from midcourse.runtimes.temporal.driving import Drivers, PortsFor
from midcourse.runtimes.temporal.schedule import Enter, ScheduledRuns, ScheduledWorkflow
from midcourse.runtimes.temporal.supervisor import SupervisorWorkflow
from midcourse.runtimes.temporal.wire import queue_of

RUNNER = UnsandboxedWorkflowRunner()
"""No sandbox: the supervisor is small and deterministic, which a test shows by replaying histories in a sandbox."""
NO_BUILD = "none"
"""An explicit build id: otherwise the library derives one from the code of every loaded module, which takes seconds."""
STICKY = timedelta(seconds=1)
"""How long a supervisor waits for the worker that has it in memory before another replays its short history."""


@dataclass(frozen=True, kw_only=True)
class Capacity:
    """How much one worker takes on, and when it counts as lost."""

    drivers: int = 100
    """Runs driven at a time. While there are fewer, a driver keeps its run."""
    supervisors: int = 1000
    """Supervisors kept in memory; others are replayed when they receive an event."""
    sessions: int = 1000
    """Worlds in this process that are held for resting runs."""
    heartbeat_seconds: float = 10.0
    """As in `Placement`; heartbeats are sent three times as often."""
    shutdown_seconds: float = 60.0
    """Seconds that a command may continue after the worker was asked to stop."""


class FleetWorker:
    """A worker, used as `async with`. On exit it takes no new runs, finishes the commands under way and hands its runs over."""

    def __init__(
        self,
        client: Client,
        *,
        store: SharedStore,
        ports_for: PortsFor,
        tenant: str,
        capacity: Capacity | None = None,
        enter: Enter | None = None,
        turns: Turns = nullcontext,
    ) -> None:
        """`enter` stores the runs of schedules. Without it, those wait for a worker that has it. `turns` is as in `Driver`."""
        capacity = capacity or Capacity()
        scheduled = [ScheduledRuns(enter).enter] if enter else []
        self._client, self._store, self._tenant = client, store, tenant
        self._drivers = Drivers(
            store=store, ports_for=ports_for, most=capacity.drivers, most_held=capacity.sessions, turns=turns
        )
        self._tasks: list[asyncio.Task[None]] = []
        self._worker = Worker(
            client,
            task_queue=queue_of(tenant),
            workflows=[SupervisorWorkflow, ScheduledWorkflow],
            activities=[self._drivers.drive, *scheduled],
            workflow_runner=RUNNER,
            build_id=NO_BUILD,
            max_cached_workflows=capacity.supervisors,
            max_concurrent_activities=capacity.drivers,
            sticky_queue_schedule_to_start_timeout=STICKY,
            max_heartbeat_throttle_interval=timedelta(seconds=capacity.heartbeat_seconds / 3),
            graceful_shutdown_timeout=timedelta(seconds=capacity.shutdown_seconds),
        )

    async def __aenter__(self) -> "FleetWorker":
        """Start the worker. Raises `FleetUnavailable` if the database may lose what it has confirmed."""
        if offers(self._store, Durable):
            await self._store.check_durability()
        await self._worker.__aenter__()
        self._tasks = [
            asyncio.create_task(self._store.listen(self._drivers.ring), name="listen for messages"),
            asyncio.create_task(self._drivers.sweep(self._client, self._tenant), name="sweep for messages"),
        ]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self._worker.__aexit__(kind, error, trace)
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
