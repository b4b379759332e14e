"""Orders in a shop's real pages, with the process killed with -9 at random moments, and counts in the shop's own record.

    python benchmarks/kill_browser.py --runs 100 --runtime local --json
    python benchmarks/kill_browser.py --runs 100 --runtime temporal --json

Each run has a shop of its own (`midcourse.testing.sites`) and a Chromium of its own, which belongs to the world host and not
to who is killed. One order in four is answered with a 504 or with nothing at all, although it is stored.

local       `midcourse run` is killed up to three times, and `midcourse resume` goes on
temporal    a fleet as `midcourse up` starts it; its worker is killed every few seconds, and started again

lost        the run did not end well, or the shop has no order as it was asked for
twice       orders that the shop has more than once
unasked     effects that nobody asked for
"""

import argparse
import asyncio
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncGenerator, Mapping
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from drifting.application import Truth
from drifting.shop import SHOP
from drifting.site import Trial
from report import keep, machine, table

from midcourse.app.up_file import read_up
from midcourse.testing.sites import PASSWORD, Drift, Shop, serve

HERE = Path(__file__).parent
DRIFT = Drift(unanswered=0.15, silent=0.1)
MOST_KILLS = 3
PATIENCE = 240.0
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


def task_text(url: str) -> str:
    """The clerk of the drift suite, in a browser that outlives whoever works it."""
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
name = "drifting.shop:ShopClerk"

[settings]
approvals = "never"
max_replans = 30
max_error_replans = 20
max_segments = 60
max_calls = 200
"""


def written(shop: Trial, file: Path) -> str:
    file.parent.mkdir(exist_ok=True)
    file.write_text(task_text(shop.url), encoding="utf-8")
    return str(file)


def _toml(value: object) -> str:
    """A value within a line."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(name)} = {_toml(inner)}" for name, inner in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value)


# --- the command line, as a user has it


def environment(home: Path) -> dict[str, str]:
    return {**os.environ, "MIDCOURSE_HOME": str(home), "PYTHONPATH": _path(), "MIDCOURSE_SECRET_PASSWORD": PASSWORD}


def _path() -> str:
    return os.pathsep.join(filter(None, (str(HERE), os.environ.get("PYTHONPATH", ""))))


