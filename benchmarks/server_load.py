"""Does every viewer of a busy server hear every event, and how soon?

    python -m benchmarks.server_load --minutes 3 --json

A server in a process of its own drives runs that take about half a minute each. They are started at a steady pace over HTTP, so that 20
runs are under way at once; each has ten viewers from its start on. On a machine that is too slow for the pace, a run waits while half as
many again are under way. Runs a minute are the slope of their starts. One viewer of each run is cut off after every fifth
message and resumes with its last id. An event is late by the time from its own time stamp to its arrival; a viewer has missed one if what it heard is
not exactly the run's turns, from the first to the last. Memory is the server's; the first quarter, in which it grows to its working size, is
left out of the slope.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from typing import Any

import httpx2 as httpx
import psutil

from benchmarks.harness.report import describe_machine, format_table, make_parser, report
from midcourse import BaseWorld, skill

STEP_SECONDS = 0.5
CUT_AFTER = 5
SAMPLES = 2.0
"""Seconds between two looks at the server's memory."""


class Clockwork(BaseWorld):
    """A world in which every step only takes place."""

    @skill(effect="set_state")
    def tick(self, number: int) -> None:
        """Tick once."""


def task_text(steps: int) -> str:
    lines = [f'{{ zone = "__global__", skill = "tick", arguments = {{ number = {n} }} }}' for n in range(steps)]
    listed = ",\n".join(lines)
    return (
        f'goal = "Tick"\n[world]\nname = "benchmarks.server_load:Clockwork"\n[settings]\nstep_delay_seconds = {STEP_SECONDS}\n'
        f'max_segments = 100\nmax_calls = 100\n[planner]\nname = "same_plan"\nfinal = true\nsteps = [\n{listed},\n]\n'
    )


@dataclass(kw_only=True)
class Viewer:
    """One stream of a run."""

    run: str
    cut: bool
    seqs: list[int] = field(default_factory=list[int])
    delays: list[float] = field(default_factory=list[float])
    """Milliseconds of the events that happened while it was listening."""
    resumed: int = 0
    ended: bool = False

    async def listen(self, client: httpx.AsyncClient) -> None:
        last = ""
        while not self.ended:
            headers = {"Last-Event-ID": last} if last else {}
            since, heard = time.time(), 0
            async with client.stream("GET", f"/runs/{self.run}/events", headers=headers) as response:
                assert response.status_code == 200, response.status_code
                fields: dict[str, str] = {}
                async for line in response.aiter_lines():
                    if line:
                        name, _, value = line.partition(": ")
                        fields[name] = value
                        continue
                    if "data" in fields:
                        last = fields.get("id", last)
                        heard += 1
                        self._take(fields["event"], fields["data"], since)
                    fields = {}
                    if self.ended or (self.cut and heard == CUT_AFTER):
                        break
            self.resumed += not self.ended

    def _take(self, kind: str, data: str, since: float) -> None:
        if kind == "end":
            self.ended = True
        elif kind == "turn":
            message = json.loads(data)
            self.seqs.append(message["seq"])
            if message["at"] >= since:
                self.delays.append((time.time() - message["at"]) * 1000)


@dataclass(kw_only=True)
class Load:
    """What was seen."""

    viewers: list[Viewer] = field(default_factory=list[Viewer])
    started: list[float] = field(default_factory=list[float])
    """Seconds from the beginning until the server had accepted each run."""
    lengths: dict[str, int] = field(default_factory=dict[str, int])
    """Turns of each run, by the server's own account."""
    memory: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])
    """Seconds and megabytes."""
    watching: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """Viewers that listen, and runs that the server follows for them."""
    cpu_seconds: float = 0.0
    """Of the server."""
    busy: list[float] = field(default_factory=list[float])
    """Processes that wanted to run at a time, on the whole machine."""

    @property
    def listening(self) -> list[Viewer]:
        return [viewer for viewer in self.viewers if not viewer.ended]


