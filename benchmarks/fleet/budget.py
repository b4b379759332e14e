"""Trial 9: every run has a ceiling that it is likely to meet, and workers are killed all the while.

over         runs above any of their ceilings: there must be none
ended        how the runs ended; that some do not get to their goal is what ceilings are for
"""

import random
from collections import Counter as Tally
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from benchmarks.fleet.kill import carry_out_and_kill
from benchmarks.fleet.task import PATIENT, Assignment, usual_assignment
from benchmarks.fleet.tenant import Given
from benchmarks.fleet.testbed import TestBed
from midcourse.domain.budget import Cost, Limits

TIGHT: dict[str, Callable[[random.Random], Limits]] = {
    "calls": lambda chance: replace(PATIENT, max_calls=chance.randint(2, 8)),
    "tokens": lambda chance: replace(PATIENT, max_tokens=chance.randint(2_000, 8_000), plan_tokens=1_000),
    "cost": lambda chance: replace(PATIENT, max_cost_usd=chance.uniform(0.02, 0.08), plan_cost_usd=0.01),
    "segments": lambda chance: replace(PATIENT, max_segments=chance.randint(2, 6)),
    "replans": lambda chance: replace(PATIENT, max_replans=(most := chance.randint(0, 4)), max_error_replans=most),
    "error replans": lambda chance: replace(PATIENT, max_error_replans=chance.randint(0, 3)),
    "retries": lambda chance: replace(PATIENT, max_step_retries=chance.randint(0, 2)),
    "wall time": lambda chance: replace(PATIENT, max_wall_seconds=float(chance.randint(2, 8))),
}


def errand_of(seed: int) -> Assignment:
    """Plans cost up to what was set aside for them."""
    chance = random.Random(seed)
    limits = chance.choice(list(TIGHT.values()))(chance)
    cost = Cost(
        calls=1,
        tokens=chance.randint(limits.plan_tokens // 2, limits.plan_tokens),
        microusd=chance.randint(round(limits.plan_cost_usd * 5e5), round(limits.plan_cost_usd * 1e6)),
    )
    return replace(usual_assignment(seed), limits=limits, plan_cost=cost, must_succeed=False)


async def trial(given: Given, testbed: TestBed) -> dict[str, Any]:
    assignments = {f"budget-{seed}": errand_of(seed) for seed in given.seeds}
    found = await carry_out_and_kill(given, testbed, "budget", assignments)
    ended = Tally(account.result.final_reason for account in found.accounts if account.result)
    return {**found.summary, "ended": dict(ended.most_common())}
