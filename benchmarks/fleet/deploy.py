"""Trial 12: as kill, and every other worker has another director, as in the middle of a deploy.

other_ways    runs that one director alone would have decided otherwise: that is, runs that both had a part in
"""

from typing import Any

from benchmarks.fleet.kill import carry_out_and_kill, errand_of
from benchmarks.fleet.tenant import Given
from benchmarks.fleet.testbed import TestBed


async def trial(given: Given, testbed: TestBed) -> dict[str, Any]:
    assignments = {f"deploy-{seed}": errand_of(seed) for seed in given.seeds}
    found = await carry_out_and_kill(given, testbed, "deploy", assignments, two_directors=True)
    return {**found.summary, "other_ways": sum(not account.identical for account in found.accounts)}
