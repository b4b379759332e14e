"""Is an order in a real browser lost or placed twice when the process is killed with -9? Counted in the shop's record.

    python -m benchmarks.kill_browser --runs 100 --runtime local --json
    python -m benchmarks.kill_browser --runs 100 --runtime temporal --json

Each run has its own shop (`midcourse.testing.sites`) and Chromium, which belongs to the world host and not
to who is killed. One order in four is answered with a 504 or with nothing at all, although it is stored. When to kill is
drawn from the seed, in requests that the shop has seen and a moment after that: how busy the machine is does not change which part
of a run is hit.

local       `midcourse run` is killed up to three times, and `midcourse resume` continues
temporal    a fleet as `midcourse up` starts it, with a second worker; again and again one of them is killed, and another is hired

lost        the run did not end well, or the shop has no order as it was asked for
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
from benchmarks.harness.report import keep, machine, options_of, table
from benchmarks.web_apps.application import Truth
from benchmarks.web_apps.shop import SHOP
from benchmarks.web_apps.site import Trial
from midcourse.app.fleet.up_file import read_up
from midcourse.testing.sites import PASSWORD, Drift, Request, Response, Shop, serve

DRIFT = Drift(unanswered=0.15, silent=0.1)
MOST_KILLS = 3
MOST_TRIES = MOST_KILLS + 5
PATIENCE = 600.0
"""Seconds after which a run counts as stuck."""


@dataclass(frozen=True)
class Ended:
    seed: int
    result: Mapping[str, Any] | None
    truth: Truth
    kills: int = 0

    @property
    def lost(self) -> bool:
        return not (self.result and self.result.get("success") and self.truth.done)


class Watched:
    """A shop, and how much it was asked for."""

    def __init__(self, shop: Shop) -> None:
        self._shop = shop
        self.requests = 0

    def answer(self, request: Request) -> Response:
        self.requests += 1
        return self._shop.answer(request)


@dataclass(frozen=True)
class Order:
    """What one run is to do, where, and how far it is."""

    seed: int
    shop: Trial
    watched: Watched


def task_text(url: str) -> str:
    """The clerk of the drift suite, in a browser that outlives the process that drives it."""
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
options = {{ start = "{url}", origins = {_toml({url: SHOP.origin})} }}

[planner]
name = "benchmarks.web_apps.shop:ShopClerk"

[settings]
approvals = "never"
max_replans = 30
max_error_replans = 20
max_segments = 60
max_calls = 200
"""


def written(order: Order, file: Path) -> str:
    file.parent.mkdir(exist_ok=True)
    file.write_text(task_text(order.shop.url), encoding="utf-8")
    return str(file)


