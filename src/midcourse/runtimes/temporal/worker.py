"""A worker: drives a tenant's runs, delivers their messages, and wakes runs that rest.

async with FleetWorker(client, store=store, build_ports=build_ports, tenant="acme"):
    await stopped.wait()
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import timedelta
from types import TracebackType
from typing import TypeAlias

from temporalio import activity
from temporalio.client import Client
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory
from temporalio.service import RPCError
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from midcourse.containment import Contained
from midcourse.domain.events import CancelAsked
from midcourse.domain.phases import Ended
from midcourse.errors import RunBusy
from midcourse.perform import Ports
from midcourse.ports.abilities import offers
from midcourse.ports.driving import Durable, SharedStore
from midcourse.runtimes.driver import Driver, Rested, Turns
from midcourse.runtimes.temporal.attributes import derive_status
from midcourse.runtimes.temporal.schedule import Enter, ScheduledRuns, ScheduledWorkflow
from midcourse.runtimes.temporal.supervisor import LONGEST_DRIVE, SupervisorWorkflow
from midcourse.runtimes.temporal.wire import ACTIVITY, WAKE, Left, Placement, name_queue, name_workflow, read_run_id

BuildPorts: TypeAlias = Callable[[str], Awaitable[Ports]]
"""Returns the ports of a run by its id. Its world is neither open nor attached."""

SWEEP_SECONDS = 1.0
"""Seconds between two sweeps for messages whose notification was lost."""
SWEPT_FROM = 60.0
"""A wait of at least this many seconds has no timer in Temporal: workers query the store for runs that are due."""
DUE_SECONDS = 5.0
"""Seconds between two queries for runs that are due."""
AGAIN_SECONDS = 60.0
"""Seconds until a due run is woken again, if no driver has claimed it."""

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
        build_ports: BuildPorts,
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
            store=store, build_ports=build_ports, most=capacity.drivers, most_held=capacity.sessions, turns=turns
        )
        self._tasks: list[asyncio.Task[None]] = []
        self._worker = Worker(
            client,
            task_queue=name_queue(tenant),
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
        """Start the worker. Raise `FleetUnavailable` if the database may lose what it has confirmed."""
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


class Drivers:
    """The activity that drives a run: the drivers of one worker, at most `most` at a time. It holds at most `most_held` worlds of resting runs."""

    def __init__(
        self, *, store: SharedStore, build_ports: BuildPorts, most: int, most_held: int, turns: Turns = nullcontext
    ) -> None:
        self._store = store
        self._build_ports = build_ports
        self._turns = turns
        self._most = most
        self._most_held = most_held
        self._live: dict[str, Driver] = {}
        self._held: OrderedDict[str, Ports] = OrderedDict()
        """Ports of resting runs whose world is in this process, where no other worker can reach it."""

    @activity.defn(name=ACTIVITY)
    async def drive(self, placement: Placement) -> Left:
        info = activity.info()
        assert info.workflow_id, "only supervisors place drivers"
        run_id = read_run_id(info.workflow_id)
        placed = round(info.current_attempt_scheduled_time.timestamp() * 1e6)
        try:
            async with Contained():
                with _send_heartbeats():
                    return await self._drive(run_id, placed, placement)
        except RunBusy as busy:
            raise ApplicationError(str(busy), type="RunBusy", category=ApplicationErrorCategory.BENIGN) from busy
        except OSError:
            raise  # a store or a host cannot be reached
        except Exception as bug:
            raise ApplicationError(str(bug), type=type(bug).__name__, non_retryable=True) from bug

    async def _drive(self, run_id: str, placed: int, placement: Placement) -> Left:
        began = time.monotonic()

        def must_stop() -> bool:
            seconds = time.monotonic() - began
            others_wait = len(self._live) >= self._most and seconds > placement.slice_seconds
            return others_wait or seconds > LONGEST_DRIVE.total_seconds() / 2 or activity.is_worker_shutdown()

        held = self._held.pop(run_id, None)
        async with self._turns():  # what is built here delays other runs as much as a turn does
            ports = held or await self._build_ports(run_id)
        driver = Driver(ports, must_stop=must_stop, held=held is not None, turns=self._turns)
        if placement.cancelled:
            driver.tell(CancelAsked())
        self._live[run_id] = driver
        driving = asyncio.create_task(driver.drive(placed=placed), name=f"drive {run_id}")
        try:
            rested = await self._wait_until_rest(driver, driving)
        finally:
            if self._live.get(run_id) is driver:
                del self._live[run_id]
        await self._hold_world(ports, rested)
        phase = rested.run.phase
        swept = rested.wake_at is not None and rested.wake_at - time.time() >= SWEPT_FROM
        return Left(
            why=rested.why,
            status=derive_status(rested.run),
            final_reason=phase.reason if isinstance(phase, Ended) else "",
            messages=rested.messages,
            wake_at=None if swept else rested.wake_at,
        )

    async def _wait_until_rest(self, driver: Driver, driving: "asyncio.Task[Rested]") -> Rested:
        """Wait for the driver. If the execution is cancelled, cancel the run and continue to wait, since an act is never interrupted."""
        while True:
            try:
                return await asyncio.shield(driving)
            except asyncio.CancelledError:
                details = activity.cancellation_details()
                if driving.done() or not (details and details.cancel_requested):
                    driving.cancel()
                    await asyncio.gather(driving, return_exceptions=True)
                    raise
                driver.tell(CancelAsked())

    async def _hold_world(self, ports: Ports, rested: Rested) -> None:
        """Keep a world that was opened and that no other process can attach to."""
        if rested.why == "ended" or rested.run.seen is None or await self._store.session(ports.run_id):
            return
        self._held[ports.run_id] = ports
        while len(self._held) > self._most_held:
            self._held.popitem(last=False)

    # --- messages

    def ring(self, run_id: str) -> None:
        """Have the driver of this run read its messages, if it is one of ours."""
        if driver := self._live.get(run_id):
            driver.ring()

    async def sweep(self, client: Client, tenant: str) -> None:
        """Find messages whose notification or signal was lost, and runs whose time has come. Runs until it is cancelled."""
        look_at = 0.0
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            with suppress(ConnectionError):
                known = {run_id: driver.known for run_id, driver in self._live.items()}
                for run_id in await self._store.unread(known) if known else ():
                    self.ring(run_id)
                await self._wake(client, tenant, await self._store.to_wake())
                if time.monotonic() >= look_at:
                    look_at = time.monotonic() + DUE_SECONDS
                    due = await self._store.take_due(time.time(), time.time() + AGAIN_SECONDS)
                    # A number above that of the last message: its driver may have read all of them.
                    await self._wake(client, tenant, [(run_id, number + 1) for run_id, number in due])

    async def _wake(self, client: Client, tenant: str, runs: list[tuple[str, int]]) -> None:
        for run_id, number in runs:
            with suppress(RPCError):  # its execution may be broken, or Temporal cannot be reached
                await client.get_workflow_handle(name_workflow(tenant, run_id)).signal(WAKE, number)


@contextmanager
def _send_heartbeats() -> Generator[None]:
    """Send heartbeats in the background, three per heartbeat timeout."""
    timeout = activity.info().heartbeat_timeout
    assert timeout is not None, "every activity is watched"
    loop, pause = asyncio.get_running_loop(), timeout.total_seconds() / 3

    def beat() -> None:
        nonlocal next_beat
        activity.heartbeat()
        next_beat = loop.call_later(pause, beat)

    next_beat = loop.call_later(pause, beat)
    try:
        yield
    finally:
        next_beat.cancel()
