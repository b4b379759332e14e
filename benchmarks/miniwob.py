"""How many MiniWoB++ tasks are solved with a new observation at every transition, and without?

    python -m benchmarks.miniwob --json

MiniWoB++ (PyPI `miniwob`) carries 130 small tasks as web pages, each with its own reward. Every task of ours has one
rule-based planner that sees the utterance and the zones of the screen, nothing else, and both arms use it: `fixed`
carries out the plan of the first screen, `segments` observes again where the plan asks for it and where a step fails.
Rules were written on seeds 0 to 19 and are reported on seeds 1000 to 1019. The pages' time limit is lifted.

solved    the page's own reward, without its discount for time, is full
plans     planner calls, mean
worse     seeds that only `fixed` solved beside those that only `segments` solved, where that is significant (one-sided
          sign test, 5 %)
"""

import asyncio
import json
import math
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path

from benchmarks.harness.report import RESULTS, Share, describe_machine, format_table, keep, make_parser
from benchmarks.miniwob_tasks.episode import Episodes
from benchmarks.miniwob_tasks.pages import pages, serve_pages
from benchmarks.miniwob_tasks.rules import RULES
from benchmarks.miniwob_tasks.skipped import SKIPPED
from benchmarks.miniwob_tasks.trial import ARMS, Arm, Trial, run_episode

FIRST_SEED = 1000
WANTED = 0.97

Cell = tuple[str, Arm, int]


