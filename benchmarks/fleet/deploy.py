"""Trial 12: as kill, and every second worker has another director, as in the middle of a deploy.

other_ways    runs that do not replay with one director, because both directors decided parts of them
"""

from typing import Any

from benchmarks.fleet.kill import make_assignment, run_and_kill
from benchmarks.fleet.tenant import TrialOptions
from benchmarks.fleet.testbed import TestBed


async def run_trial(options: TrialOptions, testbed: TestBed) -> dict[str, Any]:
    assignments = {f"deploy-{seed}": make_assignment(seed) for seed in options.seeds}
    found = await run_and_kill(options, testbed, "deploy", assignments, two_directors=True)
    return {**found.summary, "other_ways": sum(not account.identical for account in found.accounts)}