async def put_under_load(client: httpx.AsyncClient, pid: int, given: Any) -> Load:
    load = Load()
    process = psutil.Process(pid)
    began = time.monotonic()
    text = task_text(max(3, round(60 / given.per_minute * given.runs / STEP_SECONDS)))
    pending: set[asyncio.Task[None]] = set()
    places = asyncio.Semaphore(given.runs * 3 // 2)

    async def one(number: int) -> None:
        body = {"text": text, "run_id": f"load-{number}"}
        answer = await client.post("/runs", json=body, headers={"Idempotency-Key": f"load-{number}"})
        assert answer.status_code == 201, answer.text
        load.started.append(time.monotonic() - began)
        viewers = [Viewer(run=f"load-{number}", cut=n == 0) for n in range(given.viewers // given.runs)]
        load.viewers += viewers
        await asyncio.gather(*(viewer.listen(client) for viewer in viewers))
        load.lengths[f"load-{number}"] = (await client.get(f"/runs/load-{number}")).json()["seq"]
        places.release()

    async def sample() -> None:
        while True:
            load.busy.append(os.getloadavg()[0])
            load.memory.append((time.monotonic() - began, process.memory_info().rss / 1e6))
            watched = (await client.get("/fleet")).json()["watched"]
            load.watching.append((len(load.listening), watched))
            await asyncio.sleep(SAMPLES)

    sampling = asyncio.create_task(sample())
    for number in range(round(given.minutes * given.per_minute)):
        await asyncio.sleep(max(0.0, began + number * 60 / given.per_minute - time.monotonic()))
        await places.acquire()
        pending.add(asyncio.create_task(one(number)))
    await asyncio.gather(*pending)
    sampling.cancel()
    load.cpu_seconds = sum(process.cpu_times()[:2])
    return load


def summarise(load: Load, seconds: float, given: Any) -> dict[str, Any]:
    missed = [viewer for viewer in load.viewers if viewer.seqs != list(range(1, load.lengths.get(viewer.run, 0) + 1))]
    delays = sorted(delay for viewer in load.viewers for delay in viewer.delays)
    cut = quantiles(delays, n=100)
    busiest = max(load.watching)
    settled = [row for row in load.memory if row[0] > load.memory[-1][0] / 4]
    return {
        "runs": len(load.lengths),
        "runs_a_minute": round(slope([(at, number) for number, at in enumerate(sorted(load.started))]) * 60, 1),
        "viewers_at_once": busiest[0],
        "followed_at_once": max(watched for _, watched in load.watching),
        "streams": len(load.viewers),
        "resumed": sum(viewer.resumed for viewer in load.viewers),
        "messages": sum(len(viewer.seqs) for viewer in load.viewers),
        "missed": len(missed),
        "p50_ms": round(cut[49], 1),
        "p95_ms": round(cut[94], 1),
        "p99_ms": round(cut[98], 1),
        "memory_mb_begin": round(settled[0][1], 1),
        "memory_mb_end": round(settled[-1][1], 1),
        "memory_mb_a_minute": round(slope(settled) * 60, 2),
        "memory": [(round(at), round(size, 1)) for at, size in load.memory[:: max(1, len(load.memory) // 30)]],
        "server_cpu_seconds": round(load.cpu_seconds, 1),
        "load_average": round(sum(load.busy) / len(load.busy), 1),
        "asked": {"runs": given.runs, "viewers": given.viewers, "per_minute": given.per_minute},
        "seconds": round(seconds, 1),
        "machine": describe_machine(),
    }


def slope(rows: list[tuple[float, float]]) -> float:
    """Of a line through these points (least squares)."""
    if len(rows) < 2:
        return 0.0
    mean_x, mean_y = (sum(row[n] for row in rows) / len(rows) for n in (0, 1))
    spread = sum((x - mean_x) ** 2 for x, _ in rows)
    return sum((x - mean_x) * (y - mean_y) for x, y in rows) / spread if spread else 0.0


def format_summary(summary: dict[str, Any]) -> str:
    names = {
        "runs": "runs",
        "runs_a_minute": "runs started a minute",
        "viewers_at_once": "viewers at once, at most",
        "followed_at_once": "runs followed at once (one query stream each), at most",
        "messages": "events delivered",
        "resumed": "streams resumed",
        "missed": "viewers that missed an event or heard one twice",
        "p50_ms": "half of the events arrive within ms",
        "p95_ms": "95 % within ms",
        "p99_ms": "99 % within ms",
        "server_cpu_seconds": "CPU seconds of the server",
        "load_average": "processes that wanted to run at a time, on the whole machine (two cores)",
        "memory_mb_begin": "memory of the server after a quarter of the time, MB",
        "memory_mb_end": "at the end, MB",
        "memory_mb_a_minute": "MB more in a minute",
    }
    return format_table(["", "measured"], [[words, f"{summary[name]:,}"] for name, words in names.items()])


def measure(given: Any) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        words = ["serve", "--port", "0", "--json", "--home", str(Path(folder) / "home")]
        log = Path(folder) / "server.log"
        with (
            log.open("wb") as errors,
            subprocess.Popen(
                [sys.executable, "-m", "midcourse", *words],
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
            ) as server,
        ):
            try:
                assert server.stdout is not None
                url, _, token = json.loads(server.stdout.readline())["url"].partition("/#token=")
                return asyncio.run(_measure(url, token, server.pid, given))
            finally:
                server.kill()


async def _measure(url: str, token: str, pid: int, given: Any) -> dict[str, Any]:
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(
        base_url=f"{url}/api/v1", headers=headers, limits=limits, timeout=300, verify=False
    ) as client:
        began = time.monotonic()
        load = await put_under_load(client, pid, given)
        return summarise(load, time.monotonic() - began, given)


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--minutes", type=float, default=3.0, help="for which runs are started")
    parser.add_argument("--runs", type=int, default=20, help="under way at once")
    parser.add_argument("--viewers", type=int, default=200, help="of these runs")
    parser.add_argument("--per-minute", type=float, default=50.0, help="runs that are started")
    args = parser.parse_args()
    summary = measure(args)
    report(args, "server_load", summary, format_summary(summary))
    return 1 if summary["missed"] else 0


if __name__ == "__main__":
    sys.exit(main())
