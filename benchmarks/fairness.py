"""Does a tenant with few runs wait for one with many, if one worker serves both?

    python -m benchmarks.fairness --json

Real PostgreSQL, Temporal and world host, and one process `midcourse fleet worker --tenants many,few`. All `--runs` of the large tenant are started, and as many as
the worker takes on are driven, each with a step every `--delay` seconds. Then the small tenant starts `--few` runs at once and waits for their end, `--rounds`
times in each of two arms, in turns, because the machine may have other work: *beside* the large tenant, and *alone*, while the world of the large tenant lets each of
its runs wait in a step. A start takes from the client's request until the first turn of the run, by its journal.
"""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import psycopg
from temporalio.api.enums.v1 import EventType

from benchmarks import ROOT
from benchmarks.fleet.testbed import start_testbed
from benchmarks.fleet.worker import Site
from benchmarks.harness.report import describe_machine, format_table, make_parser, report
from midcourse import BaseWorld, skill
from midcourse.agent.wiring import Job, parse_job
from midcourse.config.fleet_settings import FleetSettings
from midcourse.config.variables import variable_of
from midcourse.domain.events import WorldOpened
from midcourse.fleet.connection import Fleet, connect_tenants, start_durable_run
from midcourse.runtimes.temporal.wire import name_workflow

BAR = 2.0
"""The median start beside the large tenant, in terms of the one alone, at most."""
WORLD = "benchmarks.fairness:Clockwork"
HELD = "held"
"""A file in the home of the host: while it is there, the large tenant's runs wait."""
SETTLED = 2.0
"""Seconds after which the large tenant is at rest, or under way again."""
MANY, FEW = "many", "few"
AT_ONCE = 20
"""Requests at a time of the client that starts the runs of the large tenant."""
SHORT = 4
"""Steps of a run of the small tenant."""
DRIVEN = (
    "SELECT count(*) FROM midcourse.drives WHERE tenant = 'many' AND epoch > 0 AND NOT resting AND state IS NOT NULL"
)
TURNS = "SELECT coalesce(sum(seq), 0)::bigint FROM midcourse.drives WHERE tenant = 'many'"
PATIENCE = 600.0
STAGES = {
    "stored": "Temporal had the execution",
    "taken": "a worker had its first task",
    "placed": "its driver was placed",
    "begun": "a worker took the driver on",
    "first": "the first turn: the start",
    "opened": "its world was open",
}


class Clockwork(BaseWorld):
    """A world in which every step only takes place."""

    @skill(effect="set_state")
    def tick(self, number: int) -> None:
        """Tick once, for the small tenant."""

    @skill(effect="set_state")
    async def tock(self, number: int) -> None:
        """Tick once, for the large tenant, unless it is held."""
        held = Path(os.environ["MIDCOURSE_HOME"]) / HELD
        while held.exists():  # noqa: ASYNC110 - another process removes it
            await asyncio.sleep(0.1)


def make_job(name: str, step: str, steps: int, delay: float) -> Job:
    listed = ",\n".join(
        f'{{ zone = "__global__", skill = "{step}", arguments = {{ number = {number} }} }}' for number in range(steps)
    )
    text = (
        f'goal = "Tick"\n[world]\nname = "{WORLD}"\n[settings]\nstep_delay_seconds = {delay}\nact_timeout_seconds = 600\n'
        f'max_segments = 100\nmax_calls = 100\n[planner]\nname = "same_plan"\nfinal = true\nsteps = [\n{listed},\n]\n'
    )
    return parse_job(text, name, {})


@dataclass(frozen=True, kw_only=True)
class Start:
    """Seconds from the client's request to each of `STAGES`."""

    stored: float
    taken: float
    placed: float
    begun: float
    first: float
    opened: float


async def start_few(fleet: Fleet, job: Job, runs: list[str]) -> list[Start]:
    """Start these at once, and wait until all have ended."""

    async def start(run: str) -> float:
        asked = time.time()
        await start_durable_run(fleet, job, run)
        result = await fleet.runs.handle(run).result()
        assert result.success, result
        return asked

    async with asyncio.timeout(PATIENCE):
        asked = await asyncio.gather(*(start(run) for run in runs))
    return [await read_start(fleet, run, at) for run, at in zip(runs, asked, strict=True)]


async def read_start(fleet: Fleet, run: str, asked: float) -> Start:
    history = await fleet.client.get_workflow_handle(name_workflow(FEW, run)).fetch_history()
    at: dict[int, float] = {}
    for event in history.events:
        at.setdefault(event.event_type, event.event_time.ToMicroseconds() / 1e6 - asked)
    journal = await fleet.store.journal(run)
    return Start(
        stored=at[EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED],
        taken=at[EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED],
        placed=at[EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED],
        begun=at[EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED],
        first=journal[0].event.at - asked,
        opened=next(row.event.at for row in journal if isinstance(row.event, WorldOpened)) - asked,
    )


async def start_many(fleet: Fleet, job: Job, count: int) -> None:
    places = asyncio.Semaphore(AT_ONCE)

    async def start(number: int) -> None:
        async with places:
            await start_durable_run(fleet, job, f"many-{number}")

    async with asyncio.TaskGroup() as group:
        for number in range(count):
            group.create_task(start(number))


def ask(url: str, question: str) -> int:
    with psycopg.connect(url) as connection:
        row = connection.execute(question.encode()).fetchone()
    return row[0] if row else 0


