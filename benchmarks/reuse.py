"""Is a known task repeated with new inputs, without a model call and without old values?

    python -m benchmarks.reuse --seeds 100 --json --keep

Twenty tasks, ten in the simulated worlds and ten in a real Chromium in the applications that we ship. Each is done once, and
then with all inputs changed:

again      where nothing else has changed: the application is as it was
goes on    in the same application, which now shows what the first run left there
drift      where pages and requests misbehave by chance, by seed; the same seeds with and without reuse

right      the application's own record has what the task asks for, with the inputs of this run, once, and nothing else
foreign    runs in which it received a value of the other inputs
calls      planner calls, mean; the planner counts them itself and stands for a model
completed  success was reported and verified, and the record is right

Half of the planners write the values of inputs out, the other half refer to them. `besides` are three tasks that are not among the
twenty because a page is another one with other inputs, and a model is needed: a value of two characters in a title, which
is not recognised, and the pages of other records.
"""

import asyncio
import json
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass

from benchmarks.harness.report import Share, describe_machine, format_table, keep, make_parser
from benchmarks.reuse_tasks.case import Case
from benchmarks.reuse_tasks.pages import BESIDES, PAGES
from benchmarks.reuse_tasks.simulated import SIMULATED
from benchmarks.reuse_tasks.trial import Outcome, run
from midcourse.domain.records.plan_cache import KeptSegment
from midcourse.testing import MemoryPlanCache

WORLDS: dict[str, Sequence[Case]] = {"simulated": SIMULATED, "browser": PAGES, "besides": BESIDES}
FIRST_SEED = 5000
Cell = tuple[str, int]
"""World, and which of its cases."""


@dataclass(frozen=True, kw_only=True)
class Measured:
    world: str
    case: str
    first: Outcome
    again: Outcome
    without: Outcome
    """The same as `again`, with nothing kept."""
    goes_on: Outcome
    drift: list[Outcome]
    drift_without: list[Outcome]

    def told(self) -> dict[str, object]:
        """In short; whole where something went wrong."""
        calm = {"first": self.first, "again": self.again, "without": self.without, "goes on": self.goes_on}
        worse = [
            {"seed": number, "with": asdict(ours), "without": asdict(theirs)}
            for number, (ours, theirs) in enumerate(zip(self.drift, self.drift_without, strict=True))
            if theirs.completed and not ours.completed
        ]
        return {
            "world": self.world,
            "case": self.case,
            "calls": {name: one.calls for name, one in calm.items()},
            "incomplete": [asdict(one) for one in calm.values() if not one.completed],
            "drift": {
                "completed": sum(one.completed for one in self.drift),
                "without": sum(one.completed for one in self.drift_without),
                "worse": worse,
            },
        }

    @property
    def outcomes(self) -> list[Outcome]:
        return [self.first, self.again, self.without, self.goes_on, *self.drift, *self.drift_without]


def measure(cell: Cell, seeds: Sequence[int]) -> Measured:
    world, number = cell
    return asyncio.run(_measure(world, WORLDS[world][number], seeds))


async def _measure(world: str, case: Case, seeds: Sequence[int]) -> Measured:
    one, other = case.inputs
    with case.start() as started:
        taught = MemoryPlanCache()
        first = await run(case, started, one, taught)
        segments = await taught.all()
        goes_on = await run(case, started, other, await _copy(segments), others=one, fresh=False)
        again = await run(case, started, other, await _copy(segments), others=one)
        without = await run(case, started, other, None, others=one)
        drift = [await run(case, started, other, await _copy(segments), others=one, seed=seed) for seed in seeds]
        drift_without = [await run(case, started, other, None, others=one, seed=seed) for seed in seeds]
    return Measured(
        world=world,
        case=case.name,
        first=first,
        again=again,
        without=without,
        goes_on=goes_on,
        drift=drift,
        drift_without=drift_without,
    )


async def _copy(segments: Sequence[KeptSegment]) -> MemoryPlanCache:
    """What the first run taught, and no more: otherwise the runs of a seed would depend on those before."""
    copy = MemoryPlanCache()
    await copy.keep(*segments)
    return copy


@dataclass(frozen=True, kw_only=True)
class Row:
    """Of all cases of a world under one condition."""

    world: str
    condition: str
    runs: int
    right: int
    completed: Share
    foreign: int
    calls: float
    calls_without: float
    asked_nobody: int
    """Runs without any planner call."""


