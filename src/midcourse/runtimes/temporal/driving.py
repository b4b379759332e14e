"""The activity that drives a run, and what a worker does for its drivers: deliver messages, and wake runs that rest."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import nullcontext, suppress
from typing import TypeAlias

from temporalio import activity
from temporalio.client import Client
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory
from temporalio.service import RPCError

from midcourse.containment import Contained
from midcourse.domain.events import CancelAsked
from midcourse.domain.phases import Ended
from midcourse.errors import RunBusy
from midcourse.perform import Ports
from midcourse.ports.driving import SharedStore
from midcourse.runtimes.driver import Driver, Rested, Turns
from midcourse.runtimes.temporal.attributes import status_of
from midcourse.runtimes.temporal.heartbeats import heartbeats
from midcourse.runtimes.temporal.supervisor import LONGEST_DRIVE
from midcourse.runtimes.temporal.wire import ACTIVITY, WAKE, Left, Placement, run_id_of, workflow_id

PortsFor: TypeAlias = Callable[[str], Awaitable[Ports]]
"""Returns the ports of a run by its id. Its world is neither open nor attached."""

SWEEP_SECONDS = 1.0
"""Seconds between two sweeps for messages whose notification was lost."""
SWEPT_FROM = 60.0
"""A wait of at least this many seconds has no timer in Temporal: workers query the store for runs that are due."""
DUE_SECONDS = 5.0
"""Seconds between two queries for runs that are due."""
AGAIN_SECONDS = 60.0
"""Seconds until a due run is woken again, if no driver has claimed it."""


class Drivers:
    """The drivers of one worker, at most `most` at a time. It holds at most `most_held` worlds of resting runs."""

    def __init__(
        self, *, store: SharedStore, ports_for: PortsFor, most: int, most_held: int, turns: Turns = nullcontext
    ) -> None:
        self._store = store
        self._ports_for = ports_for
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
        run_id = run_id_of(info.workflow_id)
        placed = round(info.current_attempt_scheduled_time.timestamp() * 1e6)
        try:
            async with Contained():
                with heartbeats():
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
            ports = held or await self._ports_for(run_id)
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
        await self._hold_world(driver.ports, rested)
        return _build_left(rested)

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
                await client.get_workflow_handle(workflow_id(tenant, run_id)).signal(WAKE, number)


def _build_left(rested: Rested) -> Left:
    phase = rested.run.phase
    swept = rested.wake_at is not None and rested.wake_at - time.time() >= SWEPT_FROM
    return Left(
        why=rested.why,
        status=status_of(rested.run),
        final_reason=phase.reason if isinstance(phase, Ended) else "",
        messages=rested.messages,
        wake_at=None if swept else rested.wake_at,
    )
