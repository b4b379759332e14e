"""Is an order in a real browser lost or placed twice when the process is killed with -9? Counted in the shop's record.

    python -m benchmarks.kill_browser --runs 100 --runtime local --json
    python -m benchmarks.kill_browser --runs 100 --runtime temporal --json

Each run has its own shop (`midcourse.testing.sites`) and its own Chromium. The Chromium belongs to the world host, not to the process
that is killed. One order in four is stored but answered with a 504 or not answered. The seed decides when to kill, as a number of
requests to the shop plus a short delay, so that the load of the machine does not change which part of a run is hit.

local       `midcourse run` is killed up to three times, and `midcourse resume` continues
temporal    a fleet as `midcourse up` starts it, plus a second worker; workers are killed repeatedly, and each is replaced

lost        the run did not succeed, or the shop does not have the order as requested
twice       orders that the shop has more than once
unasked     effects that the task did not ask for
"""

import argparse
import asyncio
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.harness.commands import Command, Commands
from benchmarks.harness.report import describe_machine, format_table, keep, make_parser
from benchmarks.web_apps.application import Truth
from benchmarks.web_apps.shop import SHOP
from benchmarks.web_apps.site import Trial
from midcourse.config.up_file import read_up
from midcourse.testing.sites import PASSWORD, Drift, Request, Response, Shop, serve

DRIFT = Drift(unanswered=0.15, silent=0.1)
MAX_KILLS = 3
MAX_TRIES = MAX_KILLS + 5
STUCK_SECONDS = 600.0
"""Seconds after which a run counts as stuck."""


@dataclass(frozen=True)
class RunOutcome:
    seed: int
    result: Mapping[str, Any] | None
    truth: Truth
    kills: int = 0

    @property
    def lost(self) -> bool:
        return not (self.result and self.result.get("success") and self.truth.done)


class CountingShop:
    """A shop that counts its requests."""

    def __init__(self, shop: Shop) -> None:
        self._shop = shop
        self.requests = 0

    def answer(self, request: Request) -> Response:
        self.requests += 1
        return self._shop.answer(request)


@dataclass(frozen=True)
class Order:
    """The order of one run: its shop, and the counter of requests to the shop."""

    seed: int
    shop: Trial
    shop_counter: CountingShop


def task_text(url: str) -> str:
    """Return a task file with the clerk of the drift suite, and a browser that outlives the process that drives it."""
    inputs = "\n".join(f"{json.dumps(name)} = {json.dumps(value)}" for name, value in SHOP.task.inputs)
    return f"""
goal = {json.dumps(SHOP.task.goal)}
secrets = ["password"]

[inputs]
{inputs}

[done_when]
surface_matches = "Your orders"
zone_appears = "cell:{dict(SHOP.task.inputs)["Reference"]}"

[world]
name = "browser"
process = true
options = {{ start = "{url}", origins = {_format_toml({url: SHOP.origin})} }}

[planner]
name = "benchmarks.web_apps.shop:ShopClerk"

[settings]
approvals = "never"
max_replans = 30
max_error_replans = 20
max_segments = 60
max_calls = 200
"""


def write_task(order: Order, file: Path) -> str:
    file.parent.mkdir(exist_ok=True)
    file.write_text(task_text(order.shop.url), encoding="utf-8")
    return str(file)


