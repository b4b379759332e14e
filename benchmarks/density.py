"""What does a browser session cost at a host, what does a killed Chromium lose, and what do waiting runs hold?

    python -m benchmarks.density --json

Each part has its own `midcourse fleet host` in a process of its own, with real Chromiums, and a site that counts its orders.

shared      `--sessions` browsers on a page of `--elements` elements, twenty in a Chromium: memory (PSS) and processes of the host and all below it
own         `--own` browsers with a Chromium each
kill        `--killed` runs, four in each Chromium, are about to order when one of the Chromiums is killed with -9.
waiting     `--waiting` runs ask for an approval, at a host that has room for `--room` browsers and parks them after a few seconds. Then the first `--answered` of them are
            approved and continue.

lost        runs that did not end well, or whose order the site does not have
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
from midcourse.app.defaults import LeaveOpen
from midcourse.domain.phase import Asking
from midcourse.expect import Expectation, SurfaceMatches
from midcourse.ports.planner import PlanningContext
from midcourse.testing import Approves
from midcourse.testing.sites import Request, Response, serve
from midcourse.worlds import RemoteWorld
from midcourse.worlds.host import read_host_file

BROWSER = "midcourse.worlds.browser:Browser"
PARTS = "shared,own,kill,waiting"
MOST_MB, MOST_PROCESSES = 70.0, 2.0
IN_A_CHROMIUM = 4
"""Sessions, in the part in which one is killed."""
PARKS_AFTER = 3.0
AT_ONCE = 10
"""Runs that are on their way to their question. Others at the host are not parked yet; if it has no room left, the next run waits."""
PARKED_WITHIN = 60.0
PATIENCE = 900.0
TASK = Task(goal="Order what is on the page", done_when=Expectation(checks=(SurfaceMatches(pattern="Thank you"),)))


class Office:
    """A page of so many elements, and an order form for each run. `orders` is what was ordered, by run."""

    def __init__(self, elements: int) -> None:
        rows = "".join(f"<li><a href='/row/{row}'>Row {row}</a></li>" for row in range(elements))
        self._page = f"<!doctype html><title>Rows</title><ul>{rows}</ul>"
        self.orders: Counter[str] = Counter()
        self.visitors: Counter[str] = Counter()
        """By run, how many came without a cookie of before."""

    def answer(self, request: Request) -> Response:
        run = request.query.get("run") or request.form.get("run", "")
        if not run:
            return Response(body=self._page)
        if request.path == "/orders":
            self.orders[run] += 1
            return Response(status=303, location=f"/?run={run}")
        session = request.session
        if not session:
            session = f"{run}-{self.visitors[run]}"
            self.visitors[run] += 1
        if self.orders[run]:
            return Response(body="<!doctype html><title>Thank you</title><p>It is ordered.</p>", session=session)
        form = f"<form method=post action=/orders><input type=hidden name=run value={run}><button>Order</button></form>"
        return Response(body=f"<!doctype html><title>Order form</title>{form}", session=session)


class Clerk:
    """Orders by the button of the page. The first plan waits for `go`."""

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


class Hosted:
    """A host in a process of its own."""

    def __init__(self, pid: int, ready: Path) -> None:
        self.pid = pid
        self.handle = read_host_file(ready)

    def open_sessions(self) -> dict[str, str]:
        """The id of each session, by its key."""
        request = Get(f"{self.handle.url}/sessions", headers={"Authorization": f"Bearer {self.handle.token}"})
        with urlopen(request, timeout=60) as answer:
            return {row["key"]: row["session"] for row in json.load(answer)}

    def processes(self, ancestor: int = 0) -> dict[int, str]:
        """The host, or another process, and all that are below it, with their command lines."""
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

    def chromiums(self) -> list[int]:
        """The browser processes, the one with the most sessions first; renderers and others are below them."""
        found = [
            pid
            for pid, line in self.processes().items()
            if "--headless" in line and "--type=" not in line and "crashpad" not in line
        ]
        return sorted(found, key=lambda pid: -len(self.processes(pid)))

    def memory(self) -> float:
        """PSS in MB."""
        return sum(map(_pss, self.processes())) / 2**20


def _pss(pid: int) -> int:
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return 1024 * int(line.split()[1])
    return 0


@asynccontextmanager
async def hosting(folder: Path, url: str, *arguments: str, per_chromium: int) -> AsyncGenerator[Hosted]:
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
        yield Hosted(process.pid, ready)
    finally:
        process.terminate()
        await process.wait()


def browser_at(host: Hosted, start: str, key: str) -> RemoteWorld:
    return RemoteWorld(BROWSER, options={"start": start}, host=host.handle, key=key, timeout=300.0)


# --- the parts


async def open_sessions(folder: Path, url: str, many: int, per_chromium: int) -> dict[str, Any]:
    async with hosting(folder, url, per_chromium=per_chromium) as host:
        began = time.monotonic()
        for number in range(many):
            world = browser_at(host, url, f"session-{number}")
            await world.open()
            await world.observe()
        seconds = time.monotonic() - began
        await asyncio.sleep(2.0)  # so that what was needed to load the last page has been given back
        return {
            "sessions": many,
            "per_chromium": per_chromium,
            "chromiums": len(host.chromiums()),
            "mb_each": round(host.memory() / many, 1),
            "processes_each": round(len(host.processes()) / many, 2),
            "seconds_to_open": round(seconds / many, 2),
        }


def _agent(world: RemoteWorld, planner: Clerk, approver: Approves | LeaveOpen, home: Path) -> Agent:
    patient = {"max_wall_seconds": "36000", "approval_seconds": "36000", "look_timeout_seconds": "300"}
    return Agent(world, planner, approver=approver, settings=Settings.load(overrides={"home": str(home), **patient}))


async def kill_chromium(folder: Path, url: str, office: Office, runs: int) -> dict[str, Any]:
    async with hosting(folder, url, per_chromium=IN_A_CHROMIUM) as host:
        go, ready = asyncio.Event(), asyncio.Semaphore(0)
        keys = [f"killed-{number}" for number in range(runs)]
        agents = [
            _agent(browser_at(host, f"{url}/?run={key}", key), Clerk(go, ready), Approves(), folder) for key in keys
        ]
        ending = [asyncio.ensure_future(agent.run(TASK, run_id=key)) for agent, key in zip(agents, keys, strict=True)]
        for _ in keys:
            coming = asyncio.ensure_future(ready.acquire())
            await asyncio.wait([coming, *ending], timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED)
            if not coming.done():
                raise RuntimeError(f"a run ended too early: {[one.result() for one in ending if one.done()]}")
        before, chromiums = await asyncio.to_thread(host.open_sessions), host.chromiums()
        os.kill(chromiums[0], signal.SIGKILL)
        after = before
        while len(before) - len(after) < IN_A_CHROMIUM:
            await asyncio.sleep(0.05)
            after = await asyncio.to_thread(host.open_sessions)
        go.set()
        results = await asyncio.wait_for(asyncio.gather(*ending), PATIENCE)
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
    limits = ("--max-sessions", str(room), "--park", f"{PARKS_AFTER:g}")
    async with hosting(folder, url, *limits, per_chromium=20) as host:
        keys, places, most = [f"waiting-{number}" for number in range(runs)], asyncio.Semaphore(AT_ONCE), 0
        asked: list[str] = []

        def agent_for(key: str, approver: Approves | LeaveOpen) -> Agent:
            return _agent(browser_at(host, f"{url}/?run={key}", key), Clerk(), approver, folder)

        async def ask(key: str) -> None:
            async with places:
                run = agent_for(key, LeaveOpen()).start(TASK, run_id=key)
                async for turn in run:
                    if isinstance(turn.run.phase, Asking):
                        break
                await run.stop()
            asked.append(key)

        began = time.monotonic()
        asking = asyncio.gather(*map(ask, keys))
        while not asking.done():
            most = max(most, len(await asyncio.to_thread(host.open_sessions)))
            print(f"{len(asked)} of {runs} have asked", file=sys.stderr, flush=True)
            await asyncio.wait([asking], timeout=5.0)
        await asking
        seconds = time.monotonic() - began
        with suppress(TimeoutError):
            async with asyncio.timeout(PARKED_WITHIN):
                while await asyncio.to_thread(host.open_sessions) or host.chromiums():  # noqa: ASYNC110
                    await asyncio.sleep(0.2)  # it is another process
        chromiums, parked, memory = len(host.chromiums()), len(host.processes()) - 1, host.memory()
        done = await asyncio.gather(*(agent_for(key, Approves()).resume(key) for key in keys[:answered]))
        ended = dict(zip(keys, done, strict=False))
        return {
            "runs": runs,
            "room": room,
            "most_open": most,
            "seconds_to_ask": round(seconds, 1),
            "chromiums_when_parked": chromiums,
            "processes_when_parked": parked,
            "host_mb_when_parked": round(memory),
            "answered": answered,
            "lost": sum(not (one.success and office.orders[key]) for key, one in ended.items()),
            "twice": sum(count > 1 for count in office.orders.values()),
            "unapproved": sum(office.orders[key] > 0 for key in keys[answered:]),
            "signed_out": sum(office.visitors[key] > 1 for key in ended),
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


def _kept() -> dict[str, Any]:
    file = RESULTS / "density.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def is_right(summary: dict[str, Any]) -> bool:
    shared = summary.get("shared", {})
    most = max(shared.get("mb_each", 0.0) / MOST_MB, shared.get("processes_each", 0.0) / MOST_PROCESSES)
    if most > 1.0 and shared["sessions"] >= 20:
        return False
    if (kill := summary.get("kill")) and (kill["sessions_lost"] != IN_A_CHROMIUM or kill["lost"] or kill["twice"]):
        return False
    bad = ("chromiums_when_parked", "processes_when_parked", "lost", "twice", "unapproved", "signed_out")
    return not any(summary.get("waiting", {}).get(name) for name in bad)


SESSIONS = ("sessions", "chromiums", "mb_each", "processes_each", "seconds_to_open")
KILLED = ("runs", "chromiums", "killed", "sessions_lost", "lost", "twice")
PARKED = ("runs", "room", "most_open", "chromiums_when_parked", "processes_when_parked", "host_mb_when_parked")
APPROVED = ("answered", "lost", "twice", "signed_out", "unapproved")


def text(summary: dict[str, Any]) -> str:
    said = [
        f"Pages of {summary['elements']} elements. Memory (PSS) and processes are those of the whole host. Parts may be measured one at a time (`--parts`)."
    ]
    tables = ((SESSIONS, ("shared", "own")), (KILLED, ("kill",)), (PARKED, ("waiting",)), (APPROVED, ("waiting",)))
    for names, parts in tables:
        rows = [[str(summary[part][name]) for name in names] for part in parts if part in summary]
        said += [format_table([name.replace("_", " ") for name in names], rows)] if rows else []
    return "\n\n".join(said)


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--sessions", type=int, default=20, help="that share a Chromium")
    parser.add_argument("--own", type=int, default=5, help="with a Chromium of its own each")
    parser.add_argument("--elements", type=int, default=500, help="of the page")
    parser.add_argument("--killed", type=int, default=12, help="runs, one of whose Chromiums is killed")
    parser.add_argument("--waiting", type=int, default=200, help="runs that wait")
    parser.add_argument("--room", type=int, default=16, help="browsers at their host")
    parser.add_argument("--answered", type=int, default=10, help="how many of them are approved")
    parser.add_argument(
        "--parts", default=PARTS, help="which parts, with commas between; others stay as they were kept"
    )
    args = parser.parse_args()
    summary: dict[str, Any] = _kept() if args.keep else {}
    for part in args.parts.split(","):
        summary |= {"elements": args.elements, part: asyncio.run(measure(part, args))}
        seconds = sum(summary[one]["seconds"] for one in PARTS.split(",") if one in summary)
        summary |= {"seconds": round(seconds, 1), "machine": describe_machine()}
        if args.keep:
            keep("density", summary, text(summary))
    if not args.json:
        print(text(summary))
    print(json.dumps(summary))
    return 0 if is_right(summary) else 1


if __name__ == "__main__":
    sys.exit(main())
