"""Does a fleet lose or repeat anything when its workers or servers are killed, frozen or cut off?

    python -m benchmarks.chaos --runs 1000 --json
    python -m benchmarks.chaos --trial points:320,freeze:200,temporal:500

Every run goes through the eight counters of an office (fleet/world.py). Some have irreversible effects, some have their effect and then
show an error or never answer. Effects and acts are counted in the office's own log by fleet/outcome.py. All journals and all of
Temporal's histories (trial 7) are replayed, and some histories with a changed supervisor, which must fail.

kill       1     workers are killed with -9, each run at least once while one of its commands is under way
points     2, 3  the worker is killed at every named point of every kind of step at every place (fleet/kill_points.py); 320 cases
freeze     4     workers are stopped until other workers have taken over their runs, and then continued
postgres   5     PostgreSQL is stopped as by a power cut and started again, every few seconds
temporal   6     Temporal is killed with -9 and started again, every few seconds
host       6b    the world host is killed with -9 and started again, every 5 to 40 seconds
outage     31    host, PostgreSQL, Temporal and model are away for five minutes (--away) each, one after the other
budget     9     as kill, and every run has a budget that it is likely to exhaust
deploy     12    as kill, and every second worker has another director
big        10    one run of `--runs` steps, each observation with 2 MB
waiting          `--runs` runs wait for an approval; each of them continues when it is approved
heartbeats       the cost of heartbeats while `--runs` runs are in a long act
wakeups          half of all notifications and signals are dropped; every message to a run still arrives
"""

import argparse
import asyncio
import json
import signal
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeAlias

from temporalio.runtime import LoggingConfig, Runtime, TelemetryConfig, TelemetryFilter

from benchmarks.fleet import big, budget, deploy, freeze, heartbeats, kill, outage, points, servers, waiting, wakeups
from benchmarks.fleet.outcome import CLAIMS
from benchmarks.fleet.tenant import TrialOptions
from benchmarks.fleet.testbed import OFFICE, TestBed, start_testbed
from benchmarks.harness.report import describe_machine, format_table, keep, make_parser
from midcourse.process import leave

Trial: TypeAlias = Callable[[TrialOptions, TestBed], Awaitable[dict[str, Any]]]
TRIALS: dict[str, Trial] = {
    "kill": kill.run_trial,
    "points": points.run_trial,
    "freeze": freeze.run_trial,
    "postgres": servers.run_postgres_trial,
    "temporal": servers.run_temporal_trial,
    "host": servers.run_host_trial,
    "outage": outage.run_trial,
    "budget": budget.run_trial,
    "deploy": deploy.run_trial,
    "big": big.run_trial,
    "waiting": waiting.run_trial,
    "wakeups": wakeups.run_trial,
    "heartbeats": heartbeats.run_trial,
}
QUIET = LoggingConfig(filter=TelemetryFilter(core_level="ERROR", other_level="ERROR"))
"""Unreachable servers and failing replays are part of the trials, so Temporal must not log them."""


MUST_BE_ZERO = (*CLAIMS, "late", "before_dispatch_asked", "left_waiting")
MUST_BE_EQUAL = (
    ("crashed", "to_crash"),
    ("before_dispatch_recovered", "before_dispatch"),
    ("undecidable_asked", "undecidable"),
    ("limited_ended", "limited"),
)
MUST_NOT_EXCEED = (("asked", "asked_bar"), ("cached_max", "cached_setting"))


def meets_claims(found: dict[str, Any]) -> bool:
    """Return whether the claims that this trial measures hold."""
    replays = found["replays"]
    return (
        not any(found.get(claim) for claim in MUST_BE_ZERO)
        and all(found.get(name, 0) == found.get(limit_name, 0) for name, limit_name in MUST_BE_EQUAL)
        and all(found.get(name, 0) <= found.get(limit_name, 0) for name, limit_name in MUST_NOT_EXCEED)
        and all(found.get(f"most_{what}", 0) <= most for what, most in big.LIMITS.items())
        and not found["again"]["differing"]
        and not replays["nondeterministic"]
        and replays["control_failed"] == replays["control"]
    )


async def main(options: argparse.Namespace) -> int:
    Runtime.set_default(Runtime(telemetry=TelemetryConfig(logging=QUIET)))
    main_task = asyncio.current_task()
    assert main_task
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, main_task.cancel)
    is_ok = True
    with tempfile.TemporaryDirectory(prefix="midcourse-chaos-") as name:
        async with start_testbed(Path(name) / "site", OFFICE) as testbed:
            for trial, runs in options.trial:
                is_ok &= await run_trial(trial, runs or options.runs, options, testbed)
    return 0 if is_ok else 1


async def run_trial(trial: str, runs: int, options: argparse.Namespace, testbed: TestBed) -> bool:
    began = time.monotonic()
    trial_options = TrialOptions(
        runs=runs,
        first_seed=options.first_seed,
        concurrency=options.concurrency,
        workers=options.workers,
        heartbeat=options.heartbeat,
        say=lambda text: print_progress(text, options.log),
        away=options.away,
    )
    found = await TRIALS[trial](trial_options, testbed)
    summary = {
        **found,
        "trial": trial,
        "workers": options.workers,
        "concurrency": options.concurrency,
        "heartbeat_seconds": options.heartbeat,
        "first_seed": options.first_seed,
        "seconds": round(time.monotonic() - began, 1),
        "machine": describe_machine(),
    }
    text = format_table(["", trial], [[name, str(value)] for name, value in summary.items()])
    if options.keep:
        keep(f"chaos_{trial}", summary, text)
    if not options.json:
        print(text)
    print(json.dumps(summary))
    return meets_claims(found)


def print_progress(text: str, log: Path | None) -> None:
    print(text, file=sys.stderr)
    if log:
        with log.open("a", encoding="utf-8") as out:
            out.write(text + "\n")


def parse_trials(text: str) -> list[tuple[str, int]]:
    """Parse `kill`, `kill:100,freeze:20` or `all`. A trial without a number has `--runs` runs."""
    names = ",".join(TRIALS) if text == "all" else text
    found = [(name, int(runs or 0)) for name, _, runs in (part.partition(":") for part in names.split(","))]
    if wrong := [name for name, _ in found if name not in TRIALS]:
        raise argparse.ArgumentTypeError(f"unknown trial {', '.join(wrong)}; known are {', '.join(TRIALS)}")
    return found


if __name__ == "__main__":
    parser = make_parser(__doc__)
    parser.add_argument(
        "--trial", default="kill", type=parse_trials, help="one, several as `kill:100,freeze:20`, or all"
    )
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--concurrency", type=int, default=12, help="runs at a time")
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--heartbeat", type=float, default=1.0, help="seconds until a worker counts as lost")
    parser.add_argument(
        "--away", type=float, default=300.0, help="seconds that a server is away, in the trial of outages"
    )
    parser.add_argument(
        "--log", type=Path, help="a file for the progress, and for the history of each run that went wrong"
    )
    leave(asyncio.run(main(parser.parse_args())))
