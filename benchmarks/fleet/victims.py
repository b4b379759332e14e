"""Picks a moment for every run, and disturbs the worker that holds it."""

import asyncio
import json
import random
import socket
import time
from abc import ABC, abstractmethod
from collections import Counter as Tally
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from temporalio.api.enums.v1 import PendingActivityState

from benchmarks.fleet.tail import Tail
from benchmarks.fleet.tenant import Fleet
from midcourse.runtimes.temporal.wire import workflow_id

BREATH = 0.25
"""Seconds between two strikes, at least: who has just begun to work has nothing under way."""
LATEST = 0.3
"""A strike comes up to this many seconds after the act that it was aimed at began."""
MOST_ACTS = 7
"""Runs begin a few more acts than this."""


class Disturber(ABC):
    """Aims at the n-th act of each run, until something of that run was under way when its worker was struck."""

    def __init__(self, fleet: Fleet, chance: random.Random) -> None:
        self.fleet = fleet
        self.chance = chance
        self._active: set[str] = set()
        self._aims: dict[str, int] = {}
        self._due: dict[str, float] = {}
        self._acts: Tally[str] = Tally()
        self._holders: dict[str, int] = {}
        self._missed: set[str] = set()
        self._fates: dict[str, dict[str, Any]] = {}

    @abstractmethod
    async def strike(self, pid: int) -> None:
        """A worker that holds a run whose moment has come."""

    @abstractmethod
    async def look_after(self) -> None:
        """What is to be done again and again."""

    def begun(self, run: str) -> None:
        self._active.add(run)
        self._aims[run] = self.chance.randint(0, MOST_ACTS)

    def ended(self, run: str) -> None:
        self._active.discard(run)
        self.spare(run)

    def is_active(self, run: str) -> bool:
        return run in self._active

    def holder(self, run: str) -> int:
        """The process that took it on last."""
        return self._holders.get(run, 0)

    def spare(self, run: str) -> None:
        self._aims.pop(run, None)
        self._due.pop(run, None)

    async def hunt(self) -> None:
        acts, holders = Tail(self.fleet.site.log), Tail(self.fleet.site.holders)
        rested = 0.0
        while True:
            self._acts.update(line["run"] for line in acts.new() if line["what"] == "began")
            self._holders.update((line["run"], line["pid"]) for line in holders.new())
            await self.look_after()
            run = self._prey()
            if run and time.time() > rested and await self._shoot(run):
                rested = time.time() + BREATH
            await asyncio.sleep(0.01)

    async def _shoot(self, run: str) -> bool:
        """The first time at a random moment; if that hit nothing, when a command is pending."""
        pid = self._holders[run]
        if run in self._missed and not await self.activity(run, worker_named(pid)):
            return False
        self._due.pop(run)
        self._aims[run] = self._acts[run] + self.chance.randint(0, 2)
        self._missed.add(run)
        if pid in self.fleet.workers:
            await self.strike(pid)
        return True

    def _prey(self) -> str | None:
        now = time.time()
        for run, aim in self._aims.items():
            if run in self._holders and self._acts[run] >= aim:
                self._due.setdefault(run, now + self.chance.uniform(0.0, LATEST))
        return next((run for run, at in self._due.items() if at <= now), None)

    async def under_way(self, pid: int) -> dict[str, str]:
        """By run, the engine's number of the activity that this worker was at."""
        worker, active = worker_named(pid), sorted(self._active)
        found = await asyncio.gather(*(self.activity(run, worker) for run in active))
        return {run: activity for run, activity in zip(active, found, strict=True) if activity}

    async def activity(self, run: str, worker: str) -> str:
        handle = self.fleet.client.get_workflow_handle(workflow_id(self.fleet.tenant, run))
        pending = (await handle.describe()).raw_description.pending_activities
        started = PendingActivityState.PENDING_ACTIVITY_STATE_STARTED
        its = (one for one in pending if one.state == started and one.last_worker_identity == worker)
        return next((one.activity_id for one in its), "")

    def fate_of(self, pid: int) -> dict[str, Any] | None:
        """What a worker noted at its kill point (kill_points.py), if it reached one; the last, if several runs did."""
        for file in self.fleet.site.deaths.glob("*.json"):
            if file.name not in self._fates:
                self._fates[file.name] = json.loads(file.read_text())
        its = [interrupter for interrupter in self._fates.values() if interrupter["pid"] == pid]
        return max(its, key=lambda interrupter: interrupter["at"], default=None)


@asynccontextmanager
async def disturbed(disturber: Disturber) -> AsyncGenerator[None]:
    async with asyncio.TaskGroup() as group:
        hunting = group.create_task(disturber.hunt())
        yield
        hunting.cancel()


def worker_named(pid: int) -> str:
    """As the engine knows it."""
    return f"{pid}@{socket.gethostname()}"
