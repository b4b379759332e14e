"""What heartbeats cost: so many runs are in a long act, and nothing else happens.

Of each arm, named by the seconds after which a worker counts as lost (10 as in the default settings, and 60):

heartbeats         that the worker sent to Temporal, a second, by its own metric
*_cpu_ms           CPU time of Temporal and of the worker, a second
"""

import asyncio
import os
import time
import urllib.request
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.fleet.account import account_of
from benchmarks.fleet.outcome import reckon
from benchmarks.fleet.task import PATIENT, Assignment
from benchmarks.fleet.tenant import Fleet, Given, fleet_at
from benchmarks.fleet.testbed import TestBed
from benchmarks.fleet.waiting import free_port
from benchmarks.fleet.world import Counter, read_log

ARMS = (10.0, 60.0)
MEASURED = 15.0
"""Seconds."""
ACT = 45.0
"""Seconds that each act takes: until all are under way, and while it is measured."""
ASSIGNMENT = Assignment(
    counters=(Counter(effect="read"),),
    limits=replace(PATIENT, act_timeout_seconds=3 * ACT),
    act_seconds=ACT,
)


async def trial(given: Given, testbed: TestBed) -> dict[str, Any]:
    arms: dict[str, Any] = {}
    assignments: dict[str, Assignment] = {}
    accounts: list[Any] = []
    for seconds in ARMS:
        runs = [f"heartbeats-{seconds:g}-{seed}" for seed in given.seeds]
        assignments |= dict.fromkeys(runs, ASSIGNMENT)
        async with fleet_at(testbed, f"beat-{seconds:g}", heartbeat=seconds, metrics_port=free_port()) as fleet:
            fleet.hire()
            handles = [await fleet.begin(run, ASSIGNMENT) for run in runs]
            await _all_act(testbed, set(runs))
            arms[f"{seconds:g} s"] = found = await _measure(fleet, testbed)
            given.say(f"{seconds:g} s: {found}")
            await asyncio.gather(*(handle.result() for handle in handles))
            accounts += [await account_of(fleet, run) for run in runs]
    found = await reckon(given, testbed, assignments, accounts, {})
    return {**found.summary, "arms": arms}


async def _all_act(testbed: TestBed, runs: set[str]) -> None:
    began = set[str]()
    while not runs <= began:
        await asyncio.sleep(0.1)
        began = {line.run for line in read_log(testbed.site.log) if line.what == "began"}
    await asyncio.sleep(2.0)  # until what began them is over


async def _measure(fleet: Fleet, testbed: TestBed) -> dict[str, float]:
    pids = {"temporal": testbed.temporal_pid, "worker": fleet.workers[0]}
    began, beats = time.monotonic(), await asyncio.to_thread(_heartbeats, fleet.metrics_port)
    before = {name: _cpu_seconds(pid) for name, pid in pids.items()}
    await asyncio.sleep(MEASURED)
    passed = time.monotonic() - began
    sent = await asyncio.to_thread(_heartbeats, fleet.metrics_port) - beats
    used = {name: _cpu_seconds(pid) - before[name] for name, pid in pids.items()}
    return {
        "heartbeats": round(sent / passed, 2),
        **{f"{name}_cpu_ms": round(1000 * seconds / passed, 1) for name, seconds in used.items()},
    }


def _heartbeats(port: int) -> float:
    text = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10).read().decode()
    lines = [line for line in text.splitlines() if line.startswith("temporal_request{")]
    return sum(float(line.rpartition(" ")[2]) for line in lines if "RecordActivityTaskHeartbeat" in line)


def _cpu_seconds(pid: int) -> float:
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
