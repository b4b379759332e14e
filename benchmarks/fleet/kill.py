"""Trial 1: workers are killed with -9 at random moments, until each run has lost one while a command was under way."""

import random
import time
from collections import Counter as Tally
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.fleet.account import Account, read_account
from benchmarks.fleet.kill_points import PlannedKill
from benchmarks.fleet.outcome import TrialCounts, count_all, median
from benchmarks.fleet.task import Assignment, make_usual_assignment
from benchmarks.fleet.tenant import Fleet, TrialOptions, run_assignments, start_fleet
from benchmarks.fleet.testbed import TestBed
from benchmarks.fleet.victims import Disturber, name_worker, run_disturber
from benchmarks.fleet.world import Line
from midcourse.domain.events import Resumed


@dataclass(frozen=True, kw_only=True)
class Kill:
    at: float
    worker: str
    hits: Mapping[str, str]
    """Runs with a driver in the killed process, and Temporal's id of the activity of each."""
    point: str = ""
    """The named kill point, if it was at one."""


class Killer(Disturber):
    """Kills workers with -9, and records those that killed themselves at a kill point."""

    def __init__(self, fleet: Fleet, chance: random.Random) -> None:
        super().__init__(fleet, chance)
        self.kills: list[Kill] = []

    async def strike(self, pid: int) -> None:
        at = time.time()
        self.fleet.kill(pid)
        await self._record_kill(pid, at)

    async def check_workers(self) -> None:
        for pid in self.fleet.replace_dead():
            record = self.find_kill_record(pid)
            assert record, f"worker {pid} died without being killed: {self.fleet.site.output.read_text()[-2000:]}"
            await self._record_kill(pid, record["at"], record["point"])

    async def _record_kill(self, pid: int, at: float, point: str = "") -> None:
        hits = await self.find_activities(pid)
        for run in hits:
            self.stop_aiming(run)
        self.kills.append(Kill(at=at, worker=name_worker(pid), hits=hits, point=point))


def make_assignment(seed: int) -> Assignment:
    """Make an assignment. In a third of the runs the worker also kills itself before it records an act as dispatched."""
    assignment, chance = make_usual_assignment(seed), random.Random(-seed - 1)
    if chance.random() > 1 / 3:
        return assignment
    ledgered = [n for n, c in enumerate(assignment.counters, start=1) if c.effect in ("reversible", "irreversible")]
    return replace(assignment, planned_kill=PlannedKill(point="row", zone=f"counter_{chance.choice(ledgered)}"))


async def run_trial(options: TrialOptions, testbed: TestBed) -> dict[str, Any]:
    assignments = {f"kill-{seed}": make_assignment(seed) for seed in options.seeds}
    return (await run_and_kill(options, testbed, "kill", assignments)).summary


async def run_and_kill(
    options: TrialOptions,
    testbed: TestBed,
    name: str,
    assignments: Mapping[str, Assignment],
    *,
    two_directors: bool = False,
) -> TrialCounts:
    async with start_fleet(testbed, name, heartbeat=options.heartbeat) as fleet:
        fleet.two_directors = two_directors
        fleet.hire(options.workers)
        killer = Killer(fleet, random.Random(options.first_seed))
        ended_runs: list[str] = []

        def note_end(run: str) -> None:
            ended_runs.append(run)
            killer.note_end(run)
            options.say(f"{len(ended_runs)}/{options.runs} runs, {len(killer.kills)} kills")

        async with run_disturber(killer):
            trouble = await run_assignments(
                fleet, assignments, options.concurrency, begun=killer.note_begin, ended=note_end
            )
        fleet.dismiss()
        options.say("reading the journals")
        accounts = [await read_account(fleet, run) for run in assignments]
    found = await count_all(options, testbed, assignments, accounts, trouble, replays=not two_directors)
    kill_summary = summarize_kills(killer.kills, accounts, found.log, options.heartbeat)
    return replace(found, summary={**found.summary, **kill_summary})


def summarize_kills(kills: list[Kill], accounts: list[Account], log: list[Line], heartbeat: float) -> dict[str, Any]:
    by_run = {account.run: account for account in accounts}
    hits = [(kill, by_run[run]) for kill in kills for run in kill.hits]
    phases = Tally(_find_phase(account, kill, log) for kill, account in hits)
    resumed = [at - kill.at for kill, account in hits if (at := account.resumed_after(kill.at)) is not None]
    struck = Tally(account.run for _, account in hits)
    taken_over = {account.run: sum(isinstance(row.event, Resumed) for row in account.journal) for account in accounts}
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


def _find_phase(account: Account, kill: Kill, log: list[Line]) -> str:
    """Return the kind of the command under way at a kill, and for an act how far it was in the office."""
    hit = next((performed for performed in account.performed if performed.is_under_way(kill.at)), None)
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
