"""Does Midcourse finish tasks in web applications that misbehave, without repeated effects or false claims?

    python -m benchmarks.drift --seeds 50 --json --keep

Four applications (`midcourse.testing.sites`) are served on loopback and used in a real Chromium: a shop, a ticket system, settings
in nested dialogs, and a report generator. The seed decides about pop-ups, renamed and moved controls, expired sessions, slow and
failing requests, rejected forms, and orders that are stored but answered with a 504 or not answered. The arms are in
`web_apps/trial.py`; all have the same planner, which sees only zones. The arm `midcourse` recovers by rules and has no memory;
`--recovery` adds two arms: without recovery, and with lessons.

completed    success was reported, and the application's own record has everything that the task asks for
clean        completed, without repeated effects and without effects that the task did not ask for
twice        runs in which an effect that must happen once happened more than once
false done   success was reported, and the application's record contradicts it
unasked      runs with an effect that the task did not ask for
calls        planner calls, mean
asked        questions to the approver, mean: may this be sent, and did this happen
again        whether every run of Midcourse had the same result when its journal was replayed

Applications and drift were frozen, by the hash that is printed, before anything was tuned. Tuning used seeds from 1,000 on.

A further application is an object of type `Application` in `web_apps/application.py`: a name, a task, secrets, the policy of its
origin, and `start(seed)`, which provides a URL, a planner and, after the run, the truth. To add it to the table:

    python -m benchmarks.drift --also module:NAME
"""

import asyncio
import json
import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.harness.chromium_pool import SharedChromium
from benchmarks.harness.replay_check import Replayed
from benchmarks.harness.report import Share, describe_machine, format_table, keep, make_parser
from benchmarks.web_apps.application import Application
from benchmarks.web_apps.site import DRIFT, digest_sites
from benchmarks.web_apps.trial import (
    ARMS,
    FIXED,
    OURS,
    RECOVERY_ARMS,
    RETRY,
    DriftTrial,
    Shared,
    record_steps,
    run_trial,
)
from midcourse.domain.plan import Step

SHIPPED = (
    "benchmarks.web_apps.shop:SHOP",
    "benchmarks.web_apps.tickets:TICKETS",
    "benchmarks.web_apps.preferences:PREFERENCES",
    "benchmarks.web_apps.reports:REPORTS",
)
Cell = tuple[str, int, str]
"""Application, seed, arm."""
LESSONS = "MIDCOURSE_DRIFT_LESSONS"
"""The environment variable with the path of the lessons, which the runs of the learning arm share across processes."""


@cache
def load_application(place: str) -> Application:
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


@cache
def event_loop() -> asyncio.Runner:
    """Return the one event loop of this process, because the shared Chromium belongs to it."""
    return asyncio.Runner()


@cache
def shared_resources() -> Shared:
    return Shared(SharedChromium(), Path(os.environ[LESSONS]))


@cache
def record_script(place: str) -> tuple[Step, ...]:
    return event_loop().run(record_steps(load_application(place), shared_resources().chromium))


def run_cell(cell: Cell) -> DriftTrial:
    place, seed, arm = cell
    script = record_script(place) if arm in (FIXED, RETRY) else ()
    return event_loop().run(run_trial(load_application(place), seed, arm, shared_resources(), script))


@dataclass(frozen=True)
class Row:
    application: str
    arm: str
    runs: int
    completed: Share
    clean: Share
    twice: int
    false_done: int
    unasked: int
    calls: float
    approvals: float
    doubts: float
    ended: dict[str, int]
    """The reasons why incomplete runs ended, with their numbers."""


def summarize(application: str, arm: str, trials: Sequence[DriftTrial]) -> Row:
    n = len(trials)
    reasons = [trial.reason for trial in trials if not trial.completed]
    return Row(
        application=application,
        arm=arm,
        runs=n,
        completed=Share.of(sum(trial.completed for trial in trials), n),
        clean=Share.of(sum(t.completed and not t.twice and not t.unasked for t in trials), n),
        twice=sum(trial.twice > 0 for trial in trials),
        false_done=sum(trial.false_done for trial in trials),
        unasked=sum(trial.unasked > 0 for trial in trials),
        calls=_mean([trial.calls for trial in trials]),
        approvals=_mean([trial.approvals for trial in trials]),
        doubts=_mean([trial.doubts for trial in trials]),
        ended={reason: reasons.count(reason) for reason in sorted(set(reasons))},
    )


