"""Does a fleet stay the same size while it carries out runs for hours?

    python -m benchmarks.soak --minutes 120 --json

A whole fleet in processes of their own: PostgreSQL and Temporal of `midcourse up`, a host for browsers with a real Chromium, a worker, and
`midcourse serve --durable` in front. Every `--every` seconds a run is started over HTTP. It opens an order form, asks before it sends it, is approved over HTTP and
ends. The site counts the orders. Every `--sample` seconds memory (PSS), open files and processes of each part, the
temporary folders of all parts, the home, and the tables are measured. The first quarter, in which caches fill, is left out of every comparison.

lost        runs that did not end successfully, or whose order the site does not have
repeated    orders that the site has more than once
grown       parts that ended larger than the bars below allow
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from subprocess import PIPE
from typing import Any

import httpx2 as httpx
import psutil
import psycopg

from benchmarks.density import Office
from benchmarks.harness.report import describe_machine, format_table, make_parser, report
from benchmarks.server_load import slope
from benchmarks.storage import SIZE
from midcourse.config.up_file import SERVERS, read_up
from midcourse.testing.sites import serve

TASK = """
goal = "Order by the form"
[world]
name = "browser"
options.start = "{url}/?run={run}"
[done_when]
surface_matches = "Thank you"
[settings]
approvals = "always"
[planner]
name = "playbook"
[[planner.rules]]
on = "Thank you"
done = true
[[planner.rules]]
on = "Order form"
steps = [{{ zone = "button:Order", skill = "click", expect = {{ surface_matches = "Thank you" }} }}]
"""
TENANT = "soak"
HOST, WORKER, SERVER = OWN = ("host", "worker", "server")
"""Parts that must not grow. Temporal and PostgreSQL fill their caches, and are only reported."""
MOST_GROWTH = 0.10
"""Growth of the memory of a part from the second quarter to the last, compared at their minima: the host's memory includes the
browsers of current runs."""
MOST_FILES, MOST_PROCESSES, MOST_FOLDERS = 5, 1, 2
"""Growth of open files, processes and temporary folders, compared in the same way."""
MOST_BYTES = 1.15
"""Bytes that a run adds to the tables in the last quarter, relative to the second."""
LEAST_SECONDS = 600.0
"""In a shorter time caches still fill, so growth is not judged."""
DECIDES_EVERY = 0.5
PATIENCE = 600.0
"""Seconds that the last runs may take to end."""


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Sizes at one time."""

    seconds: float
    ended: int
    megabytes: dict[str, float]
    files: dict[str, int]
    processes: dict[str, int]
    temporary: int
    """Entries of the folder for temporary files, which all parts share."""
    home: int
    """Files in the home."""
    tables: int
    """Bytes of all tables of Midcourse with their indexes."""
    temporal: int
    """Bytes of the development server's database."""


@dataclass(frozen=True, kw_only=True)
class Parts:
    """A fleet that is up."""

    home: Path
    temporary: Path
    pids: dict[str, int]
    url: str
    token: str


@dataclass(kw_only=True)
class Soak:
    """A fleet under load, and its measurements."""

    parts: Parts
    client: httpx.AsyncClient
    site: Office
    url: str
    began: float = field(default_factory=time.monotonic)
    started: list[str] = field(default_factory=list[str])
    ended: dict[str, str] = field(default_factory=dict[str, str])
    """Why each run ended; empty if it was successful."""
    all_started: bool = False
    samples: list[Sample] = field(default_factory=list[Sample])

    async def start_run(self) -> None:
        run = f"soak-{len(self.started)}"
        body = {"text": TASK.format(url=self.url, run=run), "run_id": run}
        answer = await self.client.post("/runs", json=body, headers={"Idempotency-Key": run})
        assert answer.status_code == 201, answer.text
        self.started.append(run)

    async def decide(self) -> None:
        """Approve every question and record which runs have ended, until all have."""
        while not self.all_started or len(self.ended) < len(self.started):
            questions = (await self.client.get("/questions")).json()["questions"]
            for question in questions:
                body = {"verdict": "approved", "shown": question["shown"], "all_values": True}
                await self.client.post(f"/runs/{question['run']}/questions/{question['id']}", json=body)
            for run in [run for run in self.started if run not in self.ended]:
                result = (await self.client.get(f"/runs/{run}")).json()["result"]
                if result is not None:
                    self.ended[run] = "" if result["success"] else result["final_detail"]
            await asyncio.sleep(DECIDES_EVERY)

    async def sample(self, every: float) -> None:
        """Measure all sizes at this interval in seconds, until cancelled."""
        while True:
            self.samples.append(await asyncio.to_thread(self.measure))
            await asyncio.sleep(every)

    def measure(self) -> Sample:
        families = {name: _list_family(pid) for name, pid in self.parts.pids.items()}
        home = self.parts.home
        with psycopg.connect(read_up(home).settings["database_url"], autocommit=True) as connection:
            (tables,) = connection.execute(SIZE).fetchone() or (0,)
        return Sample(
            seconds=time.monotonic() - self.began,
            ended=len(self.ended),
            megabytes={name: round(sum(map(_read_megabytes, family)), 1) for name, family in families.items()},
            files={name: sum(map(_count_open_files, family)) for name, family in families.items()},
            processes={name: len(family) for name, family in families.items()},
            temporary=sum(1 for _ in self.parts.temporary.iterdir()),
            home=sum(len(files) for _, _, files in os.walk(home)),
            tables=tables,
            temporal=(home / "up" / "temporal" / "temporal.db").stat().st_size,
        )


