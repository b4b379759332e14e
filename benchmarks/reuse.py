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

    def summarize(self) -> dict[str, object]:
        """Return the figures of a case, with the full outcomes where something went wrong."""
        calm = {"first": self.first, "again": self.again, "without": self.without, "goes on": self.goes_on}
        worse = [
            {"seed": number, "with": asdict(ours), "without": asdict(theirs)}
            for number, (ours, theirs) in enumerate(zip(self.drift, self.drift_without, strict=True))
            if theirs.completed and not ours.completed
        ]
        return {
            "world": self.world,
            "case": self.case,
            "calls": {name: outcome.calls for name, outcome in calm.items()},
            "incomplete": [asdict(outcome) for outcome in calm.values() if not outcome.completed],
            "drift": {
                "completed": sum(outcome.completed for outcome in self.drift),
                "without": sum(outcome.completed for outcome in self.drift_without),
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
    first_inputs, other_inputs = case.inputs
    with case.start() as started:
        first_cache = MemoryPlanCache()
        first = await run(case, started, first_inputs, first_cache)
        segments = await first_cache.all()
        goes_on = await run(case, started, other_inputs, await _copy(segments), others=first_inputs, fresh=False)
        again = await run(case, started, other_inputs, await _copy(segments), others=first_inputs)
        without = await run(case, started, other_inputs, None, others=first_inputs)
        drift = [
            await run(case, started, other_inputs, await _copy(segments), others=first_inputs, seed=seed)
            for seed in seeds
        ]
        drift_without = [await run(case, started, other_inputs, None, others=first_inputs, seed=seed) for seed in seeds]
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
    """Return a cache with only the segments of the first run, so that a run does not depend on the runs before it."""
    copy = MemoryPlanCache()
    await copy.keep(*segments)
    return copy


@dataclass(frozen=True, kw_only=True)
class Row:
    """The figures of all cases of a world under one condition."""

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


def make_row(world: str, condition: str, outcomes: Sequence[Outcome], without: Sequence[Outcome]) -> Row:
    n = len(outcomes)
    return Row(
        world=world,
        condition=condition,
        runs=n,
        right=sum(outcome.right for outcome in outcomes),
        completed=Share.of(sum(outcome.completed for outcome in outcomes), n),
        foreign=sum(outcome.foreign for outcome in outcomes),
        calls=_mean([outcome.calls for outcome in outcomes]),
        calls_without=_mean([outcome.calls for outcome in without]),
        asked_nobody=sum(outcome.calls == 0 for outcome in outcomes),
    )


def _mean(numbers: Sequence[int]) -> float:
    return round(sum(numbers) / len(numbers), 2) if numbers else 0.0


def make_rows(measured: Sequence[Measured]) -> list[Row]:
    rows: list[Row] = []
    for world in dict.fromkeys(one.world for one in measured):
        here = [one for one in measured if one.world == world]
        without = [one.without for one in here]
        drift = [outcome for one in here for outcome in one.drift]
        plain = [outcome for one in here for outcome in one.drift_without]
        rows.append(make_row(world, "first", [one.first for one in here], [one.first for one in here]))
        rows.append(make_row(world, "again", [one.again for one in here], without))
        rows.append(make_row(world, "goes on", [one.goes_on for one in here], without))
        if drift:
            rows.append(make_row(world, "drift", drift, plain))
            rows.append(make_row(world, "drift, without reuse", plain, plain))
    return rows


def format_rows(rows: Sequence[Row]) -> str:
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


def find_broken_claims(measured: Sequence[Measured]) -> list[str]:
    """Return the claims of the benchmark that do not hold."""
    main_cases = [case_result for case_result in measured if case_result.world != "besides"]
    runs = [(case_result.case, outcome) for case_result in measured for outcome in case_result.outcomes]
    broken = [f"{case}: the application received an old value" for case, outcome in runs if outcome.foreign]
    broken += [
        f"{case}: {outcome.told_calls} calls told, {outcome.calls} made" for case, outcome in runs if outcome.miscounted
    ]
    broken += [f"{case}: a run came out otherwise when it was replayed" for case, outcome in runs if outcome.differing]
    broken += [
        f"{case_result.case}: not done again as asked for"
        for case_result in measured
        if not case_result.again.completed
    ]
    broken += [
        f"{case_result.case}: {case_result.again.calls} calls although nothing had changed"
        for case_result in main_cases
        if case_result.again.calls
    ]
    completed = sum(outcome.completed for case_result in measured for outcome in case_result.drift)
    plain = sum(outcome.completed for case_result in measured for outcome in case_result.drift_without)
    if completed < plain:
        broken.append(f"{completed} runs completed under drift, {plain} without reuse")
    return broken


def run_all(cells: Sequence[Cell], seeds: int, first_seed: int, jobs: int) -> list[Measured]:
    with ProcessPoolExecutor(jobs) as pool:
        futures = [pool.submit(measure, cell, _select_seeds(cell[0], seeds, first_seed)) for cell in cells]
        for done, future in enumerate(futures, start=1):
            print(f"{done}/{len(futures)}: {future.result().case}", file=sys.stderr)
        return [future.result() for future in futures]


def _select_seeds(world: str, seeds: int, first: int) -> range:
    """Return the seeds for a world: a tenth of them in the browser, where a run takes seconds."""
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
    rows, broken = make_rows(measured), find_broken_claims(measured)
    summary: dict[str, object] = {
        "seeds": args.seeds,
        "rows": [asdict(row) for row in rows],
        "broken": broken,
        "cases": [one.summarize() for one in measured],
        "again": {
            "replayed": sum(len(one.outcomes) for one in measured),
            "differing": sum(each.differing for one in measured for each in one.outcomes),
        },
        "seconds": round(time.monotonic() - began, 1),
        "machine": describe_machine(),
    }
    if args.keep:
        keep("reuse", summary, format_rows(rows))
    if not args.json:
        print(format_rows(rows))
        print("\n".join(broken))
    print(json.dumps(summary))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