def _mean(numbers: Sequence[int]) -> float:
    return round(sum(numbers) / len(numbers), 2)


def run_cells(cells: Sequence[Cell], jobs: int, log: Path | None) -> list[DriftTrial]:
    """Run the cells that are not in the log, and return the trials of all cells."""
    trials = {trial.cell: trial for trial in read_log(log)} if log else {}
    cells_left = [cell for cell in cells if name_cell(cell) not in trials]
    with TemporaryDirectory() as folder, ProcessPoolExecutor(jobs) as pool:
        os.environ[LESSONS] = str(log.with_suffix(".lessons") if log else Path(folder) / "lessons")
        for finished, trial in enumerate(pool.map(run_cell, cells_left), start=1):
            trials[trial.cell] = trial
            if log:
                with log.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(trial)) + "\n")
            if finished % 20 == 0:
                print(f"{finished}/{len(cells_left)} runs", file=sys.stderr)
    return [trials[name_cell(cell)] for cell in cells]


def name_cell(cell: Cell) -> Cell:
    place, seed, arm = cell
    return load_application(place).name, seed, arm


def read_log(log: Path) -> list[DriftTrial]:
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    return [DriftTrial(**(fields | {"again": Replayed(**fields["again"])})) for fields in map(json.loads, lines)]


def make_rows(trials: Sequence[DriftTrial], arms: Sequence[str]) -> list[Row]:
    """Make the rows of all applications together, then those of each application."""
    names = list(dict.fromkeys(trial.task for trial in trials))
    rows = [summarize("all", arm, [t for t in trials if t.arm == arm]) for arm in arms]
    return rows + [
        summarize(name, arm, [t for t in trials if (t.task, t.arm) == (name, arm)]) for name in names for arm in arms
    ]


def format_rows(rows: Sequence[Row]) -> str:
    header = [
        "application",
        "arm",
        "runs",
        "completed % (95 %)",
        "clean % (95 %)",
        "twice",
        "false done",
        "unasked",
        "calls",
        "asked: may it",
        "did it",
    ]
    body = [
        [
            row.application,
            row.arm,
            str(row.runs),
            str(row.completed),
            str(row.clean),
            str(row.twice),
            str(row.false_done),
            str(row.unasked),
            f"{row.calls:.2f}",
            f"{row.approvals:.2f}",
            f"{row.doubts:.2f}",
        ]
        for row in rows
    ]
    return format_table(header, body)


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--seeds", type=int, default=50, help="per arm and application")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--arm", action="append", choices=(*ARMS, *RECOVERY_ARMS), help="only this one; may be given more than once"
    )
    parser.add_argument("--recovery", action="store_true", help="also without recovery, and with lessons")
    parser.add_argument("--only", help="only the shipped application of this name")
    parser.add_argument("--also", action="append", default=[], metavar="MODULE:NAME", help="a further application")
    parser.add_argument(
        "--log",
        type=Path,
        help="a file for every run as it ends; those in it are not run again, and what they learned is kept beside it",
    )
    args = parser.parse_args()
    began = time.monotonic()
    places = [place for place in SHIPPED if args.only in (None, load_application(place).name)] + args.also
    seeds = range(args.first_seed, args.first_seed + args.seeds)
    arms = args.arm or (*ARMS, *(RECOVERY_ARMS if args.recovery else ()))
    cells = [(place, seed, arm) for place in places for seed in seeds for arm in arms]
    trials = run_cells(cells, args.jobs, args.log)
    rows = make_rows(trials, arms)
    replayed = sum((trial.again for trial in trials), Replayed())
    summary: dict[str, object] = {
        "seeds": args.seeds,
        "first_seed": args.first_seed,
        "frozen": digest_sites(),
        "drift": asdict(DRIFT),
        "again": asdict(replayed),
        "rows": [asdict(row) for row in rows],
        "incomplete": [asdict(trial) for trial in trials if trial.arm == OURS and not trial.completed],
        "seconds": round(time.monotonic() - began, 1),
        "machine": describe_machine(),
    }
    if args.keep:
        note = f"Applications and drift: {digest_sites()}. {replayed.replayed} runs of Midcourse replayed from their journals, {replayed.differing} came out otherwise."
        keep("drift", summary, f"{format_rows(rows)}\n\n{note}")
    if not args.json:
        print(format_rows(rows))
    print(json.dumps(summary))
    return 1 if replayed.differing else 0


if __name__ == "__main__":
    sys.exit(main())
