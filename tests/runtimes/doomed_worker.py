"""A worker process that kills or freezes itself at one moment of an order.

python -m tests.runtimes.doomed_worker kill "before it is sent"
"""

import asyncio
import os
import signal
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from midcourse.config.fleet_settings import FleetSettings
from midcourse.domain.commands import Command
from midcourse.domain.events import Acted, Event
from midcourse.domain.outcome import Outcome
from midcourse.domain.records.ledger import LedgerEntry
from midcourse.domain.run import Run
from midcourse.fleet.connection import Fleet, connect_fleet
from midcourse.fleet.ports import PortsMaker
from midcourse.perform import Ports
from midcourse.ports.driving import Claim, Records
from midcourse.ports.world import Call, World
from midcourse.process import leave
from midcourse.runtimes.temporal.worker import Capacity, FleetWorker
from midcourse.store.postgres import PostgresStore

SIGNALS = {"kill": signal.SIGKILL, "freeze": signal.SIGSTOP}
MOMENTS = (
    "before it is on record",
    "before it is sent",
    "after it was sent",
    "after it was written down",
)


@dataclass(kw_only=True)
class Fate:
    """The moment at which the process sends itself a signal, once."""

    moment: str
    signal: signal.Signals
    met: bool = False

    def strike_at(self, moment: str) -> None:
        if moment == self.moment and not self.met:
            self.met = True
            os.kill(os.getpid(), self.signal)


UNHARMED = Fate(moment="never", signal=signal.SIGKILL)


class DoomedWorld:
    """A world that meets its fate around the act of the order."""

    def __init__(self, world: World, fate: Fate) -> None:
        self._world = world
        self._fate = fate

    def __getattr__(self, name: str) -> Any:
        return getattr(self._world, name)

    async def act(self, call: Call) -> Outcome:
        if call.skill != "place_order":
            return await self._world.act(call)
        self._fate.strike_at("before it is sent")
        outcome = await self._world.act(call)
        self._fate.strike_at("after it was sent")
        return outcome


class DoomedStore:
    def __init__(self, store: PostgresStore, fate: Fate) -> None:
        self._store = store
        self._fate = fate

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def records(self, claim: Claim) -> "DoomedBatch":
        return DoomedBatch(self._store.records(claim), self._fate)


class DoomedBatch:
    """Records that meet their fate around the ledger entry and the turn of the order."""

    def __init__(self, batch: Records, fate: Fate) -> None:
        self._batch = batch
        self._fate = fate

    def __getattr__(self, name: str) -> Any:
        return getattr(self._batch, name)

    async def write_ledger(self, run_id: str, entry: LedgerEntry) -> None:
        if entry.identity and entry.outcome is None:
            self._fate.strike_at("before it is on record")
        await self._batch.write_ledger(run_id, entry)

    async def save_turn(self, run: Run, event: Event, commands: tuple[Command, ...], **fence: Any) -> None:
        await self._batch.save_turn(run, event, commands, **fence)
        if isinstance(event, Acted) and event.identity and event.dispatched:
            self._fate.strike_at("after it was written down")


def worker(fleet: Fleet, home: Path, fate: Fate = UNHARMED) -> FleetWorker:
    settings = fleet.settings
    maker = PortsMaker(fleet.store, settings, home)

    async def build_ports(run_id: str) -> Ports:
        ports = await maker.build_ports(run_id)
        world: Any = DoomedWorld(ports.world, fate)
        return replace(ports, world=world, store=store)

    store: Any = DoomedStore(fleet.store, fate)
    capacity = Capacity(heartbeat_seconds=settings.heartbeat_seconds)
    return FleetWorker(fleet.client, store=store, build_ports=build_ports, tenant=settings.tenant, capacity=capacity)


async def main(how: str, moment: str) -> None:
    home = Path(os.environ["MIDCOURSE_HOME"])
    async with connect_fleet(FleetSettings.load(home)) as fleet:
        stopped = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
        async with worker(fleet, home, Fate(moment=moment, signal=SIGNALS[how])):
            await stopped.wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
    leave(0)
