"""Trial 31: what a fleet needs is away for minutes, each in turn: the world host, PostgreSQL, Temporal, the model.

For each of them so many runs are begun; once all are at work, it is taken away for `--away` seconds. While the host
and the model are away, a few runs more are begun with a limit that is shorter than the outage: these have to end as `outage`. The waits of all runs are scaled with `--away`:
300 seconds go with the usual ones.

under_way           runs that had begun and not ended when the outage began, by server
back_at_work        seconds from the end of an outage until the last of these had ended, by server
limited             runs with a shorter limit; limited_ended: how many of them ended as `outage`
workers_replaced    workers that ended by themselves during an outage, and for which others were started
"""

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from benchmarks.fleet.account import account_of
from benchmarks.fleet.outcome import reckon
from benchmarks.fleet.task import Assignment, usual_assignment
from benchmarks.fleet.tenant import Fleet, Given, carry_out, fleet_at
from benchmarks.fleet.testbed import TestBed
from benchmarks.fleet.world import read_log

TakeAway: TypeAlias = Callable[[float], Coroutine[Any, Any, None]]

USUAL_SECONDS = 300.0
"""The outage that the usual waits and limits are for."""
LIMITED = 2
"""Runs whose limit is shorter than the outage, where there are any."""
SOON = 900.0
"""Seconds in which every run must be at work, also on a busy machine."""


class Model:
    """A port to be reached before anything is planned."""

    def __init__(self) -> None:
        self.port = 0
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        self._server = await asyncio.start_server(lambda _reader, writer: writer.close(), "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    def stop(self) -> None:
        assert self._server
        self._server.close()

    async def away(self, seconds: float) -> None:
        self.stop()
        await asyncio.sleep(seconds)
        await self.start()


@dataclass
class Found:
    """What the trial adds to what is counted for every trial."""

    under_way: dict[str, int] = field(default_factory=dict[str, int])
    back_at_work: dict[str, float] = field(default_factory=dict[str, float])
    trouble: dict[str, str] = field(default_factory=dict[str, str])
    workers_replaced: int = 0


async def trial(given: Given, testbed: TestBed) -> dict[str, Any]:
    model, found = Model(), Found()
    await model.start()
    outages: Mapping[str, TakeAway] = {
        "host": testbed.kill_host,
        "postgres": testbed.crash_postgres,
        "temporal": testbed.kill_temporal,
        "model": model.away,
    }
    assignments: dict[str, Assignment] = {}
    try:
        async with fleet_at(testbed, "outage", heartbeat=given.heartbeat) as fleet:
            fleet.hire(given.workers)
            for name, take_away in outages.items():
                these, limited = _errands(given, name, model.port), _limited(given, name, model.port)
                assignments |= {**these, **limited}
                await _met(fleet, given, name, these, limited, take_away, found)
            fleet.dismiss()
            accounts = [await account_of(fleet, run) for run in assignments]
    finally:
        model.stop()
    reckoning = await reckon(given, testbed, assignments, accounts, found.trouble)
    limited = [one for one in accounts if not assignments[one.run].must_succeed]
    return {
        **reckoning.summary,
        "away_seconds": given.away,
        "under_way": found.under_way,
        "back_at_work": found.back_at_work,
        "limited": len(limited),
        "limited_ended": sum(bool(one.result and one.result.final_reason == "outage") for one in limited),
        "workers_replaced": found.workers_replaced,
    }


def _errands(given: Given, name: str, port: int) -> dict[str, Assignment]:
    return {f"outage-{name}-{seed}": _errand(seed, given.away, port) for seed in given.seeds}


def _limited(given: Given, name: str, port: int) -> dict[str, Assignment]:
    """The control: begun when the outage is, with a limit that is a fifth of it."""
    assignments: dict[str, Assignment] = {}
    for number in range(LIMITED if name in ("host", "model") else 0):
        assignment = _errand(number, given.away, port)
        limits = replace(assignment.limits, max_outage_seconds=given.away / 5)
        assignments[f"outage-{name}-limited-{number}"] = replace(assignment, limits=limits, must_succeed=False)
    return assignments


def _errand(seed: int, away: float, port: int) -> Assignment:
    assignment, scale = usual_assignment(seed), away / USUAL_SECONDS
    limits = replace(
        assignment.limits,
        retry_delay_seconds=2.0 * scale,
        max_retry_delay_seconds=60.0 * scale,
        max_outage_seconds=max(600.0 * scale, 60.0),
    )
    return replace(assignment, limits=limits, act_seconds=min(1.0, away / 15), remembers=True, model_port=port)


async def _met(
    fleet: Fleet,
    given: Given,
    name: str,
    assignments: Mapping[str, Assignment],
    limited: Mapping[str, Assignment],
    take_away: TakeAway,
    found: Found,
) -> None:
    """Begin these runs, take the server away while they are at work, and wait for their ends."""
    over: set[str] = set()
    patience = 2 * given.away + 600.0
    async with asyncio.TaskGroup() as group:
        carried_out = group.create_task(
            carry_out(fleet, assignments, len(assignments), ended=over.add, patience=patience), name=name
        )
        await _at_work(fleet, set(assignments), over)
        found.under_way[name] = len(assignments) - len(over)
        given.say(f"{name}: away for {given.away:g} s, {found.under_way[name]} runs under way")
        outage = group.create_task(take_away(given.away))
        control = group.create_task(carry_out(fleet, limited, LIMITED, patience=patience))
        while not outage.done():
            found.workers_replaced += len(fleet.replace_dead())
            await asyncio.sleep(0.5)
        back = time.monotonic()
        while not carried_out.done():
            found.workers_replaced += len(fleet.replace_dead())
            await asyncio.sleep(0.2)
        found.back_at_work[name] = round(time.monotonic() - back, 1)
        given.say(f"{name}: all ended {found.back_at_work[name]} s after it was back")
    found.trouble |= carried_out.result() | control.result()


async def _at_work(fleet: Fleet, runs: set[str], over: set[str]) -> None:
    """Until each has begun to act. One that is over has been."""
    until = time.monotonic() + SOON
    while runs - over - {line.run for line in read_log(fleet.site.log) if line.what == "began"}:
        if time.monotonic() > until:
            raise RuntimeError("not all runs are at work")
        await asyncio.sleep(0.1)
