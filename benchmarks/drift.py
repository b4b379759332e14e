"""Does it finish tasks in web applications that misbehave, without repeated effects or false claims?

    python -m benchmarks.drift --seeds 50 --json --keep

Four applications that we ship for this (`midcourse.testing.sites`) are served on loopback and used in a real Chromium: a shop,
a ticket system, settings in nested dialogs, a report generator. Chance, by seed, brings pop-ups, renamed and moved controls,
expired sessions, slow and failing requests, forms that are rejected, orders that are stored and answered with a 504 or with
nothing at all. The arms are in `drifting/trial.py`; all have the same planner, which sees zones and nothing else. `--recovery` adds
two of ours: without any recovery, and with lessons. `midcourse` is in between: recovery by rules, and no memory.

completed    success was reported, and the application's own record has all that the task asks for
clean        completed, and with nothing twice and nothing unasked
twice        runs in which an effect that must happen once happened more often
false done   success was reported, and the record contradicts it
unasked      runs with an effect that the task did not ask for
calls        planner calls, mean
asked        questions to a person, mean: may this be sent, and did this happen
again        whether every run of Midcourse came out the same when its journal was replayed

Applications and drift were frozen, by the hash that is printed, before anything was tuned; that was done on seeds from 1,000.

A further application is anything with the shape of `Application` in `drifting/application.py`: a name, a task, secrets, the
policy of its origin, and `start(seed)`, which gives a URL, a planner, and the truth afterwards. It joins the table by

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
from benchmarks.harness.report import Share, keep, machine, options_of, table
from benchmarks.web_apps.application import Application
from benchmarks.web_apps.site import DRIFT, frozen
from benchmarks.web_apps.trial import ABOUT_RECOVERY, ARMS, FIXED, OURS, RETRY, DriftTrial, Shared, run_trial, script_of
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
"""Where the runs of the arm that learns find what others learned, in whichever process they are."""


@cache
def application_at(place: str) -> Application:
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


@cache
def loop() -> asyncio.Runner:
    """One for all runs of a process, because its Chromium lives in it."""
    return asyncio.Runner()


@cache
def shared() -> Shared:
    return Shared(SharedChromium(), Path(os.environ[LESSONS]))


@cache
def script_at(place: str) -> tuple[Step, ...]:
    return loop().run(script_of(application_at(place), shared().chromium))


def measure(cell: Cell) -> DriftTrial:
    place, seed, arm = cell
    script = script_at(place) if arm in (FIXED, RETRY) else ()
    return loop().run(run_trial(application_at(place), seed, arm, shared(), script))


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
    """Why those that did not complete ended."""


def summed(application: str, arm: str, trials: Sequence[DriftTrial]) -> Row:
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


def run(cells: Sequence[Cell], jobs: int, log: Path | None) -> list[DriftTrial]:
    """Those that the log has are not run again."""
    known = {trial.cell: trial for trial in logged(log)} if log else {}
    todo = [cell for cell in cells if named(cell) not in known]
    with TemporaryDirectory() as folder, ProcessPoolExecutor(jobs) as pool:
        os.environ[LESSONS] = str(log.with_suffix(".lessons") if log else Path(folder) / "lessons")
        for done, trial in enumerate(pool.map(measure, todo), start=1):
            known[trial.cell] = trial
            if log:
                with log.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(trial)) + "\n")
            if done % 20 == 0:
                print(f"{done}/{len(todo)} runs", file=sys.stderr)
    return [known[named(cell)] for cell in cells]


def named(cell: Cell) -> Cell:
    place, seed, arm = cell
    return application_at(place).name, seed, arm


def logged(log: Path) -> list[DriftTrial]:
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    return [DriftTrial(**{**told, "again": Replayed(**told["again"])}) for told in map(json.loads, lines)]


def rows_of(trials: Sequence[DriftTrial], arms: Sequence[str]) -> list[Row]:
    """All together first, then each application."""
    names = list(dict.fromkeys(trial.task for trial in trials))
    rows = [summed("all", arm, [t for t in trials if t.arm == arm]) for arm in arms]
    return rows + [
        summed(name, arm, [t for t in trials if (t.task, t.arm) == (name, arm)]) for name in names for arm in arms
    ]


def text(rows: Sequence[Row]) -> str:
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
    return table(header, body)


def main() -> int:
    parser = options_of(__doc__)
    parser.add_argument("--seeds", type=int, default=50, help="per arm and application")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--arm", action="append", choices=(*ARMS, *ABOUT_RECOVERY), help="only this one; may be given more than once"
    )
    parser.add_argument("--recovery", action="store_true", help="also without recovery, and with lessons")
    parser.add_argument("--only", help="only the shipped application of this name")
    parser.add_argument("--also", action="append", default=[], metavar="MODULE:NAME", help="a further application")
    parser.add_argument(
        "--log",
        type=Path,
        help="a file for every run as it ends; those in it are not run again, and what they learned is kept beside it",
    )
    given = parser.parse_args()
    began = time.monotonic()
    places = [place for place in SHIPPED if given.only in (None, application_at(place).name)] + given.also
    seeds = range(given.first_seed, given.first_seed + given.seeds)
    arms = given.arm or (*ARMS, *(ABOUT_RECOVERY if given.recovery else ()))
    cells = [(place, seed, arm) for place in places for seed in seeds for arm in arms]
    trials = run(cells, given.jobs, given.log)
    rows = rows_of(trials, arms)
    replayed = sum((trial.again for trial in trials), Replayed())
    summary: dict[str, object] = {
        "seeds": given.seeds,
        "first_seed": given.first_seed,
        "frozen": frozen(),
        "drift": asdict(DRIFT),
        "again": asdict(replayed),
        "rows": [asdict(row) for row in rows],
        "incomplete": [asdict(trial) for trial in trials if trial.arm == OURS and not trial.completed],
        "seconds": round(time.monotonic() - began, 1),
        "machine": machine(),
    }
    if given.keep:
        said = f"Applications and drift: {frozen()}. {replayed.replayed} runs of Midcourse replayed from their journals, {replayed.differing} came out otherwise."
        keep("drift", summary, f"{text(rows)}\n\n{said}")
    if not given.json:
        print(text(rows))
    print(json.dumps(summary))
    return 1 if replayed.differing else 0


if __name__ == "__main__":
    sys.exit(main())
