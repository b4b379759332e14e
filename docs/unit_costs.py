"""Unit costs from the kept results of benchmarks, and what a number of runs needs by them."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results"
SECONDS_A_STEP = 30
"""Between two steps of an active run, mostly waiting for a model."""


def read_result(name: str) -> dict[str, Any]:
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


@dataclass(frozen=True, kw_only=True)
class Heartbeats:
    """What an active run sends and costs in a second, in milliseconds of a processor."""

    sent: float
    temporal: float
    worker: float


@dataclass(frozen=True, kw_only=True)
class UnitCosts:
    """Milliseconds of a processor, bytes in PostgreSQL and megabytes of memory."""

    cpu: float
    worker: float
    temporal: float
    postgres: float
    transitions: float
    commits: float
    history: float
    step: int
    waiting: int
    browser_mb: float
    own_browser_mb: float
    often: Heartbeats
    """At the default of `heartbeat_seconds`."""
    seldom: Heartbeats

    def count_steps(self, active: float) -> float:
        """Per second."""
        return active / SECONDS_A_STEP

    def count_step_cores(self, active: float, milliseconds: float) -> float:
        """For a part that needs these milliseconds for a step."""
        return self.count_steps(active) * milliseconds / 1000

    def count_cores(self, active: float, beats: Heartbeats) -> float:
        """For all parts, with heartbeats."""
        return self.count_step_cores(active, self.cpu) + active * (beats.temporal + beats.worker) / 1000

    def count_browser_gb(self, active: float, *, shared: bool = True) -> float:
        return active * (self.browser_mb if shared else self.own_browser_mb) / 1000

    def count_waiting_gb(self, waiting: float) -> float:
        return waiting * self.waiting / 1e9

    def count_step_gb(self, active: float, seconds: float) -> float:
        """What active runs store in this time."""
        return self.count_steps(active) * self.step * seconds / 1e9


def read_costs() -> UnitCosts:
    step, stored, browsers = _read_step_of_ten(), read_result("storage"), read_result("density")
    return UnitCosts(
        cpu=step["CPU s per 1,000"],
        worker=step["of it the worker"],
        temporal=step["of it Temporal"],
        postgres=step["of it PostgreSQL"],
        transitions=step["transitions"],
        commits=step["commits"],
        history=step["history bytes"],
        step=stored["step"],
        waiting=stored["waiting"],
        browser_mb=browsers["shared"]["mb_each"],
        own_browser_mb=browsers["own"]["mb_each"],
        often=_read_heartbeats("10 s"),
        seldom=_read_heartbeats("60 s"),
    )


def _read_heartbeats(arm: str) -> Heartbeats:
    result = read_result("chaos_heartbeats")
    runs, found = result["runs"] / len(result["arms"]), result["arms"][arm]
    return Heartbeats(
        sent=found["heartbeats"] / runs, temporal=found["temporal_cpu_ms"] / runs, worker=found["worker_cpu_ms"] / runs
    )


def _read_step_of_ten() -> dict[str, float]:
    """The figures of Midcourse in the table of engine_overhead, which has more than its JSON."""
    text = (RESULTS / "engine_overhead.md").read_text(encoding="utf-8")
    lines = text.split("## A step of segments of ten")[1].split("##")[0].strip().splitlines()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    column = rows[0].index("midcourse")
    return {row[0]: float(row[column]) for row in rows[2:] if row[column]}