async def midcourse(words: list[str], home: Path, limit: float | None = None) -> dict[str, Any] | None:
    """Its last line, or None if it was killed or said nothing."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "midcourse", *words, "--json"),
        env=environment(home),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        output, _ = await asyncio.wait_for(process.communicate(), limit)
    except TimeoutError:
        process.send_signal(signal.SIGKILL)
        await process.wait()
        return None
    lines = output.decode().splitlines()
    return json.loads(lines[-1]) if lines else None


# --- one process


async def on_one_machine(seeds: range, shops: Mapping[int, Trial], folder: Path, together: int) -> list[Ended]:
    places, ended = asyncio.Semaphore(together), list[Ended]()

    async def place(seed: int) -> None:
        async with places:
            ended.append(await interrupted(seed, shops[seed], folder / str(seed)))
        kills = sum(one.kills for one in ended)
        print(f"{len(ended)}/{len(seeds)} runs, {kills} kills, {sum(one.lost for one in ended)} lost", file=sys.stderr)

    await asyncio.gather(*(place(seed) for seed in seeds))
    return ended


async def interrupted(seed: int, shop: Trial, home: Path) -> Ended:
    """Killed up to three times, at a moment by chance, and then left alone."""
    chance, kills = random.Random(seed), 0
    words, result = ["run", written(shop, home / "order.toml"), "--run-id", "victim"], None
    for _ in range(MOST_KILLS + 5):
        limit = chance.uniform(0.5, 8.0) if kills < MOST_KILLS else PATIENCE
        answer = await midcourse(words, home, limit)
        kills += answer is None
        if answer and "error" not in answer:
            result = answer
            break
        if (home / "runs" / "victim" / "job.json").exists():
            words = ["resume", "victim"]
    return Ended(seed, result, shop.truth(), kills)


# --- a fleet


async def in_a_fleet(seeds: range, shops: Mapping[int, Trial], folder: Path, together: int) -> list[Ended]:
    home = folder / "home"
    async with fleet_up(home):
        places, ended = asyncio.Semaphore(together), list[Ended]()
        killer = Killer(home, random.Random(seeds.start))
        killing = asyncio.create_task(killer.work())

        async def order(seed: int) -> None:
            task = written(shops[seed], folder / f"{seed}.toml")
            async with places:
                result = await midcourse(["run", task, "--run-id", f"order-{seed}", "--durable"], home, PATIENCE)
            ended.append(Ended(seed, result, shops[seed].truth()))
            lost = sum(one.lost for one in ended)
            print(f"{len(ended)}/{len(seeds)} runs, {killer.kills} kills, {lost} lost", file=sys.stderr)

        try:
            await asyncio.gather(*(order(seed) for seed in seeds))
        finally:
            killing.cancel()
            await asyncio.gather(killing, return_exceptions=True)
    ended[0] = Ended(ended[0].seed, ended[0].result, ended[0].truth, killer.kills)
    return ended


@asynccontextmanager
async def fleet_up(home: Path) -> AsyncGenerator[None]:
    assert await midcourse(["up", "--detach"], home), "the fleet did not start"
    try:
        yield
    finally:
        await midcourse(["down"], home)


class Killer:
    """Kills the worker with -9 and has it started again, over and over."""

    def __init__(self, home: Path, chance: random.Random) -> None:
        self._home = home
        self._chance = chance
        self.kills = 0

    async def work(self) -> None:
        while True:
            await asyncio.sleep(self._chance.uniform(2.0, 8.0))
            worker = read_up(self._home).alive("worker")
            if worker is not None:
                os.kill(worker.process.pid, signal.SIGKILL)
                self.kills += 1
            await midcourse(["up", "--detach"], self._home)


async def main(options: argparse.Namespace) -> int:
    began = time.monotonic()
    seeds = range(options.first_seed, options.first_seed + options.runs)
    carry_out = on_one_machine if options.runtime == "local" else in_a_fleet
    with tempfile.TemporaryDirectory(prefix="midcourse-kill-") as name, ExitStack() as serving:
        shops: dict[int, Trial] = {}
        for seed in seeds:
            site = Shop(seed=seed, drift=DRIFT)
            shops[seed] = Trial(application=SHOP, site=site, url=serving.enter_context(serve(site)))
        ended = await carry_out(seeds, shops, Path(name), options.together)
    summary = {
        "runs": options.runs,
        "lost": sum(one.lost for one in ended),
        "twice": sum(one.truth.twice for one in ended),
        "unasked": sum(one.truth.unasked for one in ended),
        "kills": sum(one.kills for one in ended),
        "ended": dict(Counter(str((one.result or {}).get("final_reason", "nothing")) for one in ended)),
        "runtime": options.runtime,
        "first_seed": options.first_seed,
        "drift": DRIFT.digest,
        "seconds": round(time.monotonic() - began, 1),
        "machine": machine(),
    }
    if wrong := sorted(one.seed for one in ended if one.lost or one.truth.twice or one.truth.unasked):
        summary["look_at_seeds"] = wrong
    told = table(["", options.runtime], [[name, str(value)] for name, value in summary.items()])
    if options.keep:
        command = f"python benchmarks/kill_browser.py --runs {options.runs} --runtime {options.runtime} --json --keep"
        keep(f"kill_browser_{options.runtime}", command, summary, told)
    if not options.json:
        print(told)
    print(json.dumps(summary))
    return 0 if not wrong else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--runtime", choices=("local", "temporal"), default="local")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--together", type=int, default=3, help="runs at a time")
    parser.add_argument("--keep", action="store_true", help="write what it found into benchmarks/results")
    parser.add_argument("--json", action="store_true", help="one JSON object and nothing else")
    sys.exit(asyncio.run(main(parser.parse_args())))
