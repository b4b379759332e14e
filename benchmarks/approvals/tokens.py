"""Is an order repeated because its form has a new token, or because a probe does not find it? (Trials 25 and 29)

    python -m benchmarks.approvals.tokens --trial tokens:500,absent:200,control:200 --browser 40 --json

tokens    forms with fresh tokens, nonces, timestamps, hidden values that no name tells, and keys made by a script; the shop stores the
          order and says 'please try again'. Every approval mode, a probe or a person as evidence, every third run killed
          on its way and resumed. `repeated` counts orders beyond the first in the shop's own log: must be 0
absent    a probe that never finds what is there. `repeated` may be 1 for each run, then a person must be asked
control   orders that differ in one constant hidden value, one query value or one typed value, one run for each kind of form:
          all must be sent (`missing` 0), and none asked about as a repetition (`needless` 0)
--browser how many of the runs of `tokens`, and orders of `control`, are repeated in Chromium, on forms and on JSON built by a script
"""

import asyncio
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, get_args

from benchmarks.approvals.token_shop import Fresh, TokenShop
from benchmarks.approvals.token_site import KINDS, Site, serve
from benchmarks.harness.report import describe_machine, format_table, keep, make_parser
from midcourse.agent.agent import Agent
from midcourse.config.settings import Settings
from midcourse.domain.budget import Approvals, Limits
from midcourse.domain.expectation import Expectation, Probe, SurfaceMatches
from midcourse.domain.plan import GLOBAL, Draft
from midcourse.domain.result import Result
from midcourse.domain.task import Task
from midcourse.ports.planner import PlanDraft, PlanningContext
from midcourse.testing import Approves, FakeClock, MemoryStore

MODES: tuple[Approvals, ...] = get_args(Approvals)
FRESH: tuple[Fresh, ...] = get_args(Fresh)
WAYS = ("sku", "query", "quantity")
LIMITS = Limits(
    max_calls=9999, max_segments=9999, max_replans=9999, retry_delay_seconds=0.1, replan_interval_seconds=0.0
)
THANKS = Expectation(checks=(SurfaceMatches(pattern="Thank you*"),))
SETTINGS = Settings.load()
RUN = "run"


@dataclass
class Tally:
    runs: int = 0
    orders: int = 0
    repeated: int = 0
    most: int = 0
    killed: int = 0
    asked: Counter[str] = field(default_factory=Counter[str])
    ended: Counter[str] = field(default_factory=Counter[str])
    missing: int = 0
    needless: int = 0

    def take(self, orders: int, person: Approves, result: Result) -> None:
        self.runs += 1
        self.orders += orders
        self.repeated += max(0, orders - 1)
        self.most = max(self.most, orders)
        self.asked.update(question.about for question in person.questions)
        self.ended[result.final_reason] += 1


class OrderingPlanner:
    """A planner that places the order whenever it sees the form."""

    def __init__(self, probe: bool) -> None:
        found = Probe(name="exists", arguments=(("sku", "lamp"),)) if probe else None
        self._step = Draft(zone="order", skill="order", expect=THANKS, probe=found)

    async def plan(self, context: PlanningContext) -> PlanDraft:
        done = context.observation.surface.title.startswith("Thank you")
        return PlanDraft(verdict="done") if done else PlanDraft(steps=(self._step,), final=False)


class StepByStepPlanner:
    """A planner that plans one of the given steps at a time."""

    def __init__(self, steps: list[Draft]) -> None:
        self._left = steps

    async def plan(self, context: PlanningContext) -> PlanDraft:
        return PlanDraft(steps=(self._left.pop(0),), final=False) if self._left else PlanDraft(verdict="done")


async def run_order(world: TokenShop, planner: Any, person: Approves, mode: Approvals, kill_after: int = 0) -> Result:
    """Run one order. With `kill_after`, the run is stopped after that many turns and resumed."""
    task = Task(goal="Order", limits=replace(LIMITS, approvals=mode))
    agent = Agent(
        world=world, planner=planner, approver=person, store=MemoryStore(), clock=FakeClock(), settings=SETTINGS
    )
    live = agent.start(task, run_id=RUN)
    if not kill_after:
        return await live.result()
    async for turn in live:
        kill_after -= 1
        if kill_after <= 0 or turn.run.phase.kind == "ended":
            break
    if kill_after > 0:
        return await live.result()
    waiting = asyncio.ensure_future(live.result())
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    return await agent.resume(RUN)


def _pick_kill_turn(number: int, seed: int) -> int:
    return random.Random(seed + number).randint(4, 30) if number % 3 == 2 else 0


def run_token_trial(runs: int, seed: int) -> Tally:
    tally, kinds = Tally(), list(product(FRESH, MODES, (False, True)))
    for number in range(runs):
        fresh, mode, probe = kinds[number % len(kinds)]
        world, person = TokenShop(fresh, seed=seed + number), Approves(once=number % 2 == 0, doubt="happened")
        kill = _pick_kill_turn(number, seed)
        tally.killed += bool(kill)
        result = asyncio.run(run_order(world, OrderingPlanner(probe), person, mode, kill))
        tally.take(len(world.orders), person, result)
    return tally


def run_absent_trial(runs: int, seed: int) -> Tally:
    tally, kinds = Tally(), list(product(FRESH, MODES))
    for number in range(runs):
        fresh, mode = kinds[number % len(kinds)]
        world = TokenShop(fresh, seed=seed + number, probe_lies=True)
        person = Approves(doubt=random.Random(seed + number).choice(("stop", "happened")))
        kill = _pick_kill_turn(number, seed)
        tally.killed += bool(kill)
        result = asyncio.run(run_order(world, OrderingPlanner(True), person, mode, kill))
        tally.take(len(world.orders), person, result)
        tally.missing += not any(question.about == "happened" for question in person.questions)
    return tally


