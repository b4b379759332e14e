"""Picks a moment for every run, and kills or freezes the worker that holds the run."""

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
from midcourse.runtimes.temporal.wire import name_workflow

MIN_STRIKE_GAP = 0.25
"""Minimum seconds between two strikes, because a worker that has just started has nothing under way."""
MAX_STRIKE_DELAY = 0.3
"""A strike comes up to this many seconds after the beginning of the act it is aimed at."""
MAX_AIMED_ACT = 7
"""The last act that a strike is aimed at. Runs begin a few more acts than this."""


class Disturber(ABC):
    """Aims at the n-th act of each run, until a strike hits a worker while a command of that run is under way."""

    def __init__(self, fleet: Fleet, chance: random.Random) -> None:
        self.fleet = fleet
        self.chance = chance
        self._active: set[str] = set()
        self._target_acts: dict[str, int] = {}
        self._strike_times: dict[str, float] = {}
        self._acts: Tally[str] = Tally()
        self._holders: dict[str, int] = {}
        self._missed_runs: set[str] = set()
        self._kill_records: dict[str, dict[str, Any]] = {}

    @abstractmethod
    async def strike(self, pid: int) -> None:
        """Kill or freeze this worker."""

    @abstractmethod
    async def check_workers(self) -> None:
        """Do what is needed regularly, such as replacing dead workers."""

    def note_begin(self, run: str) -> None:
        self._active.add(run)
        self._target_acts[run] = self.chance.randint(0, MAX_AIMED_ACT)

    def note_end(self, run: str) -> None:
        self._active.discard(run)
        self.stop_aiming(run)

    def is_active(self, run: str) -> bool:
        return run in self._active

    def find_holder(self, run: str) -> int:
        """Return the pid of the worker that took on the run last."""
        return self._holders.get(run, 0)

    def stop_aiming(self, run: str) -> None:
        self._target_acts.pop(run, None)
        self._strike_times.pop(run, None)

    async def run(self) -> None:
        acts, holders = Tail(self.fleet.site.log), Tail(self.fleet.site.holders)
        next_strike = 0.0
        while True:
            self._acts.update(line["run"] for line in acts.read_new_lines() if line["what"] == "began")
            self._holders.update((line["run"], line["pid"]) for line in holders.read_new_lines())
            await self.check_workers()
            run = self._pick_run()
            if run and time.time() > next_strike and await self._strike_holder(run):
                next_strike = time.time() + MIN_STRIKE_GAP
            await asyncio.sleep(0.01)

    async def _strike_holder(self, run: str) -> bool:
        """Strike the worker of the run. After a strike that hit nothing, strike only while a command is pending."""
        pid = self._holders[run]
        if run in self._missed_runs and not await self.find_activity(run, name_worker(pid)):
            return False
        self._strike_times.pop(run)
        self._target_acts[run] = self._acts[run] + self.chance.randint(0, 2)
        self._missed_runs.add(run)
        if pid in self.fleet.workers:
            await self.strike(pid)
        return True

    def _pick_run(self) -> str | None:
        now = time.time()
        for run, target in self._target_acts.items():
            if run in self._holders and self._acts[run] >= target:
                self._strike_times.setdefault(run, now + self.chance.uniform(0.0, MAX_STRIKE_DELAY))
        return next((run for run, at in self._strike_times.items() if at <= now), None)

    async def find_activities(self, pid: int) -> dict[str, str]:
        """Return Temporal's ids of the activities that this worker is executing, by run."""
        worker, active = name_worker(pid), sorted(self._active)
        found = await asyncio.gather(*(self.find_activity(run, worker) for run in active))
        return {run: activity for run, activity in zip(active, found, strict=True) if activity}

    async def find_activity(self, run: str, worker: str) -> str:
        handle = self.fleet.client.get_workflow_handle(name_workflow(self.fleet.tenant, run))
        pending = (await handle.describe()).raw_description.pending_activities
        started = PendingActivityState.PENDING_ACTIVITY_STATE_STARTED
        own_activities = (
            activity for activity in pending if activity.state == started and activity.last_worker_identity == worker
        )
        return next((activity.activity_id for activity in own_activities), "")

    def find_kill_record(self, pid: int) -> dict[str, Any] | None:
        """Return the last record that a worker wrote at a kill point (kill_points.py), if it reached one."""
        for file in self.fleet.site.deaths.glob("*.json"):
            if file.name not in self._kill_records:
                self._kill_records[file.name] = json.loads(file.read_text())
        own_records = [record for record in self._kill_records.values() if record["pid"] == pid]
        return max(own_records, key=lambda record: record["at"], default=None)


@asynccontextmanager
async def run_disturber(disturber: Disturber) -> AsyncGenerator[None]:
    async with asyncio.TaskGroup() as group:
        disturbing = group.create_task(disturber.run())
        yield
        disturbing.cancel()


def name_worker(pid: int) -> str:
    """Return the identity of a worker in Temporal."""
    return f"{pid}@{socket.gethostname()}"
