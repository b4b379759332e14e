"""Trials 2 and 3: the worker is killed at every point of every kind of step at every place in a run, once per run.

before_dispatch      runs with a worker that died before anything was sent: all must succeed without a question
undecidable          irreversible steps of which nothing shows whether they happened: the approver must be asked about each
"""

import asyncio
import random
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from benchmarks.fleet.account import Account, read_account
from benchmarks.fleet.kill_points import POINTS, PlannedKill, Point
from benchmarks.fleet.outcome import count_all
from benchmarks.fleet.task import USUAL_COUNTERS, Assignment
from benchmarks.fleet.tenant import Fleet, TrialOptions, run_assignments, start_fleet
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
OTHERS = tuple(replace(counter, shown="lasting") if counter.shown == "toast" else counter for counter in USUAL_COUNTERS)
TOAST_SHARE = 0.5
"""Duration of a toast as a share of the heartbeat: the acting worker sees it, and it is gone when another one takes over."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """The one step of a run with a kill or a fault."""

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
        return self.point == "row" or (self.point == "act" and not self._is_ledgered)

    @property
    def undecidable(self) -> bool:
        """Whether nothing shows if the step happened: no probe, no recorded outcome, and no lasting sign on a visible screen."""
        if self.counter.effect != "irreversible" or self.counter.shown == "probe":
            return False
        if self.fault:
            return self.counter.shown == "toast" or self.fault == "error"
        return self.point == "act" or (self.counter.shown == "toast" and self.point in ("acting", "acted"))

    @property
    def _is_ledgered(self) -> bool:
        return self.counter.effect in ("reversible", "irreversible")

    def make_assignment(self, heartbeat: float) -> Assignment:
        counters = [*OTHERS[: self.place - 1], replace(self.counter, fault=self.fault), *OTHERS[self.place :]]
        planned_kill = PlannedKill(point=self.point, zone=f"counter_{self.place}") if self.point else None
        return Assignment(counters=tuple(counters), planned_kill=planned_kill, toast_seconds=TOAST_SHARE * heartbeat)


def list_cases() -> Iterator[Case]:
    for place, counter in product(range(1, len(OTHERS) + 1), KINDS):
        for point in POINTS:
            if point != "row" or counter.effect in ("reversible", "irreversible"):
                yield Case(counter=counter, place=place, point=point)
        for fault in TROUBLE:
            yield Case(counter=counter, place=place, fault=fault)


async def run_trial(options: TrialOptions, testbed: TestBed) -> dict[str, Any]:
    """Run the cases in lanes. Each lane has a tenant, a worker and one run at a time, so that a kill hits no other run."""
    all_cases = list(list_cases())
    chosen = random.Random(options.first_seed).sample(all_cases, min(options.runs, len(all_cases)))
    lanes = [chosen[lane :: options.concurrency] for lane in range(options.concurrency)]
    accounts: list[Account] = []
    async with AsyncExitStack() as stack:

        async def run_lane(number: int, lane_cases: list[Case]) -> dict[str, str]:
            fleet = await stack.enter_async_context(start_fleet(testbed, f"lane-{number}", heartbeat=options.heartbeat))
            fleet.hire()
            replacing = asyncio.create_task(_replace_dead_workers(fleet))
            assignments = {case.name: case.make_assignment(options.heartbeat) for case in lane_cases}
            trouble = await run_assignments(fleet, assignments, 1, ended=lambda run: options.say(f"{run} is over"))
            replacing.cancel()
            accounts.extend([await read_account(fleet, run) for run in assignments])
            return trouble

        troubles = await asyncio.gather(*(run_lane(number, lane_cases) for number, lane_cases in enumerate(lanes)))
    assignments = {case.name: case.make_assignment(options.heartbeat) for case in chosen}
    trouble = {run: what for lane_trouble in troubles for run, what in lane_trouble.items()}
    found = await count_all(options, testbed, assignments, accounts, trouble)
    asked = {run: counts.asked for run, counts in found.counted.items()}
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


async def _replace_dead_workers(fleet: Fleet) -> None:
    while True:
        fleet.replace_dead()
        await asyncio.sleep(0.02)
