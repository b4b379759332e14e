"""Trials 5, 6 and 6b: a server is taken away every few seconds while runs are under way, and comes back where it was.

outages        how often, and for how long at most
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from benchmarks.fleet.account import account_of
from benchmarks.fleet.outcome import reckon
from benchmarks.fleet.task import Assignment, usual_assignment
from benchmarks.fleet.tenant import Fleet, Given, carry_out, fleet_at
from benchmarks.fleet.testbed import TestBed

OFTEN = 5.0, 15.0
"""Seconds between an outage and the next, at least and at most."""
HOST = 5.0, 40.0
"""The same for the host: it takes the sessions of all runs along."""
SOON = 2.0
"""Seconds until the first."""
PATIENCE = 600.0
"""A run may meet several."""


async def without_temporal(given: Given, testbed: TestBed) -> dict[str, Any]:
    return await _trial(given, testbed, "temporal", testbed.kill_temporal)


async def without_postgres(given: Given, testbed: TestBed) -> dict[str, Any]:
    return await _trial(given, testbed, "postgres", testbed.crash_postgres)


async def without_host(given: Given, testbed: TestBed) -> dict[str, Any]:
    return await _trial(given, testbed, "host", testbed.kill_host, HOST)


def _errand(seed: int) -> Assignment:
    """Some of these take a session along, which then begins with what is done already."""
    assignment = usual_assignment(seed)
    return replace(assignment, remembers=True, limits=replace(assignment.limits, max_reopenings=20))


async def _trial(
    given: Given,
    testbed: TestBed,
    name: str,
    take_away: Callable[[], Awaitable[None]],
    between: tuple[float, float] = OFTEN,
) -> dict[str, Any]:
    assignments = {f"{name}-{seed}": _errand(seed) for seed in given.seeds}
    async with fleet_at(testbed, name, heartbeat=given.heartbeat) as fleet:
        fleet.hire(given.workers)
        over: list[str] = []
        outages: list[float] = []

        def ended(run: str) -> None:
            over.append(run)
            given.say(f"{len(over)}/{given.runs} runs, {len(outages)} outages")

        async with asyncio.TaskGroup() as group:
            done = asyncio.Event()
            chance = random.Random(given.first_seed)
            group.create_task(_make_trouble(fleet, chance, take_away, outages, between, until=done))
            trouble = await carry_out(fleet, assignments, given.concurrency, ended=ended, patience=PATIENCE)
            done.set()
        accounts = [await account_of(fleet, run) for run in assignments]
    found = await reckon(given, testbed, assignments, accounts, trouble)
    longest = round(max(outages, default=0.0), 1)
    return {**found.summary, "outages": len(outages), "outage_max_seconds": longest}


async def _make_trouble(
    fleet: Fleet,
    chance: random.Random,
    take_away: Callable[[], Awaitable[None]],
    outages: list[float],
    between: tuple[float, float],
    until: asyncio.Event,
) -> None:
    """A worker that could not begin because the server was away is replaced, as any supervisor would."""
    next_at = time.monotonic() + SOON
    while not until.is_set():
        fleet.replace_dead()
        if time.monotonic() >= next_at:
            began = time.monotonic()
            await take_away()
            outages.append(time.monotonic() - began)
            next_at = time.monotonic() + chance.uniform(*between)
        await asyncio.sleep(0.1)
