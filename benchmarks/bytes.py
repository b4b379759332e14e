"""What does a local step leave on the disk? Bytes kept and written, and flushes, on pages of 50, 500 and 5,000 elements.

    python -m benchmarks.bytes --steps 100 --json

One run per page: each step fills a field, which changes two elements, is in the ledger, and is observed; a plan has ten steps, and
no model is called. `kept` is the database after the run, without its empty tables. `whole` is what it would be if observations were
stored whole, as they were before. `written` is everything that the process wrote. A flush is a commit that the disk confirms.
The last row is a run of `--load` steps: the CPU time of loading it, as a process does that resumes it.
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from benchmarks.harness.report import describe_machine, format_table, make_parser, report
from midcourse import Agent, BaseWorld, Draft, PlanDraft, Scene, Settings, Zone, skill
from midcourse.codec import encode
from midcourse.domain.observation import Observation
from midcourse.ports.planner import PlanningContext
from midcourse.store.sqlite import SqliteStore

SIZES = (50, 500, 5000)
SEGMENT = 10


class Form(BaseWorld):
    """A page of fields, and a counter that changes with each of them."""

    def __init__(self, elements: int) -> None:
        super().__init__()
        self.values = [""] * (elements - 1)
        self.filled = 0

    def look(self) -> Scene:
        fields = (
            Zone(
                id=f"z{place}",
                role="textbox",
                label=f"Amount of invoice {place}",
                bounds=(240, 80 + 32 * place, 180, 28),
                state=(("value", value), ("enabled", True), ("seen", place < 20)),
            )
            for place, value in enumerate(self.values)
        )
        return Scene("Invoices", Zone(id="count", role="status", label=f"{self.filled} filled"), *fields)

    @skill(effect="reversible")
    def fill(self, zone: Zone, text: str) -> None:
        self.values[int(zone.id[1:])] = text
        self.filled += 1


class Filling:
    """Plans ten fields at a time."""

    def __init__(self, world: Form, steps: int) -> None:
        self.world, self.steps = world, steps

    async def plan(self, context: PlanningContext) -> PlanDraft:
        done, fields = self.world.filled, len(self.world.values)
        if done >= self.steps:
            return PlanDraft(verdict="done", detail="all filled")
        steps = (
            Draft(zone=f"z{number % fields}", skill="fill", arguments={"text": str(number)})
            for number in range(done, min(done + SEGMENT, self.steps))
        )
        return PlanDraft(steps=tuple(steps), final=False)


class CountingStore(SqliteStore):
    """Counts flushes, and the bytes of observations as they would be without packing."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.flushes = 0
        self.observed = 0

    @contextmanager
    def _transaction(self, *, durable: bool = False) -> Generator[None]:
        self.flushes += durable
        with super()._transaction(durable=durable):
            yield

    async def save_observation(self, run_id: str, observation: Observation) -> None:
        self.observed += len(encode(observation).encode())
        await super().save_observation(run_id, observation)

    def size(self) -> int:
        """Bytes of all rows. Free pages do not count."""
        pages, free, size = (
            self._fetch_one(f"PRAGMA {name}")[0] for name in ("page_count", "freelist_count", "page_size")
        )
        return (pages - free) * size

    def observations(self) -> int:
        return self._fetch_one("SELECT coalesce(sum(length(body)), 0) FROM observations")[0]


async def fill_in(elements: int, steps: int, folder: Path) -> dict[str, Any]:
    most = str(10 * steps + 100)
    ceilings = dict.fromkeys(("max_calls", "max_replans", "max_segments"), most)
    settings = Settings.load(overrides={"home": str(folder), "max_wall_seconds": "36000", **ceilings})
    world = Form(elements)
    with closing(CountingStore(folder / "midcourse.db")) as store:
        empty, before = store.size(), _written()
        agent = Agent(world=world, planner=Filling(world, steps), settings=settings, store=store)
        result = await agent.run("Fill in the form")
        written, kept = _written() - before, store.size() - empty
        whole = kept - store.observations() + store.observed
        began = time.process_time()
        await store.load(result.run)
        loaded = time.process_time() - began
    return {
        "elements": elements,
        "steps": world.filled,
        "completed": result.success,
        "kept": round(kept / steps),
        "whole": round(whole / steps),
        "ratio": round(kept / whole, 4),
        "written": round(written / steps),
        "flushes": round(store.flushes / steps, 2),
        "load_ms": round(loaded * 1000, 2),
    }


def _written() -> int:
    """Bytes that this process has passed to the system for writing."""
    lines = Path("/proc/self/io").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("wchar"))


async def measure(sizes: Sequence[int], steps: int, load: int) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    for elements, count in [*((size, steps) for size in sizes), (sizes[0], load)]:
        with tempfile.TemporaryDirectory() as folder:
            print(f"{count} steps on a page of {elements} elements", file=sys.stderr)
            rows.append(await fill_in(elements, count, Path(folder)))
    return {"steps": steps, "load": load, "pages": rows}


def is_right(summary: dict[str, Any]) -> bool:
    """The bars: a twentieth of whole observations at 500 elements, 2.5 flushes per step, and 60 ms to load."""
    rows = summary["pages"]
    return (
        all(row["completed"] and row["flushes"] <= 2.5 for row in rows)
        and rows[1]["ratio"] <= 1 / 20
        and rows[-1]["load_ms"] <= 60
    )


def text(summary: dict[str, Any]) -> str:
    header = ["elements", "steps", "kept a step", "whole", "ratio", "written a step", "flushes a step", "load, CPU ms"]
    names = ("elements", "steps", "kept", "whole", "ratio", "written", "flushes", "load_ms")
    return format_table(header, [[f"{row[name]:,}" for name in names] for row in summary["pages"]])


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="elements of the pages")
    parser.add_argument("--steps", type=int, default=100, help="of each run")
    parser.add_argument("--load", type=int, default=5000, help="steps of the run that is loaded")
    args = parser.parse_args()
    began = time.monotonic()
    summary = asyncio.run(measure(args.sizes, args.steps, args.load))
    summary |= {"seconds": round(time.monotonic() - began, 1), "machine": describe_machine()}
    report(args, "bytes", summary, text(summary))
    return 0 if is_right(summary) else 1


if __name__ == "__main__":
    sys.exit(main())
