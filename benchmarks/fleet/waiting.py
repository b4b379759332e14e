"""Measures what runs that wait for an approval cost a worker, and how soon a run continues after its approval.

cached_max         most workflows in the worker's memory, by its own metric; `cached_setting` is the limit
rss_mb             memory of the worker's process, whenever another tenth of the runs waits
goes_on_*          seconds from an approval to the next command of that run, for APPROVED_RUNS random runs
"""

import asyncio
import os
import random
import socket
import time
import urllib.request
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.fleet.account import Account, read_account
from benchmarks.fleet.outcome import count_all, median
from benchmarks.fleet.task import GENEROUS_LIMITS, Assignment
from benchmarks.fleet.tenant import Fleet, TrialOptions, start_fleet
from benchmarks.fleet.testbed import TestBed
from benchmarks.fleet.world import Counter
from midcourse.domain.commands import AskPerson
from midcourse.domain.events import ApprovalDecided

APPROVED_RUNS = 20
CACHED = 200
SESSIONS = 200
METRIC = "temporal_sticky_cache_size"

ASSIGNMENT = Assignment(
    counters=(Counter(effect="irreversible", shown="probe"), Counter(effect="read")),
    limits=replace(GENEROUS_LIMITS, approvals="always", approval_seconds=86_400.0),
    waits=True,
)


async def run_trial(options: TrialOptions, testbed: TestBed) -> dict[str, Any]:
    chance = random.Random(options.first_seed)
    assignments = {f"waiting-{seed}": ASSIGNMENT for seed in options.seeds}
    cached = min(CACHED, options.runs // 3)
    changes = {"supervisors": cached, "sessions": min(SESSIONS, cached), "metrics_port": find_free_port()}
    async with start_fleet(testbed, "waiting", heartbeat=10.0, **changes) as fleet:
        fleet.hire()
        watch = Watch(fleet)
        async with watch:
            await wait_until_all_ask(fleet, assignments, options, watch)
            chosen = chance.sample(sorted(assignments), min(APPROVED_RUNS, options.runs))
            approved_at = {run: await approve(fleet, run) for run in chosen}
        accounts = [await read_account(fleet, run) for run in chosen]
    seconds = [measure_continuation(approved_at[account.run], account) for account in accounts]
    found = await count_all(options, testbed, assignments, accounts, {})
    return {
        **found.summary,
        "waiting": options.runs,
        "cached_setting": cached,
        "cached_max": watch.cached_max,
        "rss_mb": watch.rss,
        "approved": len(chosen),
        "goes_on_median_seconds": median(seconds),
        "goes_on_max_seconds": round(max(seconds), 2),
    }


async def wait_until_all_ask(
    fleet: Fleet, assignments: Mapping[str, Assignment], options: TrialOptions, watch: "Watch"
) -> None:
    """Start all runs, and return when each of them has asked its question."""
    slots = asyncio.Semaphore(options.concurrency)

    async def begin(run: str, assignment: Assignment) -> None:
        async with slots:
            await fleet.begin(run, assignment)

    async with asyncio.TaskGroup() as group:
        for run, assignment in assignments.items():
            group.create_task(begin(run, assignment))
        waiting = 0
        while waiting < len(assignments):
            await asyncio.sleep(0.5)
            asking = "MidcourseTenant = 'waiting' AND MidcourseStatus = 'asking'"
            waiting = (await fleet.client.count_workflows(asking)).count
            if watch.record_memory_at(waiting / len(assignments)):
                options.say(f"{waiting}/{len(assignments)} wait, the worker has {watch.rss[-1]} MB")


async def approve(fleet: Fleet, run: str) -> float:
    """Approve the open question of a run, wait until the run has ended, and return the time of the approval."""
    journal = await fleet.store.journal(run)
    asked = next(c for row in reversed(journal) for c in row.commands if isinstance(c, AskPerson))
    shown = tuple(step.consequence for step in asked.steps)
    handle = fleet.runs.handle(run)
    approved_at = time.time()
    refusal = await handle.tell(ApprovalDecided(question=asked.id, verdict="approved", shown=shown))
    assert not refusal, refusal
    await handle.result()
    return approved_at


def measure_continuation(approved_at: float, account: Account) -> float:
    """Return the seconds from the approval until the next command was answered."""
    after = (row.event for row in account.journal if row.event.at > approved_at)
    return min(event.at for event in after if not isinstance(event, ApprovalDecided)) - approved_at


class Watch:
    """Watches the memory and the cached workflows of one worker."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self.cached_max = 0
        self.rss: list[int] = []

    async def __aenter__(self) -> None:
        self._watching = asyncio.create_task(self._watch())

    async def __aexit__(self, *_: object) -> None:
        self._watching.cancel()

    def record_memory_at(self, share: float) -> bool:
        """Record the memory at every tenth of the runs, once."""
        if share * 10 < len(self.rss):
            return False
        pages = int(Path(f"/proc/{self._fleet.workers[0]}/statm").read_text().split()[1])
        self.rss.append(pages * os.sysconf("SC_PAGE_SIZE") // 2**20)
        return True

    async def _watch(self) -> None:
        url = f"http://127.0.0.1:{self._fleet.metrics_port}/metrics"
        while True:
            try:
                text = await asyncio.to_thread(lambda: urllib.request.urlopen(url, timeout=5).read().decode())
            except OSError:
                text = ""  # it has not begun to listen yet
            sizes = [line.rpartition(" ")[2] for line in text.splitlines() if line.startswith(METRIC)]
            self.cached_max = max(self.cached_max, *(int(float(size)) for size in sizes), 0)
            await asyncio.sleep(0.2)


def find_free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
