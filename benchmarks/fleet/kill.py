"""Trial 1: workers are killed with -9 at random moments, until every run has had one while a command was under way."""

import random
import time
from collections import Counter as Tally
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.fleet.account import Account, account_of
from benchmarks.fleet.histories import Performed
from benchmarks.fleet.kill_points import PlannedKill
from benchmarks.fleet.outcome import Reckoning, median, reckon
from benchmarks.fleet.task import Assignment, usual_assignment
from benchmarks.fleet.tenant import Fleet, Given, carry_out, fleet_at
from benchmarks.fleet.testbed import TestBed
from benchmarks.fleet.victims import Disturber, disturbed, worker_named
from benchmarks.fleet.world import Line


@dataclass(frozen=True, kw_only=True)
class Kill:
    at: float
    worker: str
    hits: Mapping[str, str]
    """Runs with a command under way in the dead process, and the engine's number of that activity."""
    point: str = ""
    """If it was at a named one."""


class Killer(Disturber):
    """With -9; some die by themselves."""

    def __init__(self, fleet: Fleet, chance: random.Random) -> None:
        super().__init__(fleet, chance)
        self.kills: list[Kill] = []

    async def strike(self, pid: int) -> None:
        at = time.time()
        self.fleet.kill(pid)
        await self._note(pid, at)

    async def look_after(self) -> None:
        for pid in self.fleet.replace_dead():
            interrupter = self.fate_of(pid)
            assert interrupter, f"worker {pid} died without being killed: {self.fleet.site.said.read_text()[-2000:]}"
            await self._note(pid, interrupter["at"], interrupter["point"])

    async def _note(self, pid: int, at: float, point: str = "") -> None:
        hits = await self.under_way(pid)
        for run in hits:
            self.spare(run)
        self.kills.append(Kill(at=at, worker=worker_named(pid), hits=hits, point=point))


def errand_of(seed: int) -> Assignment:
    """Every third worker also dies by itself, right before it writes down an act as dispatched."""
    assignment, chance = usual_assignment(seed), random.Random(-seed - 1)
    if chance.random() > 1 / 3:
        return assignment
    ledgered = [n for n, c in enumerate(assignment.counters, start=1) if c.effect in ("reversible", "irreversible")]
    return replace(assignment, planned_kill=PlannedKill(point="row", zone=f"counter_{chance.choice(ledgered)}"))


async def trial(given: Given, testbed: TestBed) -> dict[str, Any]:
    assignments = {f"kill-{seed}": errand_of(seed) for seed in given.seeds}
    return (await carry_out_and_kill(given, testbed, "kill", assignments)).summary


async def carry_out_and_kill(
    given: Given, testbed: TestBed, name: str, assignments: Mapping[str, Assignment]
) -> Reckoning:
    async with fleet_at(testbed, name, heartbeat=given.heartbeat) as fleet:
        fleet.hire(given.workers)
        killer = Killer(fleet, random.Random(given.first_seed))
        over: list[str] = []

        def ended(run: str) -> None:
            over.append(run)
            killer.ended(run)
            given.say(f"{len(over)}/{given.runs} runs, {len(killer.kills)} kills")

        async with disturbed(killer):
            trouble = await carry_out(fleet, assignments, given.concurrency, begun=killer.begun, ended=ended)
        fleet.dismiss()
        given.say("reading what they left behind")
        accounts = [await account_of(fleet, run) for run in assignments]
    found = await reckon(given, testbed, assignments, accounts, trouble)
    met = what_kills_met(killer.kills, accounts, found.log, given.heartbeat)
    return replace(found, summary={**found.summary, **met})


def what_kills_met(kills: list[Kill], accounts: list[Account], log: list[Line], heartbeat: float) -> dict[str, Any]:
    by_run = {account.run: account for account in accounts}
    phases: Tally[str] = Tally()
    resumed: list[float] = []
    for kill in kills:
        for run, activity in kill.hits.items():
            done = by_run[run].performed
            hit = next((one for one in done if one.activity == activity and one.scheduled <= kill.at <= one.over), None)
            phases[_phase(hit, run, kill, log) if hit else "unknown"] += 1
            resumed += [min(after) - kill.at for after in [[o.started for o in done if o.started > kill.at]] if after]
    dead = {kill.worker for kill in kills}
    return {
        "kills": len(kills),
        "kills_at_points": dict(Tally(kill.point for kill in kills if kill.point)),
        "kills_in_flight": sum(len(kill.hits) for kill in kills),
        "killed_runs": len({run for kill in kills for run in kill.hits}),
        "killed_in": dict(phases.most_common()),
        "resumed_median_seconds": median(resumed),
        "resumed_max_seconds": round(max(resumed), 2) if resumed else None,
        "resumed_bar_seconds": 2 * heartbeat + 2.0,
        "given_up_alive": sum(
            one.how == "timed_out" and one.started > 0 and one.worker not in dead
            for account in accounts
            for one in account.performed
        ),
    }


def _phase(hit: Performed, run: str, kill: Kill, log: list[Line]) -> str:
    """What the command was; and of an act, how far it had come in the office."""
    if hit.kind != "act":
        return hit.kind
    lines = [line for line in log if line.run == run and line.command == hit.command and line.at <= kill.at]
    match [line.what for line in lines]:
        case []:
            return "act, not there yet"
        case [_]:
            return "act, under way"
        case _:
            return "act, answered"