def run_control_trial(orders: int, seed: int) -> Tally:
    tally = Tally()
    for fresh, way in product(FRESH, WAYS):
        world, person = TokenShop(fresh, seed=seed), Approves(doubt="happened")
        asyncio.run(run_order(world, StepByStepPlanner(list(_make_steps(way, orders))), person, "always"))
        tally.runs += 1
        tally.orders += len(world.orders)
        tally.missing += orders - len(set(world.orders))
        tally.needless += sum(question.about == "repeat" for question in person.questions)
        tally.asked.update(question.about for question in person.questions)
    return tally


def _make_steps(way: str, orders: int) -> Iterator[Draft]:
    for number in range(orders):
        match way:
            case "sku":
                yield Draft(zone=GLOBAL, skill="show", arguments=(("sku", f"lamp-{number}"),))
            case "query":
                yield Draft(zone=GLOBAL, skill="visit", arguments=(("campaign", f"{number}"),))
            case _:
                yield Draft(zone="quantity", skill="enter", arguments=(("text", f"{number}"),))
        yield Draft(zone="order", skill="order", expect=THANKS)


# --- in Chromium


class ClickingPlanner:
    """A planner that orders from each of these pages once, and from the last one repeatedly."""

    def __init__(self, pages: list[str]) -> None:
        self._pages = pages
        self._goes = True

    async def plan(self, context: PlanningContext) -> PlanDraft:
        if self._goes and self._pages:
            self._goes = False
            going = Draft(zone=GLOBAL, skill="navigate", arguments=(("url", self._pages.pop(0)),))
            return PlanDraft(steps=(going,), final=False)
        self._goes = True
        button = next(zone.id for zone in context.observation.zones if zone.label == "Place order")
        return PlanDraft(steps=(Draft(zone=button, skill="click", expect=THANKS),), final=False)


async def run_in_browser(site: Site, mode: Approvals, person: Approves, skus: list[str]) -> Result:
    from midcourse.worlds.browser import Browser

    world = Browser(site.url, quiet_seconds=0.03, origins={site.url: {"navigate": ["/*"]}})
    task = Task(goal="Order", limits=replace(LIMITS, approvals=mode))
    with tempfile.TemporaryDirectory() as home:
        settings = Settings.load(overrides={"home": home})
        agent = Agent(
            world=world,
            planner=ClickingPlanner([f"{site.url}/?sku={sku}" for sku in skus]),
            approver=person,
            settings=settings,
        )
        return await agent.run(task)


def run_chromium_trial(runs: int, tally: Tally) -> None:
    """Run in Chromium: each run orders three things once, and then tries the last one again."""
    for number in range(runs):
        site, person = Site(KINDS[number % len(KINDS)]), Approves(doubt="happened")
        skus = [f"thing-{number}-{each}" for each in range(3)]
        with serve(site):
            result = asyncio.run(run_in_browser(site, MODES[number % len(MODES)], person, skus))
        tally.take(0, person, result)
        tally.orders += len(site.orders)
        tally.repeated += len(site.orders) - len(set(site.orders))
        tally.missing += len(set(skus) - set(site.orders))


# --- summary


def summarize(found: dict[str, Tally], seconds: float) -> dict[str, object]:
    figures: dict[str, object] = {}
    for name, tally in found.items():
        figures[name] = {
            "runs": tally.runs,
            "orders": tally.orders,
            "repeated": tally.repeated,
            "most": tally.most,
            "killed": tally.killed,
            "missing": tally.missing,
            "needless": tally.needless,
            "asked": dict(tally.asked),
            "ended": dict(tally.ended),
        }
    return {**figures, "sound": is_sound(found), "seconds": round(seconds, 1), "machine": describe_machine()}


def is_sound(found: dict[str, Tally]) -> bool:
    for name, tally in found.items():
        if name == "absent":
            if tally.most > 2 or tally.missing:
                return False
        elif tally.repeated * (name != "control") or tally.missing or tally.needless:
            return False
    return True


def format_tallies(found: dict[str, Tally]) -> str:
    header = ["trial", "runs", "killed", "orders", "repeated", "most in a run", "missing", "needless questions"]
    rows = [
        [name, *map(str, (t.runs, t.killed, t.orders, t.repeated, t.most, t.missing, t.needless))]
        for name, t in found.items()
    ]
    asked = "\n".join(f"- {name}: asked {dict(t.asked)}; ended {dict(t.ended)}" for name, t in found.items())
    return f"{format_table(header, rows)}\n\n{asked}"


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--trial", default="tokens:500,absent:200,control:200")
    parser.add_argument("--browser", type=int, default=0)
    parser.add_argument("--seed", type=int, default=25_000)
    options = parser.parse_args()
    begun, found = time.monotonic(), dict[str, Tally]()
    trials = {"tokens": run_token_trial, "absent": run_absent_trial, "control": run_control_trial}
    for trial in filter(None, options.trial.split(",")):
        name, _, size = trial.partition(":")
        found[name] = trials[name](int(size), options.seed)
    if options.browser:
        found["chromium"] = Tally()
        run_chromium_trial(options.browser, found["chromium"])
    figures = summarize(found, time.monotonic() - begun)
    if options.keep:
        keep("tokens", figures, format_tallies(found))
    print(json.dumps(figures) if options.json else format_tallies(found))
    return 0 if is_sound(found) else 1


if __name__ == "__main__":
    sys.exit(main())
