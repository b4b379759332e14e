"""What does a browser session cost at a host, what does a killed Chromium lose, and what do waiting runs hold?

    python -m benchmarks.density --json

Each part has its own `midcourse fleet host` process with real Chromiums, and a site that counts its orders.

shared      `--sessions` browsers on a page of `--elements` elements, twenty per Chromium: memory (PSS) and processes of the host and its
            descendants
own         `--own` browsers with a Chromium each
kill        `--killed` runs, four per Chromium, are about to order when one of the Chromiums is killed with -9
waiting     `--waiting` runs ask for an approval, at a host that has room for `--room` browsers and parks them after a few seconds. Then
            the first `--answered` of them are approved and continue

asked again questions of approved runs beyond the one that was answered
lost        runs that did not succeed, or without an order at the site
twice       orders that the site has more than once
"""

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.request import Request as Get
from urllib.request import urlopen

from benchmarks import ROOT
from benchmarks.harness.report import RESULTS, describe_machine, format_table, keep, make_parser
from midcourse import Agent, Draft, PlanDraft, Settings, Task
from midcourse.config.defaults import LeaveOpen
from midcourse.domain.phases import Asking
from midcourse.expect import Expectation, SurfaceMatches
from midcourse.ports.planner import PlanningContext
from midcourse.testing import Approves
from midcourse.testing.sites import Request, Response, serve
from midcourse.testing.sites.site import TOKEN, Tokens
from midcourse.worlds import RemoteWorld
from midcourse.worlds.host import read_host_file

BROWSER = "midcourse.worlds.browser:Browser"
PARTS = "shared,own,kill,waiting"
MAX_MB, MAX_PROCESSES = 70.0, 2.0
KILL_SESSIONS_PER_CHROMIUM = 4
"""Sessions per Chromium in the part `kill`."""
PARK_SECONDS = 3.0
MAX_ASKING = 10
"""Runs that may be between their start and their question at the same time. If the host has no room left, the next run waits."""
PARK_TIMEOUT = 60.0
STUCK_SECONDS = 900.0
TASK = Task(goal="Order what is on the page", done_when=Expectation(checks=(SurfaceMatches(pattern="Thank you"),)))


class Office:
    """A site with a page of `elements` elements and an order form for each run. `orders` counts the orders by run.

    Every visit gets its own CSRF token, which is valid for its session only.
    """

    def __init__(self, elements: int) -> None:
        rows = "".join(f"<li><a href='/row/{row}'>Row {row}</a></li>" for row in range(elements))
        self._page = f"<!doctype html><title>Rows</title><ul>{rows}</ul>"
        self._tokens = Tokens("office")
        self.orders: Counter[str] = Counter()
        self.visitors: Counter[str] = Counter()
        """Visits without a session cookie, by run."""

    def answer(self, request: Request) -> Response:
        run = request.query.get("run") or request.form.get("run", "")
        if not run:
            return Response(body=self._page)
        if request.path == "/orders":
            if not self._tokens.is_valid(request.session, request.form.get(TOKEN, "")):
                return Response(
                    status=403, body="<!doctype html><title>Forbidden</title><p>CSRF verification failed.</p>"
                )
            self.orders[run] += 1
            return Response(status=303, location=f"/?run={run}")
        session = request.session
        if not session:
            session = f"{run}-{self.visitors[run]}"
            self.visitors[run] += 1
        if self.orders[run]:
            return Response(body="<!doctype html><title>Thank you</title><p>It is ordered.</p>", session=session)
        hidden = {**self._tokens.fields(session, volatile=False), "run": run}
        inputs = "".join(f"<input type=hidden name={name} value={value}>" for name, value in hidden.items())
        form = f"<form method=post action=/orders>{inputs}<button>Order</button></form>"
        return Response(body=f"<!doctype html><title>Order form</title>{form}", session=session)


