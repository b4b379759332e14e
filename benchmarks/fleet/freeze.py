"""Trial 4: workers are stopped with SIGSTOP until other workers have taken over their runs, and then continued.

frozen       commands that were under way in a frozen worker, by kind
late         visits to a counter that began for such a command after the run had settled its outcome: must be 0
in_time      visits that began before the run settled the outcome, and that the run then found
tried_late   workers that were frozen between check and dispatch and sent the act afterwards, by the answer they got
"""

import os
import random
import signal
import time
from collections import Counter as Tally
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.fleet.account import Account, read_account
from benchmarks.fleet.kill_points import PlannedKill, Point
from benchmarks.fleet.outcome import count_all, median
from benchmarks.fleet.task import Assignment, make_usual_assignment
from benchmarks.fleet.tenant import Fleet, TrialOptions, run_assignments, start_fleet
from benchmarks.fleet.testbed import TestBed
from benchmarks.fleet.victims import Disturber, name_worker, run_disturber
from benchmarks.fleet.world import Line

POINTS: tuple[Point, ...] = ("row", "act", "act")
"""Before the dispatch is recorded, and between the record and the act."""
MAX_LINGER_SECONDS = 1.5
"""A worker stays frozen up to this many seconds after it counts as lost, or after other workers have taken over its runs."""
POLL_SECONDS = 0.1


@dataclass(kw_only=True)
class Freeze:
    at: float
    pid: int
    hits: dict[str, str]
    left: set[str]
    """Runs that are not taken over yet. With `sooner`, runs of which the driver does not count as lost yet."""
    sooner: bool
    lingers: float
    none_left_at: float = 0.0
    """When `left` became empty."""
    thawed: float = 0.0


class Freezer(Disturber):
    def __init__(self, fleet: Fleet, chance: random.Random) -> None:
        super().__init__(fleet, chance)
        self.freezes: list[Freeze] = []
        self._looked = 0.0

    async def strike(self, pid: int) -> None:
        if pid not in self._frozen:
            os.kill(pid, signal.SIGSTOP)
            await self._record_freeze(pid, time.time())

    async def check_workers(self) -> None:
        if time.time() < self._looked + POLL_SECONDS:
            return
        self._looked = time.time()
        known = {freeze.pid: freeze.at for freeze in self.freezes}
        for pid in self.fleet.workers:
            record = self.find_kill_record(pid)
            if record and record["at"] > known.get(record["pid"], 0.0):
                await self._record_freeze(record["pid"], record["at"])
        for freeze in self.freezes:
            if not freeze.thawed:
                await self._thaw_if_over(freeze)

    @property
    def _frozen(self) -> set[int]:
        return {freeze.pid for freeze in self.freezes if not freeze.thawed}

    async def _record_freeze(self, pid: int, at: float) -> None:
        if len(self._frozen) + 2 > len(self.fleet.workers):
            self.fleet.hire()
        hits = await self.find_activities(pid)
        for run in hits:
            self.stop_aiming(run)
        self.freezes.append(
            Freeze(
                at=at,
                pid=pid,
                hits=hits,
                left=set(hits),
                sooner=self.chance.random() < 0.25,
                lingers=self.chance.uniform(0.0, MAX_LINGER_SECONDS),
            )
        )

    async def _thaw_if_over(self, freeze: Freeze) -> None:
        freeze.left = {run for run in freeze.left if await self._must_stay_frozen(freeze, run)}
        if freeze.left:
            return
        freeze.none_left_at = freeze.none_left_at or time.time()
        if time.time() >= freeze.none_left_at + freeze.lingers:
            freeze.thawed = time.time()
            os.kill(freeze.pid, signal.SIGCONT)

    async def _must_stay_frozen(self, freeze: Freeze, run: str) -> bool:
        if await self.find_activity(run, name_worker(freeze.pid)) == freeze.hits[run]:
            return True
        return not freeze.sooner and self.is_active(run) and self.find_holder(run) == freeze.pid


def make_assignment(seed: int) -> Assignment:
    """Make an assignment. In half of the runs the worker is frozen at a named point, in the others at any moment."""
    assignment, chance = make_usual_assignment(seed), random.Random(-seed - 1)
    if chance.random() < 0.5:
        return assignment
    ledgered = [n for n, c in enumerate(assignment.counters, start=1) if c.effect in ("reversible", "irreversible")]
    return replace(
        assignment,
        planned_kill=PlannedKill(point=chance.choice(POINTS), zone=f"counter_{chance.choice(ledgered)}", freeze=True),
    )


async def run_trial(options: TrialOptions, testbed: TestBed) -> dict[str, Any]:
    assignments = {f"freeze-{seed}": make_assignment(seed) for seed in options.seeds}
    async with start_fleet(testbed, "freeze", heartbeat=options.heartbeat) as fleet:
        fleet.hire(options.workers)
        freezer = Freezer(fleet, random.Random(options.first_seed))
        ended_runs: list[str] = []

        def note_end(run: str) -> None:
            ended_runs.append(run)
            freezer.note_end(run)
            options.say(f"{len(ended_runs)}/{options.runs} runs, {len(freezer.freezes)} freezes")

        async with run_disturber(freezer):
            trouble = await run_assignments(
                fleet, assignments, options.concurrency, begun=freezer.note_begin, ended=note_end
            )
        accounts = [await read_account(fleet, run) for run in assignments]
    found = await count_all(options, testbed, assignments, accounts, trouble)
    frozen = list(find_frozen_commands(freezer.freezes, accounts))
    after_thaw = [(command, line) for command in frozen for line in found.log if began_after_thaw(command, line)]
    tried_late = Tally(file.read_text() for file in testbed.site.deaths.glob("freeze-*.answer"))
    return {
        **found.summary,
        "late": sum(line.at > command.settled_at for command, line in after_thaw),
        "in_time": sum(line.at <= command.settled_at for command, line in after_thaw),
        "freezes": len(freezer.freezes),
        "frozen_runs": len({command.run for command in frozen}),
        "frozen": dict(Tally(command.kind for command in frozen).most_common()),
        "frozen_median_seconds": median([freeze.thawed - freeze.at for freeze in freezer.freezes if freeze.thawed]),
        "tried_late": dict(tried_late.most_common()),
    }


@dataclass(frozen=True, kw_only=True)
class FrozenCommand:
    """A command that was under way in a worker when it was frozen."""

    run: str
    command: int
    kind: str
    thawed: float
    settled_at: float
    """When the run had settled the outcome."""


def find_frozen_commands(freezes: Iterable[Freeze], accounts: Iterable[Account]) -> Iterable[FrozenCommand]:
    by_run = {account.run: account for account in accounts}
    for freeze in freezes:
        for run in freeze.hits:
            account = by_run[run]
            for command in account.performed:
                if command.is_under_way(freeze.at):
                    settled_at = account.settled_at.get(command.command, command.answered)
                    yield FrozenCommand(
                        run=run, command=command.command, kind=command.kind, thawed=freeze.thawed, settled_at=settled_at
                    )


def began_after_thaw(frozen: FrozenCommand, line: Line) -> bool:
    is_same_command = (line.run, line.command) == (frozen.run, frozen.command)
    return is_same_command and line.what == "began" and 0.0 < frozen.thawed < line.at