class Log:
    """Trials as they end, a line each, in a file if there is one: an interrupted run continues from there."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        lines = path.read_text(encoding="utf-8").splitlines() if path and path.exists() else []
        self.trials = [Trial(**json.loads(line)) for line in lines]

    def lacks(self, cell: Cell) -> bool:
        return all((trial.task, trial.arm, trial.seed) != cell for trial in self.trials)

    def add(self, trial: Trial) -> None:
        self.trials.append(trial)
        if self._path:
            with self._path.open("a", encoding="utf-8") as file:
                print(json.dumps(asdict(trial)), file=file)
        if not trial.solved:
            print(f"{trial.arm}, {trial.task} {trial.seed}: {trial.reason}, {trial.detail}", file=sys.stderr)


async def run(cells: Sequence[Cell], jobs: int, log: Log) -> list[Trial]:
    """Run the cells that the log lacks. Each job has a browser and takes the next episode when it has finished one."""
    cells_left = iter([cell for cell in cells if log.lacks(cell)])
    with serve_pages() as origin:
        async with asyncio.TaskGroup() as group:
            for _ in range(jobs):
                group.create_task(_run_episodes(Episodes(origin), cells_left, log))
    asked = set(cells)
    return [trial for trial in log.trials if (trial.task, trial.arm, trial.seed) in asked]


async def _run_episodes(episodes: Episodes, cells_left: Iterator[Cell], log: Log) -> None:
    try:
        for task, arm, seed in cells_left:
            log.add(await run_episode(episodes, task, seed, arm))
    finally:
        await episodes.end()


@dataclass(frozen=True)
class Row:
    task: str
    changes: bool
    fixed: Share
    segments: Share
    plans: float
    worse: str
    ended: dict[str, int]
    """Why the segments that did not solve it ended."""


def row(task: str, trials: Sequence[Trial]) -> Row:
    solved = {arm: {t.seed for t in trials if t.arm == arm and t.solved} for arm in ARMS}
    ours = [trial for trial in trials if trial.arm == "segments"]
    reasons = [trial.reason for trial in ours if not trial.solved]
    lost, won = len(solved["fixed"] - solved["segments"]), len(solved["segments"] - solved["fixed"])
    return Row(
        task=task,
        changes=RULES[task].changes,
        fixed=Share.of(len(solved["fixed"]), len(ours)),
        segments=Share.of(len(solved["segments"]), len(ours)),
        plans=round(sum(trial.plans for trial in ours) / len(ours), 2),
        worse=f"{lost}:{won}" if is_significant(lost, won) else "",
        ended={reason: reasons.count(reason) for reason in sorted(set(reasons))},
    )


def is_significant(lost: int, won: int) -> bool:
    """Return whether a fair coin gives this many losses or more with a probability below 5 % (one-sided sign test)."""
    throws = lost + won
    return sum(math.comb(throws, heads) for heads in range(lost, throws + 1)) / 2**throws < 0.05


def find_unaccounted() -> set[str]:
    """Return the pages without a rule and without a reason for skipping, and the rules and reasons without a page."""
    return pages() ^ {*RULES, *(task for tasks in SKIPPED.values() for task in tasks)}


@dataclass(frozen=True)
class Overall:
    tasks: int
    fixed: Share
    segments: Share


def overall(trials: Sequence[Trial], changes: bool | None = None) -> Overall:
    """Over all tasks, or over those that change in the middle, or over those that do not."""
    chosen = [trial for trial in trials if changes is None or RULES[trial.task].changes == changes]
    shares = [
        Share.of(sum(t.solved for t in chosen if t.arm == arm), sum(t.arm == arm for t in chosen)) for arm in ARMS
    ]
    return Overall(len({trial.task for trial in chosen}), *shares)


def format_tables(rows: Sequence[Row], trials: Sequence[Trial]) -> str:
    kinds = (("All tasks", None), ("One screen to the end", False), ("The screen changes in the middle", True))
    summary = [
        [name, str(part.tasks), str(part.fixed), str(part.segments)]
        for name, changes in kinds
        if (part := overall(trials, changes)).tasks
    ]
    parts = [format_table(["", "tasks", "fixed % (95 %)", "segments % (95 %)"], summary)]
    header = ["task", "fixed % (95 %)", "segments % (95 %)", "plans", "worse", "not solved, why"]
    for name, changes in kinds[1:]:
        body = [_cells(one) for one in rows if one.changes == changes]
        if body:
            parts.append(f"## {name}\n\n{format_table(header, body)}")
    restarts = sum(trial.restarts for trial in trials)
    parts.append(f"Begun again, because the browser had been ended from outside: {restarts} of {len(trials)} episodes.")
    skipped = sum(map(len, SKIPPED.values()))
    left_out = "\n".join(f"- {why}: {', '.join(tasks)}" for why, tasks in SKIPPED.items())
    return "\n\n".join([*parts, f"## Left out: {skipped} of {skipped + len(RULES)}\n\n{left_out}"])


def _cells(one: Row) -> list[str]:
    why = ", ".join(f"{reason} {often}" for reason, often in one.ended.items())
    return [one.task, str(one.fixed), str(one.segments), f"{one.plans:.2f}", one.worse, why]


def plot(rows: Sequence[Row], path: Path) -> None:
    """The tasks that change, each with both arms; the others lie on top of each other."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    shown = sorted((one for one in rows if one.changes), key=lambda one: (one.fixed.share, one.task))
    figure, axes = pyplot.subplots(figsize=(8, 1 + 0.24 * len(shown)), layout="constrained")
    for shift, arm, colour in ((-0.12, "fixed", "C1"), (0.12, "segments", "C0")):
        shares: list[Share] = [getattr(one, arm) for one in shown]
        places = [place + shift for place in range(len(shown))]
        middle = [100 * one.share for one in shares]
        errors = [[100 * (one.share - one.low) for one in shares], [100 * (one.high - one.share) for one in shares]]
        axes.errorbar(middle, places, xerr=errors, fmt="o", markersize=4, capsize=2, color=colour, label=arm)
    axes.set_yticks(range(len(shown)), [one.task for one in shown], fontsize=8)
    axes.set_xlabel("episodes solved, %")
    axes.set_xlim(-2, 102)
    axes.grid(axis="x", alpha=0.3)
    axes.legend(loc="lower right")
    axes.set_title("MiniWoB++ tasks whose screen changes in the middle")
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--seeds", type=int, default=20, help="episodes per task and arm")
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    parser.add_argument("--tasks", nargs="+", default=sorted(RULES), choices=sorted(RULES), metavar="TASK")
    parser.add_argument("--jobs", type=int, default=2, help="pages at the same time")
    parser.add_argument(
        "--log", type=Path, help="write episodes here as they end, and continue from those already here"
    )
    args = parser.parse_args()
    assert not find_unaccounted(), f"no entry for {', '.join(find_unaccounted())}"
    began = time.monotonic()
    seeds = range(args.first_seed, args.first_seed + args.seeds)
    trials = asyncio.run(run(list(product(args.tasks, ARMS, seeds)), args.jobs, Log(args.log)))
    rows = [row(task, [trial for trial in trials if trial.task == task]) for task in args.tasks]
    everything = overall(trials)
    reached = everything.segments.share >= WANTED and not any(one.worse for one in rows)
    summary: dict[str, object] = {
        "seeds": args.seeds,
        "first_seed": args.first_seed,
        "tasks": len(rows),
        "overall": asdict(everything),
        "unchanging": asdict(overall(trials, False)),
        "changing": asdict(overall(trials, True)),
        "restarts": sum(trial.restarts for trial in trials),
        "worse": [one.task for one in rows if one.worse],
        "reached": reached,
        "rows": [asdict(one) for one in rows],
        "skipped": SKIPPED,
        "seconds": round(time.monotonic() - began, 1),
        "machine": describe_machine(),
    }
    if args.keep:
        keep("miniwob", summary, f"{format_tables(rows, trials)}\n\n![tasks that change](miniwob.png)")
        plot(rows, RESULTS / "miniwob.png")
    if not args.json:
        print(format_tables(rows, trials))
    print(json.dumps(summary))
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