def wait_until_driven(url: str, count: int) -> None:
    until = time.monotonic() + PATIENCE
    while ask(url, DRIVEN) < count:
        assert time.monotonic() < until, "the worker does not drive the runs of the large tenant"
        time.sleep(0.5)


@contextmanager
def run_worker(site: Site, settings: dict[str, str]) -> Generator[None]:
    """One process for both tenants, as its user starts it."""
    output = {variable_of(name): value for name, value in settings.items()}
    command = [sys.executable, "-m", "midcourse", "fleet", "worker", "--tenants", f"{MANY},{FEW}", "--json"]
    with site.output.open("ab") as out:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd=ROOT, env={**os.environ, **output}
        )
    try:
        while b'"pid"' not in site.output.read_bytes():
            if process.poll() is not None:
                raise SystemExit(f"the worker did not start: {site.output.read_text()}")
            time.sleep(0.05)
        yield
    finally:
        process.kill()  # its runs are of no interest any more
        process.wait()


async def measure(given: Any) -> dict[str, Any]:
    us = asyncio.current_task()
    assert us
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, us.cancel)  # so that no server is left behind
    short = make_job("few", "tick", SHORT, given.delay)
    long = make_job("many", "tock", given.steps, given.delay)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "bed"
        async with start_testbed(folder, WORLD) as testbed:
            site = testbed.site
            values = {
                "home": str(folder),
                "database_url": site.postgres,
                "temporal_address": site.temporal,
                "host_file": str(folder / "host.json"),
                "max_runs": str(given.max_runs),
            }
            settings = FleetSettings.load(folder, {name: value for name, value in values.items() if name != "home"})
            async with connect_tenants(settings, (MANY, FEW)) as (many, few):
                with run_worker(site, values):
                    return await _measure(given, site, many, few, short, long)


async def _measure(given: Any, site: Site, many: Fleet, few: Fleet, short: Job, long: Job) -> dict[str, Any]:
    url, held = site.postgres, site.folder / HELD
    began = time.monotonic()
    await start_many(many, long, given.runs)
    started = time.monotonic() - began
    await asyncio.to_thread(wait_until_driven, url, min(given.runs, given.max_runs))
    await start_few(few, short, ["first"])  # imports, connections and caches
    alone: list[Start] = []
    beside: list[Start] = []
    turns = {"alone": 0.0, "beside": 0.0}
    for number in range(given.rounds):
        for arm, starts in (("alone", alone), ("beside", beside)):
            held.touch() if arm == "alone" else held.unlink()
            await asyncio.sleep(SETTLED)
            before, since = await asyncio.to_thread(ask, url, TURNS), time.monotonic()
            starts += await start_few(few, short, [f"{arm}-{number}-{one}" for one in range(given.few)])
            after = await asyncio.to_thread(ask, url, TURNS)
            turns[arm] += (after - before) / (time.monotonic() - since) / given.rounds
    driven = await asyncio.to_thread(ask, url, DRIVEN)
    return {
        "runs": given.runs,
        "few": given.few,
        "rounds": given.rounds,
        "max_runs": given.max_runs,
        "delay": given.delay,
        "many_started_seconds": round(started, 1),
        "many_driven_after": driven,
        "alone": _medians(alone),
        "beside": _medians(beside),
        "longest": round(max(start.first for start in beside), 3),
        "ratio": round(median(start.first for start in beside) / median(start.first for start in alone), 2),
        "many_turns_per_second": {arm: round(pace, 1) for arm, pace in turns.items()},
    }


def _medians(starts: list[Start]) -> dict[str, float]:
    return {name: round(median(getattr(start, name) for start in starts), 3) for name in STAGES}


def text(summary: dict[str, Any]) -> str:
    alone, beside, pace = summary["alone"], summary["beside"], summary["many_turns_per_second"]
    rows = [
        [label, f"{alone[name]:.3f}", f"{beside[name]:.3f}", f"{beside[name] / alone[name]:.2f}"]
        for name, label in STAGES.items()
    ]
    head = f"median seconds of {summary['few']} runs at once, until"
    shown = format_table([head, "alone", f"beside {summary['runs']:,} runs", "ratio"], rows)
    return (
        f"{shown}\n\nThe longest start beside the large tenant: {summary['longest']} s. "
        f"Turns per second of the large tenant meanwhile: {pace['beside']}, and {pace['alone']} while it was held. "
        f"Processes that wanted to run at a time, on the whole machine: {summary['load']}."
    )


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--runs", type=int, default=1000, help="of the large tenant")
    parser.add_argument("--few", type=int, default=10, help="runs of the small tenant, started at once")
    parser.add_argument("--rounds", type=int, default=5, help="of the small tenant, in each arm")
    parser.add_argument("--steps", type=int, default=90, help="of a run of the large tenant")
    parser.add_argument("--delay", type=float, default=0.5, help="seconds between two steps of a run")
    parser.add_argument("--max-runs", type=int, default=100, help="the worker's setting, for each tenant")
    parser.add_argument("--bar", type=float, default=BAR, help="ratio above which it fails")
    args = parser.parse_args()
    began = time.monotonic()
    summary = asyncio.run(measure(args))
    summary |= {
        "seconds": round(time.monotonic() - began, 1),
        "load": round(os.getloadavg()[1], 1),
        "machine": describe_machine(),
    }
    report(args, "fairness", summary, text(summary))
    return 0 if summary["ratio"] <= args.bar else 1


if __name__ == "__main__":
    sys.exit(main())
