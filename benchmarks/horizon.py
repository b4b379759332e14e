"""Does a rolling horizon beat a fixed plan and a plain replan loop, and what does each part of it contribute?

    python -m benchmarks.horizon --runs 1000 --json

Every arm runs the same tasks with the same planner in the same worlds, under three drift profiles (`midcourse.worlds.simulated.drift`).
`--runs` is per arm and profile, spread evenly over the tasks. Outcomes are judged by the world's own log. Tuning used seeds below 1,000;
the reported seeds begin at 20,000, because those from 10,000 had been looked at once before admission was fixed.

completed    success was reported, and the world has the effect
twice        runs in which an effect that must happen once happened more than once
false done   success was reported, and the world does not have the effect
calls        planner calls and looks at transitions, mean
again        whether every run of Midcourse had the same result when its journal was replayed
"""

import json
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.harness.arms import ABLATIONS, PLAIN, SEGMENTS, TASKS, Arm, Trial, run_trial
from benchmarks.harness.replay_check import Replayed
from benchmarks.harness.report import RESULTS, Share, describe_machine, format_table, keep, make_parser
from midcourse.worlds.simulated.drift import PROFILES

FIRST_SEED = 20_000
CLAIMED_ELSEWHERE = {"1 segment": 30, "2 segments": 60, "3 segments": 85, "4 segments": 90, "unlimited": 95}
"""Completion in percent as the document that proposed the rolling horizon states it, without a method."""
ARMS = (*SEGMENTS, PLAIN, *ABLATIONS)

Cell = tuple[str, str, int, int]


def run_cell(cell: Cell) -> list[Trial]:
    """Run one chunk of seeds of one arm under one profile."""
    profile, arm_name, first, count = cell
    arm = next(arm for arm in ARMS if arm.name == arm_name)
    return [run_trial(TASKS[seed % len(TASKS)], seed, PROFILES[profile], arm) for seed in range(first, first + count)]


@dataclass(frozen=True)
class Row:
    arm: str
    runs: int
    completed: Share
    twice: int
    false_done: int
    calls: float
    executions: float
    asked: int
    again: Replayed
    by_task: dict[str, Share]
    ended: dict[str, int]
    """The reasons why incomplete runs ended, with their numbers."""


Measured = dict[str, list[Row]]


def summarize_arm(arm: Arm, trials: Sequence[Trial]) -> Row:
    n = len(trials)
    return Row(
        arm=arm.name,
        runs=n,
        completed=Share.of(sum(trial.completed for trial in trials), n),
        twice=sum(trial.twice > 0 for trial in trials),
        false_done=sum(trial.false_done for trial in trials),
        calls=round(sum(trial.calls for trial in trials) / n, 2),
        executions=round(sum(trial.executions for trial in trials) / n, 2),
        asked=sum(trial.asked > 0 for trial in trials),
        again=sum((trial.again for trial in trials), Replayed()),
        by_task={
            task: Share.of(sum(t.completed for t in trials if t.task == task), sum(t.task == task for t in trials))
            for task in TASKS
        },
        ended=_count_reasons(trials),
    )


def _count_reasons(trials: Sequence[Trial]) -> dict[str, int]:
    reasons = [trial.reason for trial in trials if not trial.completed]
    return {reason: reasons.count(reason) for reason in sorted(set(reasons), key=lambda reason: -reasons.count(reason))}


def run_arms(runs: int, first_seed: int, jobs: int, chunk: int = 50) -> Measured:
    cells: list[Cell] = [
        (profile, arm.name, first, min(chunk, first_seed + runs - first))
        for profile in PROFILES
        for arm in ARMS
        for first in range(first_seed, first_seed + runs, chunk)
    ]
    trials: dict[tuple[str, str], list[Trial]] = {}
    with ProcessPoolExecutor(jobs) as pool:
        for done, (cell, part) in enumerate(zip(cells, pool.map(run_cell, cells), strict=True), start=1):
            trials.setdefault(cell[:2], []).extend(part)
            if done % 20 == 0:
                print(f"{done}/{len(cells)} chunks", file=sys.stderr)
    return {profile: [summarize_arm(arm, trials[profile, arm.name]) for arm in ARMS] for profile in PROFILES}


def format_tables(measured: Measured) -> str:
    parts: list[str] = []
    for profile, rows in measured.items():
        header = ["arm", "completed % (95 %)", "claimed elsewhere %", "twice", "false done", "calls", "asked"]
        body = [
            [
                row.arm,
                str(row.completed),
                str(CLAIMED_ELSEWHERE.get(row.arm, "")),
                str(row.twice),
                str(row.false_done),
                f"{row.calls:.2f}",
                str(row.asked),
            ]
            for row in rows
        ]
        parts.append(
            f"## {profile} ({PROFILES[profile].digest}), {rows[0].runs} runs an arm\n\n{format_table(header, body)}"
        )
    return "\n\n".join(parts)


def plot(measured: Measured, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 4.5), layout="constrained")
    segments = [arm.name for arm in SEGMENTS]
    for colour, (profile, rows) in enumerate(measured.items()):
        shares_by_arm = {row.arm: row.completed for row in rows}
        for names, mark, label in ((segments, "o-", profile), ([PLAIN.name], "s", None)):
            shares = [shares_by_arm[name] for name in names]
            middle = [100 * share.share for share in shares]
            errors = [
                [100 * (share.share - share.low) for share in shares],
                [100 * (share.high - share.share) for share in shares],
            ]
            axes.errorbar(names, middle, yerr=errors, fmt=mark, capsize=3, color=f"C{colour}", label=label)
    axes.plot(list(CLAIMED_ELSEWHERE), list(CLAIMED_ELSEWHERE.values()), "k:", label="claimed elsewhere")
    axes.set_ylabel("tasks completed, %")
    axes.set_ylim(0, 102)
    axes.grid(axis="y", alpha=0.3)
    axes.legend(loc="lower right")
    axes.set_title("How far to plan before looking again")
    figure.savefig(path, dpi=110)


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--runs", type=int, default=50, help="per arm and profile")
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    began = time.monotonic()
    measured = run_arms(args.runs, args.first_seed, args.jobs)
    replayed = sum((row.again for rows in measured.values() for row in rows), Replayed())
    summary: dict[str, object] = {
        "runs": args.runs,
        "first_seed": args.first_seed,
        "again": asdict(replayed),
        "drift": {name: drift.digest for name, drift in PROFILES.items()},
        "profiles": {profile: [asdict(row) for row in rows] for profile, rows in measured.items()},
        "seconds": round(time.monotonic() - began, 1),
        "machine": describe_machine(),
    }
    if args.keep:
        losses = (
            "Where we lose: a plain replan loop makes fewer calls; replan admission costs completion (see 'without admission'). "
            "No ablation repeats an effect in these worlds, so "
            "what unknown handling prevents is shown by completion here and by the plain loop's effects twice."
        )
        replay_note = f"{replayed.replayed} runs of Midcourse replayed from their journals, {replayed.differing} came out otherwise."
        keep(
            "horizon", summary, f"{format_tables(measured)}\n\n{losses}\n\n{replay_note}\n\n![completion](horizon.png)"
        )
        plot(measured, RESULTS / "horizon.png")
    if not args.json:
        print(format_tables(measured))
    print(json.dumps(summary))
    return 1 if replayed.differing else 0


if __name__ == "__main__":
    sys.exit(main())