def _format_toml(value: object) -> str:
    """Format a value as inline TOML."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(name)} = {_format_toml(inner)}" for name, inner in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_format_toml, value)) + "]"
    return json.dumps(value)


# --- moments


@dataclass(frozen=True)
class Moment:
    """When to kill: after a number of requests to the shops and a delay. Time alone would depend on the load of the machine."""

    requests: int
    seconds: float

    @classmethod
    def draw(cls, chance: random.Random, most_requests: int) -> "Moment":
        return cls(chance.randint(0, most_requests), chance.uniform(0.05, 1.5))

    async def wait(self, shop_counters: Sequence[CountingShop]) -> None:
        target = sum(counter.requests for counter in shop_counters) + self.requests
        while sum(counter.requests for counter in shop_counters) < target:  # noqa: ASYNC110
            await asyncio.sleep(0.02)  # they are counted in other threads
        await asyncio.sleep(self.seconds)


async def wait_or_kill(command: Command, moment: Moment | None, shop_counter: CountingShop) -> dict[str, Any] | None:
    """Return the last output of a command, or None if it was killed at the moment or because it was stuck."""
    ending = asyncio.create_task(command.ended.wait())
    waits = [ending] + ([asyncio.create_task(moment.wait([shop_counter]))] if moment else [])
    await asyncio.wait(waits, timeout=STUCK_SECONDS, return_when=asyncio.FIRST_COMPLETED)
    for task in waits:
        task.cancel()
    if command.ended.is_set():
        return command.last_output
    command.kill()
    await command.ended.wait()
    return None


class Progress:
    def __init__(self, runs: int) -> None:
        self._runs = runs
        self.outcomes: list[RunOutcome] = []

    def add(self, outcome: RunOutcome, kills: int) -> None:
        self.outcomes.append(outcome)
        lost = sum(outcome.lost for outcome in self.outcomes)
        print(f"{len(self.outcomes)}/{self._runs} runs, {kills} kills, {lost} lost", file=sys.stderr, flush=True)


# --- one process


async def run_locally(orders: Sequence[Order], commands: Commands, folder: Path, together: int) -> list[RunOutcome]:
    slots, progress = asyncio.Semaphore(together), Progress(len(orders))

    async def run_order(order: Order) -> None:
        async with slots:
            outcome = await run_with_kills(order, commands, folder / str(order.seed))
        progress.add(outcome, sum(outcome.kills for outcome in (*progress.outcomes, outcome)))

    await asyncio.gather(*map(run_order, orders))
    return progress.outcomes


async def run_with_kills(order: Order, commands: Commands, home: Path) -> RunOutcome:
    """Run an order, kill it up to three times at random moments, and then let it finish.

    If the process was killed before the run was stored, so that there is nothing to resume, the run is started again.
    """
    chance, kills, result = random.Random(order.seed), 0, None
    begin, resume = ["run", write_task(order, home / "order.toml"), "--run-id", "victim"], ["resume", "victim"]
    words = begin
    for _ in range(MAX_TRIES):
        moment = Moment.draw(chance, 5) if kills < MAX_KILLS else None
        answer = await wait_or_kill(commands.begin(words, home), moment, order.shop_counter)
        kills += answer is None
        result = answer or result
        if answer and "error" not in answer:
            break
        words = begin if answer or not (home / "runs" / "victim" / "job.json").exists() else resume
    return RunOutcome(order.seed, result, order.shop.truth(), kills)


# --- a fleet


async def run_in_fleet(orders: Sequence[Order], commands: Commands, folder: Path, together: int) -> list[RunOutcome]:
    home = folder / "home"
    async with start_fleet(commands, home):
        slots, progress = asyncio.Semaphore(together), Progress(len(orders))
        killer = Killer(commands, home, random.Random(orders[0].seed))
        killing = asyncio.create_task(killer.kill_repeatedly([order.shop_counter for order in orders]))

        async def run_order(order: Order) -> None:
            task = write_task(order, folder / f"{order.seed}.toml")
            async with slots:
                words = ["run", task, "--run-id", f"order-{order.seed}", "--durable"]
                result = await wait_or_kill(commands.begin(words, home), None, order.shop_counter)
            progress.add(RunOutcome(order.seed, result, order.shop.truth()), killer.kills)

        try:
            await asyncio.gather(*map(run_order, orders))
        finally:
            killing.cancel()
            await asyncio.wait([killing])
            killer.kill_all()
        if not killing.cancelled():
            killing.result()
    first, *others = progress.outcomes
    return [RunOutcome(first.seed, first.result, first.truth, killer.kills), *others]


@asynccontextmanager
async def start_fleet(commands: Commands, home: Path) -> AsyncGenerator[None]:
    starting = commands.begin(["up", "--detach"], home)
    await starting.ended.wait()
    assert "parts" in (starting.last_output or {}), f"the fleet did not start: {starting.last_output}"
    try:
        yield
    finally:
        await commands.begin(["down"], home).ended.wait()


class Killer:
    """Repeatedly kills a worker with -9 and starts another."""

    def __init__(self, commands: Commands, home: Path, chance: random.Random) -> None:
        self._commands = commands
        self._home = home
        self._chance = chance
        first_worker = read_up(home).alive("worker")
        assert first_worker, "the fleet came up without a worker"
        self._workers = [
            Command.of(first_worker.process.pid, Path(first_worker.log)),
            commands.begin(["fleet", "worker"], home),
        ]
        self.kills = 0

    async def kill_repeatedly(self, shop_counters: Sequence[CountingShop]) -> None:
        while True:
            await Moment.draw(self._chance, 10).wait(shop_counters)
            worker = self._workers.pop(self._chance.randrange(len(self._workers)))
            worker.kill()
            await worker.ended.wait()
            self.kills += 1
            self._workers.append(self._commands.begin(["fleet", "worker"], self._home))

    def kill_all(self) -> None:
        for worker in self._workers:
            worker.kill()


def _read_reason(result: Mapping[str, Any]) -> str:
    return str(result.get("final_reason") or result.get("error") or "nothing")


async def main(options: argparse.Namespace) -> int:
    began = time.monotonic()
    seeds = range(options.first_seed, options.first_seed + options.runs)
    run_orders = run_locally if options.runtime == "local" else run_in_fleet
    with tempfile.TemporaryDirectory(prefix="midcourse-kill-") as name, ExitStack() as serving:
        orders: list[Order] = []
        for seed in seeds:
            shop_counter = CountingShop(shop := Shop(seed=seed, drift=DRIFT))
            url = serving.enter_context(serve(shop_counter))
            orders.append(Order(seed, Trial(application=SHOP, site=shop, url=url), shop_counter))
        output_folder = Path(name) / "said"
        output_folder.mkdir()
        with Commands(output_folder, {"MIDCOURSE_SECRET_PASSWORD": PASSWORD}) as commands:
            outcomes = await run_orders(orders, commands, Path(name), options.together)
    summary = {
        "runs": options.runs,
        "lost": sum(outcome.lost for outcome in outcomes),
        "twice": sum(outcome.truth.twice for outcome in outcomes),
        "unasked": sum(outcome.truth.unasked for outcome in outcomes),
        "kills": sum(outcome.kills for outcome in outcomes),
        "ended": dict(Counter(_read_reason(outcome.result or {}) for outcome in outcomes)),
        "runtime": options.runtime,
        "first_seed": options.first_seed,
        "drift": DRIFT.digest,
        "seconds": round(time.monotonic() - began, 1),
        "machine": describe_machine(),
    }
    wrong = [outcome for outcome in outcomes if outcome.lost or outcome.truth.twice or outcome.truth.unasked]
    if wrong:
        summary["look_at"] = {outcome.seed: outcome.result for outcome in wrong}
    text = format_table(["", options.runtime], [[name, str(value)] for name, value in summary.items()])
    if options.keep:
        keep(f"kill_browser_{options.runtime}", summary, text)
    if not options.json:
        print(text)
    print(json.dumps(summary))
    return 0 if not wrong else 1


if __name__ == "__main__":
    parser = make_parser(__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--runtime", choices=("local", "temporal"), default="local")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--together", type=int, default=3, help="runs at a time")
    sys.exit(asyncio.run(main(parser.parse_args())))