def row(world: str, condition: str, outcomes: Sequence[Outcome], without: Sequence[Outcome]) -> Row:
    n = len(outcomes)
    return Row(
        world=world,
        condition=condition,
        runs=n,
        right=sum(one.right for one in outcomes),
        completed=Share.of(sum(one.completed for one in outcomes), n),
        foreign=sum(one.foreign for one in outcomes),
        calls=_mean([one.calls for one in outcomes]),
        calls_without=_mean([one.calls for one in without]),
        asked_nobody=sum(one.calls == 0 for one in outcomes),
    )


def _mean(numbers: Sequence[int]) -> float:
    return round(sum(numbers) / len(numbers), 2) if numbers else 0.0


def rows_of(measured: Sequence[Measured]) -> list[Row]:
    rows: list[Row] = []
    for world in dict.fromkeys(one.world for one in measured):
        here = [one for one in measured if one.world == world]
        without = [one.without for one in here]
        drift = [outcome for one in here for outcome in one.drift]
        plain = [outcome for one in here for outcome in one.drift_without]
        rows.append(row(world, "first", [one.first for one in here], [one.first for one in here]))
        rows.append(row(world, "again", [one.again for one in here], without))
        rows.append(row(world, "goes on", [one.goes_on for one in here], without))
        if drift:
            rows.append(row(world, "drift", drift, plain))
            rows.append(row(world, "drift, without reuse", plain, plain))
    return rows


def text(rows: Sequence[Row]) -> str:
    header = [
        "world",
        "condition",
        "runs",
        "right",
        "foreign",
        "completed % (95 %)",
        "calls",
        "without reuse",
        "no call",
    ]
    body = [
        [
            row.world,
            row.condition,
            str(row.runs),
            str(row.right),
            str(row.foreign),
            str(row.completed),
            f"{row.calls:.2f}",
            f"{row.calls_without:.2f}",
            str(row.asked_nobody),
        ]
        for row in rows
    ]
    return format_table(header, body)


def broken_claims(measured: Sequence[Measured]) -> list[str]:
    """What the benchmark is there to show, and did not."""
    twenty = [one for one in measured if one.world != "besides"]
    runs = [(one.case, each) for one in measured for each in one.outcomes]
    broken = [f"{case}: the application received an old value" for case, each in runs if each.foreign]
    broken += [f"{case}: {each.told_calls} calls told, {each.calls} made" for case, each in runs if each.miscounted]
    broken += [f"{case}: a run came out otherwise when it was replayed" for case, each in runs if each.differing]
    broken += [f"{one.case}: not done again as asked for" for one in measured if not one.again.completed]
    broken += [f"{one.case}: {one.again.calls} calls although nothing had changed" for one in twenty if one.again.calls]
    completed = sum(each.completed for one in measured for each in one.drift)
    plain = sum(each.completed for one in measured for each in one.drift_without)
    if completed < plain:
        broken.append(f"{completed} runs completed under drift, {plain} without reuse")
    return broken


def run_all(cells: Sequence[Cell], seeds: int, first_seed: int, jobs: int) -> list[Measured]:
    with ProcessPoolExecutor(jobs) as pool:
        waiting = [pool.submit(measure, cell, _seeds(cell[0], seeds, first_seed)) for cell in cells]
        for done, one in enumerate(waiting, start=1):
            print(f"{done}/{len(waiting)}: {one.result().case}", file=sys.stderr)
        return [one.result() for one in waiting]


def _seeds(world: str, seeds: int, first: int) -> range:
    """A tenth of them in the browser, where a run takes seconds."""
    return range(first, first + (seeds if world == "simulated" else seeds // 10))


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--seeds", type=int, default=100, help="of drift, for each task; a tenth of it in the browser")
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    parser.add_argument("--only", choices=WORLDS, help="only the cases of this world")
    parser.add_argument("--cases", type=int, help="only so many of each world")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    began = time.monotonic()
    worlds = [args.only] if args.only else list(WORLDS)
    cells = [(world, number) for world in worlds for number in range(len(WORLDS[world][: args.cases]))]
    measured = run_all(cells, args.seeds, args.first_seed, args.jobs)
    rows, broken = rows_of(measured), broken_claims(measured)
    summary: dict[str, object] = {
        "seeds": args.seeds,
        "rows": [asdict(row) for row in rows],
        "broken": broken,
        "cases": [one.told() for one in measured],
        "again": {
            "replayed": sum(len(one.outcomes) for one in measured),
            "differing": sum(each.differing for one in measured for each in one.outcomes),
        },
        "seconds": round(time.monotonic() - began, 1),
        "machine": describe_machine(),
    }
    if args.keep:
        keep("reuse", summary, text(rows))
    if not args.json:
        print(text(rows))
        print("\n".join(broken))
    print(json.dumps(summary))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