def _list_family(pid: int) -> list[psutil.Process]:
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        return [process, *process.children(recursive=True)]
    return []


def _read_megabytes(process: psutil.Process) -> float:
    with suppress(psutil.Error):
        return process.memory_full_info().pss / 1e6
    return 0.0


def _count_open_files(process: psutil.Process) -> int:
    with suppress(psutil.Error):
        return process.num_fds()
    return 0


# --- the fleet


@contextmanager
def start_fleet(folder: Path, site: str) -> Generator[Parts]:
    """Start the servers of `midcourse up`, and a browser host, a worker and a server for a separate tenant."""
    home, temporary, host_file = folder / "home", folder / "tmp", folder / "host.json"
    temporary.mkdir()
    environment = {**os.environ, "MIDCOURSE_HOME": str(home), "TMPDIR": str(temporary)}
    command = [sys.executable, "-m", "midcourse"]
    subprocess.run([*command, "up", "--detach"], env=environment, check=True, stdout=subprocess.DEVNULL)
    try:
        within = f'browser.within={{ "{site}" = {{ private = true }} }}'
        environment |= {"MIDCOURSE_TENANT": TENANT, "MIDCOURSE_HOST_FILE": str(host_file)}
        with ExitStack() as stack:

            def start(name: str, *words: str) -> dict[str, Any]:
                log = stack.enter_context((folder / f"{name}.log").open("wb"))
                process = subprocess.Popen([*command, *words, "--json"], env=environment, stdout=PIPE, stderr=log)
                stack.enter_context(process)
                stack.callback(process.terminate)
                assert process.stdout is not None
                return {**json.loads(process.stdout.readline()), "pid": process.pid}

            parts = {
                HOST: start(HOST, "fleet", "host", "--worlds=browser", f"--ready={host_file}", f"--option={within}"),
                WORKER: start(WORKER, "fleet", "worker"),
                SERVER: start(SERVER, "serve", "--durable", "--port", "0"),
            }
            servers = {part.name: part.process.pid for part in read_up(home).parts if part.name in SERVERS}
            pids = servers | {name: part["pid"] for name, part in parts.items()}
            url, _, token = parts[SERVER]["url"].partition("/#token=")
            yield Parts(home=home, temporary=temporary, pids=pids, url=url, token=token)
    finally:
        subprocess.run([*command, "down"], env=environment, check=True, stdout=subprocess.DEVNULL)


async def run_soak(args: Namespace) -> Soak:
    site = Office(0)
    with (
        tempfile.TemporaryDirectory() as folder,
        serve(site) as address,
        start_fleet(Path(folder), address) as parts,
    ):
        headers = {"Authorization": f"Bearer {parts.token}"}
        api = f"{parts.url}/api/v1"
        async with httpx.AsyncClient(base_url=api, headers=headers, timeout=PATIENCE, verify=False) as client:
            load = Soak(parts=parts, client=client, site=site, url=address)
            await _carry_out(load, args)
            return load


async def _carry_out(load: Soak, args: Namespace) -> None:
    async with asyncio.TaskGroup() as group:
        deciding = group.create_task(load.decide())
        sampling = group.create_task(load.sample(args.sample))
        while time.monotonic() < load.began + 60 * args.minutes:
            await load.start_run()
            await asyncio.sleep(max(0.0, load.began + len(load.started) * args.every - time.monotonic()))
        load.all_started = True
        await asyncio.wait({deciding}, timeout=PATIENCE)
        deciding.cancel()
        sampling.cancel()
    load.samples.append(await asyncio.to_thread(load.measure))


# --- the result


