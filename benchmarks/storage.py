"""What does a run keep in PostgreSQL: while it waits for an answer, when it has ended, and after it was pruned?

    python -m benchmarks.storage --runs 50 --steps 30 --json

Runs on a page of `--elements` elements, as in `benchmarks.bytes`. Half of them wait for an approval before their first step; the others
end after `--steps` steps. Sizes are those of all tables with their indexes after VACUUM FULL, less those of the empty ones.
"""

import asyncio
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psycopg

from benchmarks.bytes import Filling, Form
from benchmarks.harness.report import describe_machine, format_table, make_parser, report
from midcourse import Agent, Draft, PlanDraft, Settings, Zone, skill
from midcourse.config.defaults import LeaveOpen
from midcourse.domain.phases import Asking
from midcourse.ports.planner import PlanningContext
from midcourse.store.postgres import PostgresStore
from midcourse.store.postgres import development as postgres
from midcourse.store.postgres.connections import OWNER
from midcourse.store.postgres.migrate import migrate

TENANT = "bench"
SIZE = """SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
WHERE nspname = 'midcourse' AND relkind = 'r'"""

OTHER_SNAPSHOTS = "SELECT count(*) FROM pg_stat_activity WHERE backend_xmin IS NOT NULL AND pid <> pg_backend_pid()"
"""VACUUM keeps deleted rows that another snapshot, such as that of an autovacuum, may still see."""


class Order(Form):
    """A page of fields with something irreversible in it."""

    @skill(effect="irreversible")
    def send(self, zone: Zone) -> None:
        raise AssertionError("this is never approved")


class Sending:
    async def plan(self, context: PlanningContext) -> PlanDraft:
        return PlanDraft(steps=(Draft(zone="z0", skill="send"),), final=True)


def measure_size(url: str) -> int:
    with psycopg.connect(url, autocommit=True) as connection:
        while connection.execute(OTHER_SNAPSHOTS).fetchone() != (0,):
            time.sleep(0.05)
        connection.execute("VACUUM FULL")
        found = connection.execute(SIZE).fetchone()
    return found[0] if found else 0


async def wait_for_approval(store: PostgresStore, settings: Settings, elements: int) -> None:
    agent = Agent(Order(elements), Sending(), approver=LeaveOpen(), settings=settings, store=store)
    run = agent.start("Send the form")
    async for turn in run:
        if isinstance(turn.run.phase, Asking):
            break
    await run.stop()


async def measure(runs: int, steps: int, elements: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        url = await asyncio.to_thread(postgres.start, folder / "postgres")
        try:
            await asyncio.to_thread(migrate, url)
            return await _measure(url, folder, runs, steps, elements)
        finally:
            await asyncio.to_thread(postgres.remove, folder / "postgres")


async def _measure(url: str, folder: Path, runs: int, steps: int, elements: int) -> dict[str, Any]:
    most = dict.fromkeys(("max_calls", "max_replans", "max_segments"), str(10 * steps + 100))
    settings = Settings.load(overrides={"home": str(folder), **most})
    async with PostgresStore(url, tenant=TENANT) as store:
        sizes = [measure_size(url)]
        for _ in range(runs):
            await wait_for_approval(store, settings, elements)
        sizes.append(measure_size(url))
        for _ in range(runs):
            world = Form(elements)
            result = await Agent(world, Filling(world, steps), settings=settings, store=store).run("Fill in the form")
            assert result.success, result
        sizes.append(measure_size(url))
    async with PostgresStore(url, tenant=TENANT, role=OWNER) as owner:
        ended = await owner.find_prunable(time.time() + 1, None)
        assert await owner.prune(ended, time.time()) == runs
    sizes.append(measure_size(url))
    empty, waiting, ended_size, pruned = sizes
    return {
        "runs": runs,
        "steps": steps,
        "elements": elements,
        "waiting": round((waiting - empty) / runs),
        "ended": round((ended_size - waiting) / runs),
        "step": round((ended_size - waiting) / runs / steps),
        "pruned": round((pruned - waiting) / runs),
    }


def is_right(summary: dict[str, Any]) -> bool:
    """A pruned run keeps no more than a third of what it kept; of few runs, mostly pages that are not full."""
    return summary["pruned"] <= summary["ended"] / 3


def format_summary(summary: dict[str, Any]) -> str:
    rows = [
        ["waits for an approval", f"{summary['waiting']:,}"],
        [f"ended after {summary['steps']} steps", f"{summary['ended']:,}"],
        ["of it a step", f"{summary['step']:,}"],
        ["pruned", f"{summary['pruned']:,}"],
    ]
    return format_table([f"a run on a page of {summary['elements']} elements", "bytes in PostgreSQL"], rows)


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--runs", type=int, default=50, help="of each kind")
    parser.add_argument("--steps", type=int, default=30, help="of the runs that end")
    parser.add_argument("--elements", type=int, default=500, help="of the page")
    args = parser.parse_args()
    began = time.monotonic()
    summary = asyncio.run(measure(args.runs, args.steps, args.elements))
    summary |= {"seconds": round(time.monotonic() - began, 1), "machine": describe_machine()}
    report(args, "storage", summary, format_summary(summary))
    return 0 if is_right(summary) else 1


if __name__ == "__main__":
    sys.exit(main())
