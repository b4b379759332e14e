"""Does an outline help, and how accurate must the judge of its progress be?

    python -m benchmarks.outline --runs 1000 --json

Each run looks for one dialog in a desktop application generated from its seed. All arms have the same planner, which tries
what the current goal of the outline names, if it gets one, and then what has most to do with the task; and the same 24 calls,
which plans, the outline and judgements share. The outliner is right about three steps of the way in four. The judge
of progress reports a wrong number as often as its column shows, and always points at something on the screen. Seeds are
paired; the rule of the automatic arm was looked at on seeds below 1,000 only, and those reported here begin at 20,000.

reached    the dialog was open in the end, as the application itself has it
calls      mean, of all runs
drawn      runs in which an outline was drawn
against    difference to `off` in points, and the lower bound of its one-sided 95 % interval
"""

import json
import math
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass

from benchmarks.harness.report import Share, describe_machine, format_table, keep, make_parser
from benchmarks.search.outline_search import Search, run_search

FIRST_SEED = 20_000
ERRORS = (0.0, 0.1, 0.2, 0.4, 0.8)
MARGIN = 2.0
"""Points by which an automatic outline may be worse than none before it counts as inferior."""
Z = 1.644854
"""One-sided, 95 %."""

Cell = tuple[str, float, int, int]


@dataclass(frozen=True)
class Row:
    outline: str
    error: float
    runs: int
    reached: Share
    calls: float
    plans: float
    drawn: float
    regressions: float
    against: float
    """Points."""
    at_least: float
    """Lower bound of that."""


def measure(cell: Cell) -> list[Search]:
    outline, error, first, count = cell
    assert outline in ("off", "on", "auto")
    return [run_search(outline, error, seed) for seed in range(first, first + count)]


def summarize(outline: str, error: float, found: Sequence[Search], off: Sequence[Search]) -> Row:
    n = len(found)
    differences = [int(one.reached) - int(other.reached) for one, other in zip(found, off, strict=True)]
    mean = sum(differences) / n
    spread = math.sqrt(sum((each - mean) ** 2 for each in differences) / max(1, n - 1) / n)
    return Row(
        outline=outline,
        error=error,
        runs=n,
        reached=Share.of(sum(one.reached for one in found), n),
        calls=round(sum(one.calls for one in found) / n, 2),
        plans=round(sum(one.plans for one in found) / n, 2),
        drawn=round(sum(one.drawn for one in found) / n, 4),
        regressions=round(sum(one.regressions for one in found) / n, 2),
        against=round(100 * mean, 2),
        at_least=round(100 * (mean - Z * spread), 2),
    )


def measure_rows(runs: int, first: int, jobs: int) -> list[Row]:
    arms = [("off", 0.0), *((outline, error) for outline in ("on", "auto") for error in ERRORS)]
    size = max(1, min(50, runs))
    cells = [
        (outline, error, start, min(size, first + runs - start))
        for outline, error in arms
        for start in range(first, first + runs, size)
    ]
    found: dict[tuple[str, float], list[Search]] = {arm: [] for arm in arms}
    with ProcessPoolExecutor(jobs) as pool:
        for cell, searches in zip(cells, pool.map(measure, cells), strict=True):
            found[cell[0], cell[1]] += searches
    return [summarize(outline, error, found[outline, error], found["off", 0.0]) for outline, error in arms]


def format_rows(rows: Sequence[Row]) -> str:
    header = [
        "outline",
        "judge errs",
        "reached %",
        "calls",
        "plans",
        "drawn %",
        "regressions",
        "against off",
        "at least",
    ]
    return format_table(
        header,
        [
            [
                row.outline,
                "—" if row.outline == "off" else f"{100 * row.error:.0f} %",
                str(row.reached),
                f"{row.calls:.1f}",
                f"{row.plans:.1f}",
                f"{100 * row.drawn:.0f}",
                f"{row.regressions:.2f}",
                "" if row.outline == "off" else f"{row.against:+.1f}",
                "" if row.outline == "off" else f"{row.at_least:+.1f}",
            ]
            for row in rows
        ],
    )


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--runs", type=int, default=1000, help="applications for each arm and error rate")
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    began = time.monotonic()
    rows = measure_rows(args.runs, args.first_seed, args.jobs)
    inferior = [row.error for row in rows if row.outline == "auto" and row.at_least <= -MARGIN]
    helps = [row.error for row in rows if row.outline == "on" and row.at_least > 0]
    verdict = (
        f"automatic is {'not inferior to off at any error rate' if not inferior else f'not shown to be as good as off at {inferior}'} "
        f"(margin {MARGIN:g} points); on beats off at {helps or 'no error rate'}"
    )
    text = f"{format_rows(rows)}\n\n{verdict}"
    summary: dict[str, object] = {
        "runs": args.runs,
        "first_seed": args.first_seed,
        "seconds": round(time.monotonic() - began, 1),
        "machine": describe_machine(),
        "rows": [asdict(row) for row in rows],
        "inferior": inferior,
        "helps": helps,
    }
    print(text)
    if args.keep:
        keep("outline", summary, text)
    if args.json:
        print(json.dumps(summary))
    return 0


if __name__ == "__main__":
    sys.exit(main())