class Clerk:
    """A planner that orders with the button of the page. The first plan waits for `go`."""

    def __init__(self, go: asyncio.Event | None = None, ready: asyncio.Semaphore | None = None) -> None:
        self._go, self._ready = go, ready

    async def plan(self, context: PlanningContext) -> PlanDraft:
        if self._go is not None and not self._go.is_set():
            if self._ready is not None:
                self._ready.release()
            await self._go.wait()
        seen = context.observation
        if seen.surface.title == "Thank you":
            return PlanDraft(verdict="done", detail="it is ordered")
        button = next((zone.id for zone in seen.zones if zone.label == "Order"), "")
        if not button:
            return PlanDraft(verdict="gave_up", detail=f"'{seen.surface.title}' has no button")
        return PlanDraft(steps=(Draft(zone=button, skill="click"),), final=False)


# --- a host and its processes


class HostProcess:
    """A host in a separate process."""

    def __init__(self, pid: int, ready: Path) -> None:
        self.pid = pid
        self.handle = read_host_file(ready)

    def open_sessions(self) -> dict[str, str]:
        """Return the id of each session, by its key."""
        request = Get(f"{self.handle.url}/sessions", headers={"Authorization": f"Bearer {self.handle.token}"})
        with urlopen(request, timeout=60) as answer:
            return {row["key"]: row["session"] for row in json.load(answer)}

    def list_processes(self, ancestor: int = 0) -> dict[int, str]:
        """Return the command lines of the host, or of another process, and of all its descendants, by pid."""
        parents: dict[int, list[int]] = {}
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                parent = int((folder / "stat").read_text().rpartition(") ")[2].split()[1])
                parents.setdefault(parent, []).append(int(folder.name))
        family = [ancestor or self.pid]
        found = dict.fromkeys(family, "")
        while family:
            for pid in parents.get(family.pop(), ()):
                with suppress(OSError):
                    found[pid] = Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
                    family.append(pid)
        return found

    def list_chromiums(self) -> list[int]:
        """Return the pids of the browser processes, the one with the most descendants first."""
        found = [
            pid
            for pid, line in self.list_processes().items()
            if "--headless" in line and "--type=" not in line and "crashpad" not in line
        ]
        return sorted(found, key=lambda pid: -len(self.list_processes(pid)))

    def measure_memory(self) -> float:
        """Return the memory (PSS) of the host and its descendants in MB."""
        return sum(map(_read_pss, self.list_processes())) / 2**20


def _read_pss(pid: int) -> int:
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return 1024 * int(line.split()[1])
    return 0


@asynccontextmanager
async def start_host(folder: Path, url: str, *arguments: str, per_chromium: int) -> AsyncGenerator[HostProcess]:
    ready = folder / "host.json"
    options = (f'browser.within={{ "{url}" = {{ private = true }} }}', f"browser.sessions_per_chromium={per_chromium}")
    command = [sys.executable, "-m", "midcourse", "fleet", "host", "--json", "--worlds", "browser", "--idle", "3600"]
    command += ["--ready", str(ready), "--set", f"home={folder}", *arguments]
    command += [word for option in options for word in ("--option", option)]
    process = await asyncio.create_subprocess_exec(
        *command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=ROOT
    )
    assert process.stdout is not None
    try:
        if not await process.stdout.readline():
            raise RuntimeError(f"no host: {' '.join(command)}")
        yield HostProcess(process.pid, ready)
    finally:
        process.terminate()
        await process.wait()


def make_browser(host: HostProcess, start: str, key: str) -> RemoteWorld:
    return RemoteWorld(BROWSER, options={"start": start}, host=host.handle, key=key, timeout=300.0)


# --- the parts


async def open_sessions(folder: Path, url: str, many: int, per_chromium: int) -> dict[str, Any]:
    async with start_host(folder, url, per_chromium=per_chromium) as host:
        began = time.monotonic()
        for number in range(many):
            world = make_browser(host, url, f"session-{number}")
            await world.open()
            await world.observe()
        seconds = time.monotonic() - began
        await asyncio.sleep(2.0)  # until the memory needed to load the last page has been released
        return {
            "sessions": many,
            "per_chromium": per_chromium,
            "chromiums": len(host.list_chromiums()),
            "mb_each": round(host.measure_memory() / many, 1),
            "processes_each": round(len(host.list_processes()) / many, 2),
            "seconds_to_open": round(seconds / many, 2),
        }


def _make_agent(world: RemoteWorld, planner: Clerk, approver: Approves | LeaveOpen, home: Path) -> Agent:
    patient = {"max_wall_seconds": "36000", "approval_seconds": "36000", "look_timeout_seconds": "300"}
    return Agent(world, planner, approver=approver, settings=Settings.load(overrides={"home": str(home), **patient}))


