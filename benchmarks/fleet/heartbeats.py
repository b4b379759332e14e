"""Measures the cost of heartbeats while `--runs` runs are in a long act and nothing else happens.

For each arm, named by the seconds after which a worker counts as lost (10 as in the default settings, and 60):

heartbeats         heartbeats per second from the worker to Temporal, by the worker's own metric
*_cpu_ms           CPU time of Temporal and of the worker per second
"""

import asyncio
import os
import time
import urllib.request
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.fleet.account import read_account
from benchmarks.fleet.outcome import count_all
from benchmarks.fleet.task import GENEROUS_LIMITS, Assignment
from benchmarks.fleet.tenant import Fleet, TrialOptions, start_fleet
from benchmarks.fleet.testbed import TestBed
from benchmarks.fleet.waiting import find_free_port
from benchmarks.fleet.world import Counter, read_log

ARMS = (10.0, 60.0)
MEASURED_SECONDS = 15.0
"""Seconds."""
ACT_SECONDS = 45.0
"""Duration of each act: long enough for all acts to begin, and for the measurement."""
ASSIGNMENT = Assignment(
    counters=(Counter(effect="read"),),
    limits=replace(GENEROUS_LIMITS, act_timeout_seconds=3 * ACT_SECONDS),
    act_seconds=ACT_SECONDS,
)


async def run_trial(options: TrialOptions, testbed: TestBed) -> dict[str, Any]:
    arms: dict[str, Any] = {}
    assignments: dict[str, Assignment] = {}
    accounts: list[Any] = []
    for seconds in ARMS:
        runs = [f"heartbeats-{seconds:g}-{seed}" for seed in options.seeds]
        assignments |= dict.fromkeys(runs, ASSIGNMENT)
        async with start_fleet(testbed, f"beat-{seconds:g}", heartbeat=seconds, metrics_port=find_free_port()) as fleet:
            fleet.hire()
            handles = [await fleet.begin(run, ASSIGNMENT) for run in runs]
            await _wait_until_all_act(testbed, set(runs))
            arms[f"{seconds:g} s"] = found = await _measure(fleet, testbed)
            options.say(f"{seconds:g} s: {found}")
            await asyncio.gather(*(handle.result() for handle in handles))
            accounts += [await read_account(fleet, run) for run in runs]
    found = await count_all(options, testbed, assignments, accounts, {})
    return {**found.summary, "arms": arms}


async def _wait_until_all_act(testbed: TestBed, runs: set[str]) -> None:
    began = set[str]()
    while not runs <= began:
        await asyncio.sleep(0.1)
        began = {line.run for line in read_log(testbed.site.log) if line.what == "began"}
    await asyncio.sleep(2.0)  # until what began them is over


async def _measure(fleet: Fleet, testbed: TestBed) -> dict[str, float]:
    pids = {"temporal": testbed.temporal_pid, "worker": fleet.workers[0]}
    began, beats = time.monotonic(), await asyncio.to_thread(_read_heartbeats, fleet.metrics_port)
    before = {name: _read_cpu_seconds(pid) for name, pid in pids.items()}
    await asyncio.sleep(MEASURED_SECONDS)
    seconds_passed = time.monotonic() - began
    sent = await asyncio.to_thread(_read_heartbeats, fleet.metrics_port) - beats
    used = {name: _read_cpu_seconds(pid) - before[name] for name, pid in pids.items()}
    return {
        "heartbeats": round(sent / seconds_passed, 2),
        **{f"{name}_cpu_ms": round(1000 * seconds / seconds_passed, 1) for name, seconds in used.items()},
    }


def _read_heartbeats(port: int) -> float:
    text = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10).read().decode()
    lines = [line for line in text.splitlines() if line.startswith("temporal_request{")]
    return sum(float(line.rpartition(" ")[2]) for line in lines if "RecordActivityTaskHeartbeat" in line)


def _read_cpu_seconds(pid: int) -> float:
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
