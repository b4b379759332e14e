"""Many runs that wait for a person: what they cost a worker, and how soon one continues.

cached_max         workflows that the worker had in memory, at most, by its own metric; `cached_setting` is what it may
rss_mb             memory of the worker's process at every tenth of the way, the first and the last included
goes_on_*          seconds from a person's word to the next command of that run, of APPROVED runs picked by chance
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

from benchmarks.fleet.account import Account, account_of
from benchmarks.fleet.outcome import median, reckon
from benchmarks.fleet.task import PATIENT, Assignment
from benchmarks.fleet.tenant import Fleet, Given, fleet_at
from benchmarks.fleet.testbed import TestBed
from benchmarks.fleet.world import Counter
from midcourse.domain.command import AskPerson
from midcourse.domain.event import ApprovalDecided

APPROVED = 20
CACHED = 200
SESSIONS = 200
METRIC = "temporal_sticky_cache_size"

ERRAND = Assignment(
    counters=(Counter(effect="irreversible", shown="probe"), Counter(effect="read")),
    limits=replace(PATIENT, approvals="always", approval_seconds=86_400.0),
    waits=True,
)


async def trial(given: Given, testbed: TestBed) -> dict[str, Any]:
    chance = random.Random(given.first_seed)
    assignments = {f"waiting-{seed}": ERRAND for seed in given.seeds}
    cached = min(CACHED, given.runs // 3)
    changes = {"supervisors": cached, "sessions": min(SESSIONS, cached), "metrics_port": free_port()}
    async with fleet_at(testbed, "waiting", heartbeat=10.0, **changes) as fleet:
        fleet.hire()
        watch = Watch(fleet)
        async with watch:
            await all_wait(fleet, assignments, given, watch)
            chosen = chance.sample(sorted(assignments), min(APPROVED, given.runs))
            said = {run: await approve(fleet, run) for run in chosen}
        accounts = [await account_of(fleet, run) for run in chosen]
    seconds = [goes_on_after(said[account.run], account) for account in accounts]
    found = await reckon(given, testbed, assignments, accounts, {})
    return {
        **found.summary,
        "waiting": given.runs,
        "cached_setting": cached,
        "cached_max": watch.cached_max,
        "rss_mb": watch.rss,
        "approved": len(chosen),
        "goes_on_median_seconds": median(seconds),
        "goes_on_max_seconds": round(max(seconds), 2),
    }


async def all_wait(fleet: Fleet, assignments: Mapping[str, Assignment], given: Given, watch: "Watch") -> None:
    """Begin them all, and return when every one has put its question."""
    places = asyncio.Semaphore(given.concurrency)

    async def begin(run: str, assignment: Assignment) -> None:
        async with places:
            await fleet.begin(run, assignment)

    async with asyncio.TaskGroup() as group:
        for run, assignment in assignments.items():
            group.create_task(begin(run, assignment))
        waiting = 0
        while waiting < len(assignments):
            await asyncio.sleep(0.5)
            asking = "MidcourseTenant = 'waiting' AND MidcourseStatus = 'asking'"
            waiting = (await fleet.client.count_workflows(asking)).count
            if watch.note_at(waiting / len(assignments)):
                given.say(f"{waiting}/{len(assignments)} wait, the worker has {watch.rss[-1]} MB")


async def approve(fleet: Fleet, run: str) -> float:
    """When. Returns once the run has come to its end."""
    journal = await fleet.store.journal(run)
    asked = next(c for row in reversed(journal) for c in row.commands if isinstance(c, AskPerson))
    shown = tuple(step.consequence for step in asked.steps)
    handle = fleet.runs.handle(run)
    said = time.time()
    refused = await handle.tell(ApprovalDecided(question=asked.id, verdict="approved", shown=shown))
    assert not refused, refused
    await handle.result()
    return said


def goes_on_after(said: float, account: Account) -> float:
    """Seconds until its next command was answered."""
    after = (row.event for row in account.journal if row.event.at > said)
    return min(event.at for event in after if not isinstance(event, ApprovalDecided)) - said


class Watch:
    """Of one worker: what it has in memory."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self.cached_max = 0
        self.rss: list[int] = []

    async def __aenter__(self) -> None:
        self._watching = asyncio.create_task(self._watch())

    async def __aexit__(self, *_: object) -> None:
        self._watching.cancel()

    def note_at(self, share: float) -> bool:
        """At every tenth of the way, once."""
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


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
