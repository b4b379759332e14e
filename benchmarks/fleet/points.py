"""Trials 2 and 3: every kind of step at every place in a run, and the worker killed at every point of it, once a run.

before_dispatch      runs whose worker died before anything was sent: all must end, without a question
undecidable          irreversible steps of which nothing tells whether they happened: a person must be asked about each
"""

import asyncio
import random
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from benchmarks.fleet.account import Account, account_of
from benchmarks.fleet.kill_points import POINTS, PlannedKill, Point
from benchmarks.fleet.outcome import reckon
from benchmarks.fleet.task import USUAL, Assignment
from benchmarks.fleet.tenant import Fleet, Given, carry_out, fleet_at
from benchmarks.fleet.testbed import TestBed
from benchmarks.fleet.world import Counter, Fault

KINDS = (
    Counter(effect="read"),
    Counter(effect="set_state"),
    Counter(effect="reversible"),
    Counter(effect="irreversible"),
    Counter(effect="irreversible", shown="probe"),
    Counter(effect="irreversible", shown="toast"),
)
TROUBLE: tuple[Fault, ...] = ("error", "timeout")
OTHERS = tuple(replace(counter, shown="lasting") if counter.shown == "toast" else counter for counter in USUAL)
TOAST = 0.5
"""Of a heartbeat: long enough for the worker that acted to see it, and gone when another takes over."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One step of a run in which all else goes well."""

    counter: Counter
    place: int
    point: Point | None = None
    fault: Fault = ""

    @property
    def name(self) -> str:
        kind = f"{self.counter.effect}-{self.counter.shown}"
        return f"{kind}-{self.place}-{self.point or self.fault}".replace("_", "-")

    @property
    def before_dispatch(self) -> bool:
        return self.point == "row" or (self.point == "act" and not self._ledgered)

    @property
    def undecidable(self) -> bool:
        """A probe always tells. The screen does if the step happened and nothing is in front of it. A record does."""
        if self.counter.effect != "irreversible" or self.counter.shown == "probe":
            return False
        if self.fault:
            return self.counter.shown == "toast" or self.fault == "error"
        return self.point == "act" or (self.counter.shown == "toast" and self.point in ("acting", "acted"))

    @property
    def _ledgered(self) -> bool:
        return self.counter.effect in ("reversible", "irreversible")

    def assignment(self, heartbeat: float) -> Assignment:
        counters = [*OTHERS[: self.place - 1], replace(self.counter, fault=self.fault), *OTHERS[self.place :]]
        planned_kill = PlannedKill(point=self.point, zone=f"counter_{self.place}") if self.point else None
        return Assignment(counters=tuple(counters), planned_kill=planned_kill, toast_seconds=TOAST * heartbeat)


def cases() -> Iterator[Case]:
    for place, counter in product(range(1, len(OTHERS) + 1), KINDS):
        for point in POINTS:
            if point != "row" or counter.effect in ("reversible", "irreversible"):
                yield Case(counter=counter, place=place, point=point)
        for fault in TROUBLE:
            yield Case(counter=counter, place=place, fault=fault)


async def trial(given: Given, testbed: TestBed) -> dict[str, Any]:
    """Each lane has a tenant, a worker and one run at a time, so that a kill hits no other run."""
    every = list(cases())
    chosen = random.Random(given.first_seed).sample(every, min(given.runs, len(every)))
    lanes = [chosen[lane :: given.concurrency] for lane in range(given.concurrency)]
    accounts: list[Account] = []
    async with AsyncExitStack() as stack:

        async def lane(number: int, its: list[Case]) -> dict[str, str]:
            fleet = await stack.enter_async_context(fleet_at(testbed, f"lane-{number}", heartbeat=given.heartbeat))
            fleet.hire()
            mending = asyncio.create_task(_mend(fleet))
            assignments = {case.name: case.assignment(given.heartbeat) for case in its}
            trouble = await carry_out(fleet, assignments, 1, ended=lambda run: given.say(f"{run} is over"))
            mending.cancel()
            accounts.extend([await account_of(fleet, run) for run in assignments])
            return trouble

        troubles = await asyncio.gather(*(lane(number, its) for number, its in enumerate(lanes)))
    assignments = {case.name: case.assignment(given.heartbeat) for case in chosen}
    trouble = {run: what for one in troubles for run, what in one.items()}
    found = await reckon(given, testbed, assignments, accounts, trouble)
    asked = {run: one.asked for run, one in found.counted.items()}
    recovering = [case for case in chosen if case.before_dispatch]
    doubtful = [case for case in chosen if case.undecidable]
    crashed = [case for case in chosen if (testbed.site.deaths / f"{case.name}.json").exists()]
    return {
        **found.summary,
        "to_crash": sum(case.point is not None for case in chosen),
        "crashed": len(crashed),
        "before_dispatch": len(recovering),
        "before_dispatch_recovered": sum(not found.counted[case.name].lost for case in recovering),
        "before_dispatch_asked": sum(asked[case.name] for case in recovering),
        "undecidable": len(doubtful),
        "undecidable_asked": sum(asked[case.name] > 0 for case in doubtful),
        "asked_needlessly": sorted(case.name for case in chosen if asked[case.name] and not case.undecidable),
    }


async def _mend(fleet: Fleet) -> None:
    while True:
        fleet.replace_dead()
        await asyncio.sleep(0.02)