def _toml(value: object) -> str:
    """A value within a line."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(name)} = {_toml(inner)}" for name, inner in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value)


# --- moments


@dataclass(frozen=True)
class Moment:
    """When to kill, by what the shops are asked for and not by the clock: a busy machine is late with everything."""

    requests: int
    seconds: float

    @classmethod
    def by(cls, chance: random.Random, most_requests: int) -> "Moment":
        return cls(chance.randint(0, most_requests), chance.uniform(0.05, 1.5))

    async def come(self, watched: Sequence[Watched]) -> None:
        due = sum(one.requests for one in watched) + self.requests
        while sum(one.requests for one in watched) < due:  # noqa: ASYNC110
            await asyncio.sleep(0.02)  # they are counted in other threads
        await asyncio.sleep(self.seconds)


async def ended(command: Command, unless: Moment | None, watched: Watched) -> dict[str, Any] | None:
    """Its last output. None if it was killed at the moment, or because it was stuck."""
    ending = asyncio.create_task(command.ended.wait())
    waiting = [ending] + ([asyncio.create_task(unless.come([watched]))] if unless else [])
    await asyncio.wait(waiting, timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED)
    for one in waiting:
        one.cancel()
    if command.ended.is_set():
        return command.last_words
    command.kill()
    await command.ended.wait()
    return None


class Progress:
    def __init__(self, runs: int) -> None:
        self._runs = runs
        self.ended: list[Ended] = []

    def add(self, one: Ended, kills: int) -> None:
        self.ended.append(one)
        lost = sum(one.lost for one in self.ended)
        print(f"{len(self.ended)}/{self._runs} runs, {kills} kills, {lost} lost", file=sys.stderr, flush=True)


# --- one process


async def on_one_machine(orders: Sequence[Order], commands: Commands, folder: Path, together: int) -> list[Ended]:
    places, progress = asyncio.Semaphore(together), Progress(len(orders))

    async def place(order: Order) -> None:
        async with places:
            one = await interrupted(order, commands, folder / str(order.seed))
        progress.add(one, sum(one.kills for one in (*progress.ended, one)))

    await asyncio.gather(*map(place, orders))
    return progress.ended


async def interrupted(order: Order, commands: Commands, home: Path) -> Ended:
    """Killed up to three times, at a moment by chance, and then left alone.

    If there is nothing to resume, because the process died before the run was stored, the run is started.
    """
    chance, kills, result = random.Random(order.seed), 0, None
    begin, resume = ["run", written(order, home / "order.toml"), "--run-id", "victim"], ["resume", "victim"]
    words = begin
    for _ in range(MOST_TRIES):
        moment = Moment.by(chance, 5) if kills < MOST_KILLS else None
        answer = await ended(commands.begin(words, home), moment, order.watched)
        kills += answer is None
        result = answer or result
        if answer and "error" not in answer:
            break
        words = begin if answer or not (home / "runs" / "victim" / "job.json").exists() else resume
    return Ended(order.seed, result, order.shop.truth(), kills)


# --- a fleet


async def in_a_fleet(orders: Sequence[Order], commands: Commands, folder: Path, together: int) -> list[Ended]:
    home = folder / "home"
    async with fleet_up(commands, home):
        places, progress = asyncio.Semaphore(together), Progress(len(orders))
        killer = Killer(commands, home, random.Random(orders[0].seed))
        killing = asyncio.create_task(killer.work([order.watched for order in orders]))

        async def place(order: Order) -> None:
            task = written(order, folder / f"{order.seed}.toml")
            async with places:
                words = ["run", task, "--run-id", f"order-{order.seed}", "--durable"]
                result = await ended(commands.begin(words, home), None, order.watched)
            progress.add(Ended(order.seed, result, order.shop.truth()), killer.kills)

        try:
            await asyncio.gather(*map(place, orders))
        finally:
            killing.cancel()
            await asyncio.wait([killing])
            killer.dismiss()
        if not killing.cancelled():
            killing.result()
    first, *others = progress.ended
    return [Ended(first.seed, first.result, first.truth, killer.kills), *others]


@asynccontextmanager
async def fleet_up(commands: Commands, home: Path) -> AsyncGenerator[None]:
    starting = commands.begin(["up", "--detach"], home)
    await starting.ended.wait()
    assert "parts" in (starting.last_words or {}), f"the fleet did not start: {starting.last_words}"
    try:
        yield
    finally:
        await commands.begin(["down"], home).ended.wait()


class Killer:
    """Kills a worker with -9 and hires another, over and over."""

    def __init__(self, commands: Commands, home: Path, chance: random.Random) -> None:
        self._commands = commands
        self._home = home
        self._chance = chance
        came_with_it = read_up(home).alive("worker")
        assert came_with_it, "the fleet came up without a worker"
        self._workers = [
            Command.of(came_with_it.process.pid, Path(came_with_it.log)),
            commands.begin(["fleet", "worker"], home),
        ]
        self.kills = 0

    async def work(self, watched: Sequence[Watched]) -> None:
        while True:
            await Moment.by(self._chance, 10).come(watched)
            worker = self._workers.pop(self._chance.randrange(len(self._workers)))
            worker.kill()
            await worker.ended.wait()
            self.kills += 1
            self._workers.append(self._commands.begin(["fleet", "worker"], self._home))

    def dismiss(self) -> None:
        for worker in self._workers:
            worker.kill()


def _end(result: Mapping[str, Any]) -> str:
    return str(result.get("final_reason") or result.get("error") or "nothing")


async def main(options: argparse.Namespace) -> int:
    began = time.monotonic()
    seeds = range(options.first_seed, options.first_seed + options.runs)
    carry_out = on_one_machine if options.runtime == "local" else in_a_fleet
    with tempfile.TemporaryDirectory(prefix="midcourse-kill-") as name, ExitStack() as serving:
        orders: list[Order] = []
        for seed in seeds:
            watched = Watched(shop := Shop(seed=seed, drift=DRIFT))
            url = serving.enter_context(serve(watched))
            orders.append(Order(seed, Trial(application=SHOP, site=shop, url=url), watched))
        said = Path(name) / "said"
        said.mkdir()
        with Commands(said, {"MIDCOURSE_SECRET_PASSWORD": PASSWORD}) as commands:
            ended = await carry_out(orders, commands, Path(name), options.together)
    summary = {
        "runs": options.runs,
        "lost": sum(one.lost for one in ended),
        "twice": sum(one.truth.twice for one in ended),
        "unasked": sum(one.truth.unasked for one in ended),
        "kills": sum(one.kills for one in ended),
        "ended": dict(Counter(_end(one.result or {}) for one in ended)),
        "runtime": options.runtime,
        "first_seed": options.first_seed,
        "drift": DRIFT.digest,
        "seconds": round(time.monotonic() - began, 1),
        "machine": machine(),
    }
    wrong = [one for one in ended if one.lost or one.truth.twice or one.truth.unasked]
    if wrong:
        summary["look_at"] = {one.seed: one.result for one in wrong}
    told = table(["", options.runtime], [[name, str(value)] for name, value in summary.items()])
    if options.keep:
        keep(f"kill_browser_{options.runtime}", summary, told)
    if not options.json:
        print(told)
    print(json.dumps(summary))
    return 0 if not wrong else 1


if __name__ == "__main__":
    parser = options_of(__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--runtime", choices=("local", "temporal"), default="local")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--together", type=int, default=3, help="runs at a time")
    sys.exit(asyncio.run(main(parser.parse_args())))
