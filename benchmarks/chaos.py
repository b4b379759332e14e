"""Does a fleet lose or repeat anything when its workers or servers are killed, frozen or cut off?

    python -m benchmarks.chaos --runs 1000 --json
    python -m benchmarks.chaos --trial points:320,freeze:200,temporal:500

Every run goes through the eight counters of an office (fleet/world.py), among them irreversible ones, and ones that do what they
should and then show an error or never answer. Effects and acts are counted in the office's own log by fleet/outcome.py.
All journals and all of the engine's histories (trial 7) are replayed, and some histories with a changed supervisor, which must
be noticed.

kill       1     workers are killed with -9, each run at least once while a command of it was under way
points     2, 3  every kind of step at every place, the worker killed at every named point of it (fleet/kill_points.py); 320 cases
freeze     4     workers are stopped until others have taken over from them, and then continued
postgres   5     PostgreSQL is stopped as by a power cut and started again, every few seconds
temporal   6     Temporal is killed with -9 and started again, every few seconds
host       6b    the world host is killed with -9 and started again, every 5 to 40 seconds
outage     31    host, PostgreSQL, Temporal and model are away for five minutes (--away) each, one after the other
budget     9     as kill, and every run has a ceiling that it is likely to meet
deploy     12    as kill, and every other worker has another director
big        10    one run of so many steps, every look at the world with 2 MB
waiting          so many runs wait for an approval; any of them continues when it is given
heartbeats       what heartbeats cost while so many runs are in a long act
wakeups          half of all notifications and signals are dropped; every message to a run is taken up all the same
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
from benchmarks.fleet.tenant import Given
from benchmarks.fleet.testbed import OFFICE, TestBed, testbed_in
from benchmarks.harness.report import keep, machine, options_of, table
from midcourse.process import leave

Trial: TypeAlias = Callable[[Given, TestBed], Awaitable[dict[str, Any]]]
TRIALS: dict[str, Trial] = {
    "kill": kill.trial,
    "points": points.trial,
    "freeze": freeze.trial,
    "postgres": servers.without_postgres,
    "temporal": servers.without_temporal,
    "host": servers.without_host,
    "outage": outage.trial,
    "budget": budget.trial,
    "deploy": deploy.trial,
    "big": big.trial,
    "waiting": waiting.trial,
    "wakeups": wakeups.trial,
    "heartbeats": heartbeats.trial,
}
QUIET = LoggingConfig(filter=TelemetryFilter(core_level="ERROR", other_level="ERROR"))
"""That a server is away, or a replay fails, is what we are here for."""


NOUGHT = (*CLAIMS, "late", "before_dispatch_asked", "left_waiting")
EQUAL = (
    ("crashed", "to_crash"),
    ("before_dispatch_recovered", "before_dispatch"),
    ("undecidable_asked", "undecidable"),
    ("limited_ended", "limited"),
)
AT_MOST = (("asked", "asked_bar"), ("cached_max", "cached_setting"))


def is_right(found: dict[str, Any]) -> bool:
    """Checks only the bars of this trial."""
    replays = found["replays"]
    return (
        not any(found.get(claim) for claim in NOUGHT)
        and all(found.get(one, 0) == found.get(other, 0) for one, other in EQUAL)
        and all(found.get(one, 0) <= found.get(other, 0) for one, other in AT_MOST)
        and all(found.get(f"most_{what}", 0) <= most for what, most in big.BARS.items())
        and not found["again"]["differing"]
        and not replays["nondeterministic"]
        and replays["control_failed"] == replays["control"]
    )


async def main(options: argparse.Namespace) -> int:
    Runtime.set_default(Runtime(telemetry=TelemetryConfig(logging=QUIET)))
    us = asyncio.current_task()
    assert us
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, us.cancel)
    right = True
    with tempfile.TemporaryDirectory(prefix="midcourse-chaos-") as name:
        async with testbed_in(Path(name) / "site", OFFICE) as testbed:
            for trial, runs in options.trial:
                right &= await carried_out(trial, runs or options.runs, options, testbed)
    return 0 if right else 1


async def carried_out(trial: str, runs: int, options: argparse.Namespace, testbed: TestBed) -> bool:
    began = time.monotonic()
    given = Given(
        runs=runs,
        first_seed=options.first_seed,
        concurrency=options.concurrency,
        workers=options.workers,
        heartbeat=options.heartbeat,
        say=lambda text: say(text, options.log),
        away=options.away,
    )
    found = await TRIALS[trial](given, testbed)
    summary = {
        **found,
        "trial": trial,
        "workers": options.workers,
        "concurrency": options.concurrency,
        "heartbeat_seconds": options.heartbeat,
        "first_seed": options.first_seed,
        "seconds": round(time.monotonic() - began, 1),
        "machine": machine(),
    }
    told = table(["", trial], [[name, str(value)] for name, value in summary.items()])
    if options.keep:
        keep(f"chaos_{trial}", summary, told)
    if not options.json:
        print(told)
    print(json.dumps(summary))
    return is_right(found)


def say(text: str, log: Path | None) -> None:
    print(text, file=sys.stderr)
    if log:
        with log.open("a", encoding="utf-8") as out:
            out.write(text + "\n")


def trials(text: str) -> list[tuple[str, int]]:
    """`kill`, `kill:100,freeze:20`, `all`. Without a number, `--runs` counts."""
    names = ",".join(TRIALS) if text == "all" else text
    found = [(name, int(runs or 0)) for name, _, runs in (part.partition(":") for part in names.split(","))]
    if wrong := [name for name, _ in found if name not in TRIALS]:
        raise argparse.ArgumentTypeError(f"unknown trial {', '.join(wrong)}; known are {', '.join(TRIALS)}")
    return found


if __name__ == "__main__":
    parser = options_of(__doc__)
    parser.add_argument("--trial", default="kill", type=trials, help="one, several as `kill:100,freeze:20`, or all")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--concurrency", type=int, default=12, help="runs at a time")
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--heartbeat", type=float, default=1.0, help="seconds until a worker counts as lost")
    parser.add_argument(
        "--away", type=float, default=300.0, help="seconds that a server is away, in the trial of outages"
    )
    parser.add_argument(
        "--log", type=Path, help="write the progress, and the story of each run that went wrong, here too"
    )
    leave(asyncio.run(main(parser.parse_args())))