async def kill_chromium(folder: Path, url: str, office: Office, runs: int) -> dict[str, Any]:
    async with start_host(folder, url, per_chromium=KILL_SESSIONS_PER_CHROMIUM) as host:
        go, ready = asyncio.Event(), asyncio.Semaphore(0)
        keys = [f"killed-{number}" for number in range(runs)]
        agents = [
            _make_agent(make_browser(host, f"{url}/?run={key}", key), Clerk(go, ready), Approves(), folder)
            for key in keys
        ]
        ending = [asyncio.ensure_future(agent.run(TASK, run_id=key)) for agent, key in zip(agents, keys, strict=True)]
        for _ in keys:
            coming = asyncio.ensure_future(ready.acquire())
            await asyncio.wait([coming, *ending], timeout=STUCK_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if not coming.done():
                raise RuntimeError(f"a run ended too early: {[one.result() for one in ending if one.done()]}")
        before, chromiums = await asyncio.to_thread(host.open_sessions), host.list_chromiums()
        os.kill(chromiums[0], signal.SIGKILL)
        after = before
        while len(before) - len(after) < KILL_SESSIONS_PER_CHROMIUM:
            await asyncio.sleep(0.05)
            after = await asyncio.to_thread(host.open_sessions)
        go.set()
        results = await asyncio.wait_for(asyncio.gather(*ending), STUCK_SECONDS)
        return {
            "runs": runs,
            "chromiums": len(chromiums),
            "killed": 1,
            "sessions_lost": len(before.items() - after.items()),
            "lost": sum(not (done.success and office.orders[key]) for key, done in zip(keys, results, strict=True)),
            "twice": sum(office.orders[key] > 1 for key in keys),
        }


async def wait_for_approvals(
    folder: Path, url: str, office: Office, *, runs: int, room: int, answered: int
) -> dict[str, Any]:
    limits = ("--max-sessions", str(room), "--park", f"{PARK_SECONDS:g}")
    async with start_host(folder, url, *limits, per_chromium=20) as host:
        keys, slots, max_open = [f"waiting-{number}" for number in range(runs)], asyncio.Semaphore(MAX_ASKING), 0
        asked: list[str] = []

        def build_agent(key: str, approver: Approves | LeaveOpen) -> Agent:
            return _make_agent(make_browser(host, f"{url}/?run={key}", key), Clerk(), approver, folder)

        async def ask(key: str) -> None:
            async with slots:
                run = build_agent(key, LeaveOpen()).start(TASK, run_id=key)
                async for turn in run:
                    if isinstance(turn.run.phase, Asking):
                        break
                await run.stop()
            asked.append(key)

        began = time.monotonic()
        asking = asyncio.gather(*map(ask, keys))
        while not asking.done():
            max_open = max(max_open, len(await asyncio.to_thread(host.open_sessions)))
            print(f"{len(asked)} of {runs} have asked", file=sys.stderr, flush=True)
            await asyncio.wait([asking], timeout=5.0)
        await asking
        seconds = time.monotonic() - began
        with suppress(TimeoutError):
            async with asyncio.timeout(PARK_TIMEOUT):
                while await asyncio.to_thread(host.open_sessions) or host.list_chromiums():  # noqa: ASYNC110
                    await asyncio.sleep(0.2)  # it is another process
        chromiums, parked, memory = (
            len(host.list_chromiums()),
            len(host.list_processes()) - 1,
            host.measure_memory(),
        )
        approver = Approves()
        done = await asyncio.gather(*(build_agent(key, approver).resume(key) for key in keys[:answered]))
        results = dict(zip(keys, done, strict=False))
        return {
            "runs": runs,
            "room": room,
            "most_open": max_open,
            "seconds_to_ask": round(seconds, 1),
            "chromiums_when_parked": chromiums,
            "processes_when_parked": parked,
            "host_mb_when_parked": round(memory),
            "answered": answered,
            "asked_again": len(approver.questions) - answered,
            "lost": sum(not (result.success and office.orders[key]) for key, result in results.items()),
            "twice": sum(count > 1 for count in office.orders.values()),
            "unapproved": sum(office.orders[key] > 0 for key in keys[answered:]),
            "signed_out": sum(office.visitors[key] > 1 for key in results),
        }


# --- all of them


async def measure(part: str, args: argparse.Namespace) -> dict[str, Any]:
    began, office = time.monotonic(), Office(args.elements)
    with tempfile.TemporaryDirectory() as name, serve(office) as url:
        folder = Path(name)
        match part:
            case "shared":
                found = await open_sessions(folder, url, args.sessions, per_chromium=20)
            case "own":
                found = await open_sessions(folder, url, args.own, per_chromium=1)
            case "kill":
                found = await kill_chromium(folder, url, office, args.killed)
            case "waiting":
                found = await wait_for_approvals(
                    folder, url, office, runs=args.waiting, room=args.room, answered=args.answered
                )
            case _:
                raise SystemExit(f"there is no part '{part}'; there is {PARTS}")
    found["seconds"] = round(time.monotonic() - began, 1)
    print(json.dumps(found), file=sys.stderr, flush=True)
    return found


def _read_kept() -> dict[str, Any]:
    file = RESULTS / "density.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def meets_limits(summary: dict[str, Any]) -> bool:
    shared = summary.get("shared", {})
    excess = max(shared.get("mb_each", 0.0) / MAX_MB, shared.get("processes_each", 0.0) / MAX_PROCESSES)
    if excess > 1.0 and shared["sessions"] >= 20:
        return False
    if (kill := summary.get("kill")) and (
        kill["sessions_lost"] != KILL_SESSIONS_PER_CHROMIUM or kill["lost"] or kill["twice"]
    ):
        return False
    bad = ("chromiums_when_parked", "processes_when_parked", "asked_again", "lost", "twice", "unapproved", "signed_out")
    return not any(summary.get("waiting", {}).get(name) for name in bad)


SESSIONS = ("sessions", "chromiums", "mb_each", "processes_each", "seconds_to_open")
KILLED = ("runs", "chromiums", "killed", "sessions_lost", "lost", "twice")
PARKED = ("runs", "room", "most_open", "chromiums_when_parked", "processes_when_parked", "host_mb_when_parked")
APPROVED = ("answered", "asked_again", "lost", "twice", "signed_out", "unapproved")


def format_summary(summary: dict[str, Any]) -> str:
    blocks = [
        f"Pages of {summary['elements']} elements. Memory (PSS) and processes are those of the whole host. Parts may be measured one at a time (`--parts`)."
    ]
    tables = ((SESSIONS, ("shared", "own")), (KILLED, ("kill",)), (PARKED, ("waiting",)), (APPROVED, ("waiting",)))
    for names, parts in tables:
        rows = [[str(summary[part].get(name, "–")) for name in names] for part in parts if part in summary]
        blocks += [format_table([name.replace("_", " ") for name in names], rows)] if rows else []
    return "\n\n".join(blocks)


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--sessions", type=int, default=20, help="browsers that share a Chromium")
    parser.add_argument("--own", type=int, default=5, help="browsers with a separate Chromium each")
    parser.add_argument("--elements", type=int, default=500, help="elements of the page")
    parser.add_argument("--killed", type=int, default=12, help="runs in the part that kills a Chromium")
    parser.add_argument("--waiting", type=int, default=200, help="runs that wait")
    parser.add_argument("--room", type=int, default=16, help="browsers that the host has room for")
    parser.add_argument("--answered", type=int, default=10, help="waiting runs that are approved")
    parser.add_argument(
        "--parts", default=PARTS, help="parts to measure, separated by commas; kept results of other parts stay"
    )
    args = parser.parse_args()
    summary: dict[str, Any] = _read_kept() if args.keep else {}
    for part in args.parts.split(","):
        summary |= {"elements": args.elements, part: asyncio.run(measure(part, args))}
        seconds = sum(summary[one]["seconds"] for one in PARTS.split(",") if one in summary)
        summary |= {"seconds": round(seconds, 1), "machine": describe_machine()}
        if args.keep:
            keep("density", summary, format_summary(summary))
    if not args.json:
        print(format_summary(summary))
    print(json.dumps(summary))
    return 0 if meets_limits(summary) else 1


if __name__ == "__main__":
    sys.exit(main())
