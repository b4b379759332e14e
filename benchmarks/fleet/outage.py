"""Trial 31: the world host, PostgreSQL, Temporal and the model are away for minutes, one after the other.

For each of them `--runs` runs start. When all have begun to act, the server is away for `--away` seconds. While the host or the model
is away, a few more runs start with a limit that is shorter than the outage: these must end as `outage`. The delays of all runs are
scaled with `--away`; with 300 seconds they are the defaults.

under_way           runs that had begun and not ended when the outage began, by server
back_at_work        seconds from the end of an outage until the last of these runs had ended, by server
limited             runs with a shorter limit; limited_ended: those of them that ended as `outage`
workers_replaced    workers that ended by themselves during an outage and were replaced
"""

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from benchmarks.fleet.account import read_account
from benchmarks.fleet.outcome import count_all
from benchmarks.fleet.task import Assignment, make_usual_assignment
from benchmarks.fleet.tenant import Fleet, TrialOptions, run_assignments, start_fleet
from benchmarks.fleet.testbed import TestBed
from benchmarks.fleet.world import read_log

StartOutage: TypeAlias = Callable[[float], Coroutine[Any, Any, None]]

DEFAULT_AWAY_SECONDS = 300.0
"""The duration of an outage that the default delays and limits are meant for."""
LIMITED = 2
"""Number of runs with a limit that is shorter than the outage."""
START_TIMEOUT = 900.0
"""Seconds in which every run must begin to act, also on a busy machine."""


class Model:
    """A port that the planner must reach before it plans."""

    def __init__(self) -> None:
        self.port = 0
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        self._server = await asyncio.start_server(lambda _reader, writer: writer.close(), "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    def stop(self) -> None:
        assert self._server
        self._server.close()

    async def go_away(self, seconds: float) -> None:
        self.stop()
        await asyncio.sleep(seconds)
        await self.start()


@dataclass
class Found:
    """The counts that only this trial has."""

    under_way: dict[str, int] = field(default_factory=dict[str, int])
    back_at_work: dict[str, float] = field(default_factory=dict[str, float])
    trouble: dict[str, str] = field(default_factory=dict[str, str])
    workers_replaced: int = 0


async def run_trial(options: TrialOptions, testbed: TestBed) -> dict[str, Any]:
    model, found = Model(), Found()
    await model.start()
    outages: Mapping[str, StartOutage] = {
        "host": testbed.kill_host,
        "postgres": testbed.crash_postgres,
        "temporal": testbed.kill_temporal,
        "model": model.go_away,
    }
    assignments: dict[str, Assignment] = {}
    try:
        async with start_fleet(testbed, "outage", heartbeat=options.heartbeat) as fleet:
            fleet.hire(options.workers)
            for name, start_outage in outages.items():
                regular, limited = (
                    _make_assignments(options, name, model.port),
                    _make_limited_assignments(options, name, model.port),
                )
                assignments |= {**regular, **limited}
                await _run_through_outage(fleet, options, name, regular, limited, start_outage, found)
            fleet.dismiss()
            accounts = [await read_account(fleet, run) for run in assignments]
    finally:
        model.stop()
    counts = await count_all(options, testbed, assignments, accounts, found.trouble)
    limited = [account for account in accounts if not assignments[account.run].must_succeed]
    return {
        **counts.summary,
        "away_seconds": options.away,
        "under_way": found.under_way,
        "back_at_work": found.back_at_work,
        "limited": len(limited),
        "limited_ended": sum(bool(account.result and account.result.final_reason == "outage") for account in limited),
        "workers_replaced": found.workers_replaced,
    }


def _make_assignments(options: TrialOptions, name: str, port: int) -> dict[str, Assignment]:
    return {f"outage-{name}-{seed}": _make_assignment(seed, options.away, port) for seed in options.seeds}


def _make_limited_assignments(options: TrialOptions, name: str, port: int) -> dict[str, Assignment]:
    """Make the control runs: they start during the outage, with a limit of a fifth of its duration."""
    assignments: dict[str, Assignment] = {}
    for number in range(LIMITED if name in ("host", "model") else 0):
        assignment = _make_assignment(number, options.away, port)
        limits = replace(assignment.limits, max_outage_seconds=options.away / 5)
        assignments[f"outage-{name}-limited-{number}"] = replace(assignment, limits=limits, must_succeed=False)
    return assignments


def _make_assignment(seed: int, away: float, port: int) -> Assignment:
    assignment, scale = make_usual_assignment(seed), away / DEFAULT_AWAY_SECONDS
    limits = replace(
        assignment.limits,
        retry_delay_seconds=2.0 * scale,
        max_retry_delay_seconds=60.0 * scale,
        max_outage_seconds=max(600.0 * scale, 60.0),
    )
    return replace(assignment, limits=limits, act_seconds=min(1.0, away / 15), remembers=True, model_port=port)


async def _run_through_outage(
    fleet: Fleet,
    options: TrialOptions,
    name: str,
    assignments: Mapping[str, Assignment],
    limited: Mapping[str, Assignment],
    start_outage: StartOutage,
    found: Found,
) -> None:
    """Start these runs, cause the outage while they act, and wait until they have ended."""
    ended_runs: set[str] = set()
    patience = 2 * options.away + 600.0
    async with asyncio.TaskGroup() as group:
        carried_out = group.create_task(
            run_assignments(fleet, assignments, len(assignments), ended=ended_runs.add, patience=patience), name=name
        )
        await _wait_until_all_act(fleet, set(assignments), ended_runs)
        found.under_way[name] = len(assignments) - len(ended_runs)
        options.say(f"{name}: away for {options.away:g} s, {found.under_way[name]} runs under way")
        outage = group.create_task(start_outage(options.away))
        control = group.create_task(run_assignments(fleet, limited, LIMITED, patience=patience))
        while not outage.done():
            found.workers_replaced += len(fleet.replace_dead())
            await asyncio.sleep(0.5)
        back_at = time.monotonic()
        while not carried_out.done():
            found.workers_replaced += len(fleet.replace_dead())
            await asyncio.sleep(0.2)
        found.back_at_work[name] = round(time.monotonic() - back_at, 1)
        options.say(f"{name}: all ended {found.back_at_work[name]} s after it was back")
    found.trouble |= carried_out.result() | control.result()


async def _wait_until_all_act(fleet: Fleet, runs: set[str], ended_runs: set[str]) -> None:
    """Wait until each run has begun to act or has ended."""
    deadline = time.monotonic() + START_TIMEOUT
    while runs - ended_runs - {line.run for line in read_log(fleet.site.log) if line.what == "began"}:
        if time.monotonic() > deadline:
            raise RuntimeError("not all runs are at work")
        await asyncio.sleep(0.1)
