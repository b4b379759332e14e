"""Trials 5, 6 and 6b: a server is killed every few seconds while runs are under way, and started again at the same address.

outages        number of outages; outage_max_seconds: the longest of them
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from benchmarks.fleet.account import read_account
from benchmarks.fleet.outcome import count_all
from benchmarks.fleet.task import Assignment, make_usual_assignment
from benchmarks.fleet.tenant import Fleet, TrialOptions, run_assignments, start_fleet
from benchmarks.fleet.testbed import TestBed

OUTAGE_GAP = 5.0, 15.0
"""Minimum and maximum seconds between two outages."""
HOST_OUTAGE_GAP = 5.0, 40.0
"""The same for the host. All runs lose their sessions with it."""
FIRST_OUTAGE = 1.0
"""Seconds until the first outage: less than a single run takes, whose workers have to start first."""
STUCK_SECONDS = 600.0
"""Seconds after which a run counts as stuck: more than usual, because a run may meet several outages."""


async def run_temporal_trial(options: TrialOptions, testbed: TestBed) -> dict[str, Any]:
    return await _run_trial(options, testbed, "temporal", testbed.kill_temporal)


async def run_postgres_trial(options: TrialOptions, testbed: TestBed) -> dict[str, Any]:
    return await _run_trial(options, testbed, "postgres", testbed.crash_postgres)


async def run_host_trial(options: TrialOptions, testbed: TestBed) -> dict[str, Any]:
    return await _run_trial(options, testbed, "host", testbed.kill_host, HOST_OUTAGE_GAP)


def _make_assignment(seed: int) -> Assignment:
    """Make an assignment that can lose its session: the next one starts with what is already done."""
    assignment = make_usual_assignment(seed)
    return replace(assignment, remembers=True, limits=replace(assignment.limits, max_reopenings=20))


async def _run_trial(
    options: TrialOptions,
    testbed: TestBed,
    name: str,
    cause_outage: Callable[[], Awaitable[None]],
    gap: tuple[float, float] = OUTAGE_GAP,
) -> dict[str, Any]:
    assignments = {f"{name}-{seed}": _make_assignment(seed) for seed in options.seeds}
    async with start_fleet(testbed, name, heartbeat=options.heartbeat) as fleet:
        fleet.hire(options.workers)
        ended_runs: list[str] = []
        outages: list[float] = []

        def note_end(run: str) -> None:
            ended_runs.append(run)
            options.say(f"{len(ended_runs)}/{options.runs} runs, {len(outages)} outages")

        async with asyncio.TaskGroup() as group:
            done = asyncio.Event()
            chance = random.Random(options.first_seed)
            group.create_task(_cause_outages(fleet, chance, cause_outage, outages, gap, until=done))
            trouble = await run_assignments(
                fleet, assignments, options.concurrency, ended=note_end, patience=STUCK_SECONDS
            )
            done.set()
        accounts = [await read_account(fleet, run) for run in assignments]
    found = await count_all(options, testbed, assignments, accounts, trouble)
    longest = round(max(outages, default=0.0), 1)
    return {**found.summary, "outages": len(outages), "outage_max_seconds": longest}


async def _cause_outages(
    fleet: Fleet,
    chance: random.Random,
    cause_outage: Callable[[], Awaitable[None]],
    outages: list[float],
    gap: tuple[float, float],
    until: asyncio.Event,
) -> None:
    """Cause outages until the event is set. Replace workers that could not start during an outage, as a supervisor would."""
    next_at = time.monotonic() + FIRST_OUTAGE
    while not until.is_set():
        fleet.replace_dead()
        if time.monotonic() >= next_at:
            began = time.monotonic()
            await cause_outage()
            outages.append(time.monotonic() - began)
            next_at = time.monotonic() + chance.uniform(*gap)
        await asyncio.sleep(0.1)
