"""Trial 1: workers are killed with -9 at random moments, until every run has had one while a command was under way."""

import random
import time
from collections import Counter as Tally
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.fleet.account import Account, account_of
from benchmarks.fleet.kill_points import PlannedKill
from benchmarks.fleet.outcome import Reckoning, median, reckon
from benchmarks.fleet.task import Assignment, usual_assignment
from benchmarks.fleet.tenant import Fleet, Given, carry_out, fleet_at
from benchmarks.fleet.testbed import TestBed
from benchmarks.fleet.victims import Disturber, disturbed, worker_named
from benchmarks.fleet.world import Line
from midcourse.domain.event import Resumed


@dataclass(frozen=True, kw_only=True)
class Kill:
    at: float
    worker: str
    hits: Mapping[str, str]
    """Runs with a driver in the dead process, and the engine's number of its activity."""
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
    given: Given, testbed: TestBed, name: str, assignments: Mapping[str, Assignment], *, two_directors: bool = False
) -> Reckoning:
    async with fleet_at(testbed, name, heartbeat=given.heartbeat) as fleet:
        fleet.two_directors = two_directors
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
    found = await reckon(given, testbed, assignments, accounts, trouble, replays=not two_directors)
    met = what_kills_met(killer.kills, accounts, found.log, given.heartbeat)
    return replace(found, summary={**found.summary, **met})


def what_kills_met(kills: list[Kill], accounts: list[Account], log: list[Line], heartbeat: float) -> dict[str, Any]:
    by_run = {account.run: account for account in accounts}
    hits = [(kill, by_run[run]) for kill in kills for run in kill.hits]
    phases = Tally(_phase(account, kill, log) for kill, account in hits)
    resumed = [at - kill.at for kill, account in hits if (at := account.resumed_after(kill.at)) is not None]
    struck = Tally(account.run for _, account in hits)
    taken_over = {one.run: sum(isinstance(row.event, Resumed) for row in one.journal) for one in accounts}
    return {
        "kills": len(kills),
        "kills_at_points": dict(Tally(kill.point for kill in kills if kill.point)),
        "kills_in_flight": len(hits),
        "killed_runs": len(struck),
        "killed_in": dict(phases.most_common()),
        "resumed_median_seconds": median(resumed),
        "resumed_max_seconds": round(max(resumed), 2) if resumed else None,
        "resumed_bar_seconds": heartbeat + 3.0,
        "given_up_alive": sum(max(0, times - struck[run]) for run, times in taken_over.items()),
    }


def _phase(account: Account, kill: Kill, log: list[Line]) -> str:
    """What the command under way was; and of an act, how far it had come in the office."""
    hit = next((one for one in account.performed if one.under_way(kill.at)), None)
    if hit is None or hit.kind != "act":
        return hit.kind if hit else "between two commands"
    lines = [line for line in log if line.run == account.run and line.command == hit.command and line.at <= kill.at]
    match [line.what for line in lines]:
        case []:
            return "act, not there yet"
        case [_]:
            return "act, under way"
        case _:
            return "act, answered"