def summarise(load: Soak) -> dict[str, Any]:
    orders = load.site.orders
    lost = [run for run in load.started if load.ended.get(run, "it did not end") or not orders[run]]
    compared = [sample for sample in load.samples if sample.seconds > load.samples[-1].seconds / 4]
    second = [sample for sample in compared if sample.seconds <= load.samples[-1].seconds / 2] or compared[:1]
    last = [sample for sample in compared if sample.seconds > load.samples[-1].seconds * 3 / 4]
    parts = {name: _compare_part(name, second, last) for name in load.samples[-1].megabytes}
    summary: dict[str, Any] = {
        "runs": len(load.started),
        "lost": len(lost),
        "reasons": dict(Counter(load.ended.get(run, "") for run in lost)),
        "repeated": sum(count - 1 for count in orders.values() if count > 1),
        "runs_a_minute": round(60 * len(load.ended) / load.samples[-1].seconds, 1),
        "samples": len(load.samples),
        "parts": parts,
        "temporary_more": min(sample.temporary for sample in last) - min(sample.temporary for sample in second),
        "home_files_a_run": _growth_per_run(compared, "home", 2),
        "table_bytes_a_run": [_growth_per_run(second, "tables", 0), _growth_per_run(last, "tables", 0)],
        "temporal_bytes_a_run": [_growth_per_run(second, "temporal", 0), _growth_per_run(last, "temporal", 0)],
    }
    return summary | {"grown": find_grown(summary) if load.samples[-1].seconds >= LEAST_SECONDS else []}


def _compare_part(name: str, second: list[Sample], last: list[Sample]) -> dict[str, float]:
    before, after = (min(sample.megabytes[name] for sample in samples) for samples in (second, last))
    return {
        "megabytes": round(median(sample.megabytes[name] for sample in last), 1),
        "grown_megabytes": round(after - before, 1),
        "grown": round(after / before - 1, 3),
        "files_more": min(sample.files[name] for sample in last) - min(sample.files[name] for sample in second),
        "processes_more": min(sample.processes[name] for sample in last)
        - min(sample.processes[name] for sample in second),
    }


def _growth_per_run(samples: list[Sample], of: str, digits: int) -> float:
    """How much of this quantity a run adds, by a line through the samples."""
    return round(slope([(float(sample.ended), float(getattr(sample, of))) for sample in samples]), digits)


def find_grown(summary: dict[str, Any]) -> list[str]:
    """List what grew more than the bars allow, in words."""
    found: list[str] = []
    for name in OWN:
        part = summary["parts"][name]
        if part["grown"] > MOST_GROWTH:
            found.append(f"memory of the {name}")
        if part["files_more"] > MOST_FILES:
            found.append(f"open files of the {name}")
        if part["processes_more"] > MOST_PROCESSES:
            found.append(f"processes of the {name}")
    if summary["temporary_more"] > MOST_FOLDERS:
        found.append("temporary folders")
    before, after = summary["table_bytes_a_run"]
    if after > MOST_BYTES * before:
        found.append("bytes of a run in the tables")
    return found


def format_text(summary: dict[str, Any]) -> str:
    rows = [
        [
            name,
            f"{part['megabytes']:,}",
            f"{part['grown_megabytes']:+,} ({part['grown']:+.1%})",
            f"{part['files_more']:+g}",
            f"{part['processes_more']:+g}",
        ]
        for name, part in summary["parts"].items()
    ]
    before, after = summary["table_bytes_a_run"]
    return (
        f"{summary['runs']:,} runs in {summary['seconds'] / 60:.0f} minutes: {summary['lost']} lost, {summary['repeated']} orders repeated.\n\n"
        + format_table(["", "MB at the end", "more than in the second quarter", "open files", "processes"], rows)
        + f"\n\nA run adds {before:,.0f} bytes to the tables in the second quarter and {after:,.0f} in the last, and {summary['home_files_a_run']:g} files"
        f" to the home. Temporary folders: {summary['temporary_more']:+g}. Grown beyond the bars: {', '.join(summary['grown']) or 'nothing'}."
    )


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--minutes", type=float, default=120.0, help="for which runs are started")
    parser.add_argument("--every", type=float, default=3.0, help="seconds between two starts")
    parser.add_argument("--sample", type=float, default=30.0, help="seconds between two measurements")
    args = parser.parse_args()
    began = time.monotonic()
    load = asyncio.run(run_soak(args))
    summary = summarise(load) | {"seconds": round(time.monotonic() - began, 1), "machine": describe_machine()}
    report(args, "soak", summary, format_text(summary))
    return 0 if not (summary["lost"] or summary["repeated"] or summary["grown"]) else 1


if __name__ == "__main__":
    sys.exit(main())
