"""Does a step cost more the longer a run has gone on? CPU time and records read, early and late in one long run.

    python -m benchmarks.growth --steps 2000 --json

One run, one plan a step, no model: what is measured is the runtime itself, with its store in a file. A window is 100 steps (fewer
if the run is short). The early one begins after the first window, the late one ends the run.
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.harness.replay_check import check_replay
from benchmarks.harness.report import describe_machine, format_table, make_parser, report
from midcourse import Agent, BaseWorld, Draft, PlanDraft, Scene, Settings, Zone, skill
from midcourse.ports.planner import PlanningContext
from midcourse.store.sqlite import SqliteStore

ZONES = 20
READS = (
    "observation",
    "plan",
    "plans",
    "ledger_entry",
    "ledger",
    "consequence",
    "journal",
    "load",
    "asked_consequences",
)


class Pages(BaseWorld):
    """A book in which every page has the same zones and a button to the next."""

    def __init__(self) -> None:
        super().__init__()
        self.page = 0

    def look(self) -> Scene:
        rows = (Zone(id=f"row{n}", role="button", label=f"Row {n}") for n in range(ZONES))
        return Scene(f"Page {self.page}", *rows, Zone(id="next", role="button", label=f"Next {self.page}"))

    @skill(effect="set_state", transition=True)
    def turn(self, zone: Zone) -> None:
        self.page += 1


@dataclass(kw_only=True)
class Mark:
    step: int
    cpu: float
    reads: int


@dataclass(kw_only=True)
class Turning:
    """Plans one step at a time, and notes what the run has used so far."""

    world: Pages
    steps: int
    reads: Callable[[], int]
    marks: list[Mark] = field(default_factory=list[Mark])

    async def plan(self, context: PlanningContext) -> PlanDraft:
        self.marks.append(Mark(step=self.world.page, cpu=time.process_time(), reads=self.reads()))
        if self.world.page >= self.steps:
            return PlanDraft(verdict="done", detail="the last page")
        return PlanDraft(steps=(Draft(zone="next", skill="turn"),))


class CountingStore(SqliteStore):
    """Counts the records that are read from it."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.reads = 0
        for name in READS:
            setattr(self, name, self._counted(getattr(self, name)))

    def _counted(self, read: Callable[..., Any]) -> Callable[..., Any]:
        async def counted(*values: Any, **named: Any) -> Any:
            found = await read(*values, **named)
            self.reads += len(found) if isinstance(found, tuple) else found is not None
            return found

        return counted


async def measure(steps: int) -> dict[str, Any]:
    window = min(100, steps // 4)
    with tempfile.TemporaryDirectory() as folder:
        ceilings = dict.fromkeys(("max_calls", "max_replans", "max_segments"), str(3 * steps))
        settings = Settings.load(overrides={"home": folder, "max_wall_seconds": "36000", **ceilings})
        world, store = Pages(), CountingStore(Path(folder) / "midcourse.db")
        planner = Turning(world=world, steps=steps, reads=lambda: store.reads)
        try:
            result = await Agent(world=world, planner=planner, settings=settings, store=store).run("Read the book")
            replayed = await check_replay(store)
        finally:
            store.close()
    marks = {mark.step: mark for mark in planner.marks}
    rows = [_window(marks, begin, begin + window) for begin in range(0, steps - window + 1, window)]
    early, late = rows[1], _window(marks, steps - window, steps)
    return {
        "steps": world.page,
        "completed": result.success,
        "window": window,
        "early_ms": early["ms"],
        "late_ms": late["ms"],
        "ratio": round(late["ms"] / early["ms"], 3),
        "early_reads": early["reads"],
        "late_reads": late["reads"],
        "reads_ratio": round(late["reads"] / early["reads"], 3),
        "windows": rows,
        "again": asdict(replayed),
    }


def _window(marks: dict[int, Mark], begin: int, end: int) -> dict[str, Any]:
    steps, first, last = end - begin, marks[begin], marks[end]
    return {
        "from": begin,
        "to": end,
        "ms": round((last.cpu - first.cpu) * 1000 / steps, 2),
        "reads": round((last.reads - first.reads) / steps, 2),
    }


def format_summary(summary: dict[str, Any]) -> str:
    rows = summary["windows"]
    shown = [row for row in rows if row is rows[1] or row["to"] % (5 * summary["window"]) == 0 or row is rows[-1]]
    header = ["steps", "CPU ms a step", "records read a step"]
    return format_table(
        header, [[f"{row['from']} to {row['to']}", f"{row['ms']:.2f}", f"{row['reads']:.2f}"] for row in shown]
    )


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--steps", type=int, default=2000, help="of the one run, at least 40")
    args = parser.parse_args()
    if args.steps < 40:
        parser.error("--steps must be at least 40")
    began = time.monotonic()
    summary = asyncio.run(measure(args.steps))
    summary |= {"seconds": round(time.monotonic() - began, 1), "machine": describe_machine()}
    report(args, "growth", summary, format_summary(summary))
    return 1 if summary["again"]["differing"] else 0


if __name__ == "__main__":
    sys.exit(main())
