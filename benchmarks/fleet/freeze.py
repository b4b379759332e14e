"""Trial 4: workers are stopped with SIGSTOP until others have taken over, and then continued.

frozen       commands that were under way in a frozen worker, by what they were
late         visits to a counter that began for such a command after the run had settled its outcome: must be none
in_time      those that began before anybody had looked into it: the run then found them
tried_late   workers that were frozen between check and dispatch and then did send the act, by the answer they got
"""

import os
import random
import signal
import time
from collections import Counter as Tally
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.fleet.account import Account, account_of
from benchmarks.fleet.kill_points import PlannedKill, Point
from benchmarks.fleet.outcome import median, reckon
from benchmarks.fleet.task import Assignment, usual_assignment
from benchmarks.fleet.tenant import Fleet, Given, carry_out, fleet_at
from benchmarks.fleet.testbed import TestBed
from benchmarks.fleet.victims import Disturber, disturbed, worker_named
from benchmarks.fleet.world import Line

POINTS: tuple[Point, ...] = ("row", "act", "act")
"""Before the dispatch is written down, and between that and the act."""
LINGERS = 1.5
"""A worker stays frozen up to this many seconds after it was given up, or taken over from."""
LOOKS = 0.1


@dataclass(kw_only=True)
class Freeze:
    at: float
    pid: int
    hits: dict[str, str]
    left: set[str]
    """Runs that were not taken over yet; or, if the worker continues sooner, whose driver was not given up."""
    sooner: bool
    lingers: float
    over: float = 0.0
    """When there were none left."""
    thawed: float = 0.0


class Freezer(Disturber):
    def __init__(self, fleet: Fleet, chance: random.Random) -> None:
        super().__init__(fleet, chance)
        self.freezes: list[Freeze] = []
        self._looked = 0.0

    async def strike(self, pid: int) -> None:
        if pid not in self._frozen:
            os.kill(pid, signal.SIGSTOP)
            await self._note(pid, time.time())

    async def look_after(self) -> None:
        if time.time() < self._looked + LOOKS:
            return
        self._looked = time.time()
        known = {freeze.pid: freeze.at for freeze in self.freezes}
        for pid in self.fleet.workers:
            interrupter = self.fate_of(pid)
            if interrupter and interrupter["at"] > known.get(interrupter["pid"], 0.0):
                await self._note(interrupter["pid"], interrupter["at"])
        for freeze in self.freezes:
            if not freeze.thawed:
                await self._thaw_if_over(freeze)

    @property
    def _frozen(self) -> set[int]:
        return {freeze.pid for freeze in self.freezes if not freeze.thawed}

    async def _note(self, pid: int, at: float) -> None:
        if len(self._frozen) + 2 > len(self.fleet.workers):
            self.fleet.hire()
        hits = await self.under_way(pid)
        for run in hits:
            self.spare(run)
        self.freezes.append(
            Freeze(
                at=at,
                pid=pid,
                hits=hits,
                left=set(hits),
                sooner=self.chance.random() < 0.25,
                lingers=self.chance.uniform(0.0, LINGERS),
            )
        )

    async def _thaw_if_over(self, freeze: Freeze) -> None:
        freeze.left = {run for run in freeze.left if await self._waits_for(freeze, run)}
        if freeze.left:
            return
        freeze.over = freeze.over or time.time()
        if time.time() >= freeze.over + freeze.lingers:
            freeze.thawed = time.time()
            os.kill(freeze.pid, signal.SIGCONT)

    async def _waits_for(self, freeze: Freeze, run: str) -> bool:
        if await self.activity(run, worker_named(freeze.pid)) == freeze.hits[run]:
            return True
        return not freeze.sooner and self.is_active(run) and self.holder(run) == freeze.pid


def errand_of(seed: int) -> Assignment:
    """In every other run a worker is frozen at a named point, in the others at any moment."""
    assignment, chance = usual_assignment(seed), random.Random(-seed - 1)
    if chance.random() < 0.5:
        return assignment
    ledgered = [n for n, c in enumerate(assignment.counters, start=1) if c.effect in ("reversible", "irreversible")]
    return replace(
        assignment,
        planned_kill=PlannedKill(point=chance.choice(POINTS), zone=f"counter_{chance.choice(ledgered)}", freeze=True),
    )


async def trial(given: Given, testbed: TestBed) -> dict[str, Any]:
    assignments = {f"freeze-{seed}": errand_of(seed) for seed in given.seeds}
    async with fleet_at(testbed, "freeze", heartbeat=given.heartbeat) as fleet:
        fleet.hire(given.workers)
        freezer = Freezer(fleet, random.Random(given.first_seed))
        over: list[str] = []

        def ended(run: str) -> None:
            over.append(run)
            freezer.ended(run)
            given.say(f"{len(over)}/{given.runs} runs, {len(freezer.freezes)} freezes")

        async with disturbed(freezer):
            trouble = await carry_out(fleet, assignments, given.concurrency, begun=freezer.begun, ended=ended)
        accounts = [await account_of(fleet, run) for run in assignments]
    found = await reckon(given, testbed, assignments, accounts, trouble)
    frozen = list(frozen_commands(freezer.freezes, accounts))
    after_thaw = [(one, line) for one in frozen for line in found.log if began_after_thaw(one, line)]
    tried_late = Tally(file.read_text() for file in testbed.site.deaths.glob("freeze-*.answer"))
    return {
        **found.summary,
        "late": sum(line.at > one.settled for one, line in after_thaw),
        "in_time": sum(line.at <= one.settled for one, line in after_thaw),
        "freezes": len(freezer.freezes),
        "frozen_runs": len({command.run for command in frozen}),
        "frozen": dict(Tally(command.kind for command in frozen).most_common()),
        "frozen_median_seconds": median([freeze.thawed - freeze.at for freeze in freezer.freezes if freeze.thawed]),
        "tried_late": dict(tried_late.most_common()),
    }


@dataclass(frozen=True, kw_only=True)
class Frozen:
    """A command that was under way in a worker that froze."""

    run: str
    command: int
    kind: str
    thawed: float
    settled: float
    """When the run had settled the outcome."""


def frozen_commands(freezes: Iterable[Freeze], accounts: Iterable[Account]) -> Iterable[Frozen]:
    by_run = {account.run: account for account in accounts}
    for freeze in freezes:
        for run in freeze.hits:
            account = by_run[run]
            for one in account.performed:
                if one.under_way(freeze.at):
                    settled = account.settled.get(one.command, one.answered)
                    yield Frozen(run=run, command=one.command, kind=one.kind, thawed=freeze.thawed, settled=settled)


def began_after_thaw(frozen: Frozen, line: Line) -> bool:
    same = (line.run, line.command) == (frozen.run, frozen.command)
    return same and line.what == "began" and 0.0 < frozen.thawed < line.at
