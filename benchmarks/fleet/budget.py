"""Trial 9: every run has a limit that it is likely to reach, and workers are killed meanwhile.

over         runs above any of their limits: must be 0
ended        final reasons of the runs; some do not reach their goal because of their limit
"""

import random
from collections import Counter as Tally
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from benchmarks.fleet.kill import run_and_kill
from benchmarks.fleet.task import GENEROUS_LIMITS, Assignment, make_usual_assignment
from benchmarks.fleet.tenant import TrialOptions
from benchmarks.fleet.testbed import TestBed
from midcourse.domain.budget import Cost, Limits

TIGHT_LIMITS: dict[str, Callable[[random.Random], Limits]] = {
    "calls": lambda chance: replace(GENEROUS_LIMITS, max_calls=chance.randint(2, 8)),
    "tokens": lambda chance: replace(GENEROUS_LIMITS, max_tokens=chance.randint(2_000, 8_000), plan_tokens=1_000),
    "cost": lambda chance: replace(GENEROUS_LIMITS, max_cost_usd=chance.uniform(0.02, 0.08), plan_cost_usd=0.01),
    "segments": lambda chance: replace(GENEROUS_LIMITS, max_segments=chance.randint(2, 6)),
    "replans": lambda chance: replace(
        GENEROUS_LIMITS, max_replans=(most := chance.randint(0, 4)), max_error_replans=most
    ),
    "error replans": lambda chance: replace(GENEROUS_LIMITS, max_error_replans=chance.randint(0, 3)),
    "retries": lambda chance: replace(GENEROUS_LIMITS, max_step_retries=chance.randint(0, 2)),
    "wall time": lambda chance: replace(GENEROUS_LIMITS, max_wall_seconds=float(chance.randint(2, 8))),
}


def make_assignment(seed: int) -> Assignment:
    """Make an assignment with one tight limit. A plan costs at most what is reserved for it."""
    chance = random.Random(seed)
    limits = chance.choice(list(TIGHT_LIMITS.values()))(chance)
    cost = Cost(
        calls=1,
        tokens=chance.randint(limits.plan_tokens // 2, limits.plan_tokens),
        microusd=chance.randint(round(limits.plan_cost_usd * 5e5), round(limits.plan_cost_usd * 1e6)),
    )
    return replace(make_usual_assignment(seed), limits=limits, plan_cost=cost, must_succeed=False)


async def run_trial(options: TrialOptions, testbed: TestBed) -> dict[str, Any]:
    assignments = {f"budget-{seed}": make_assignment(seed) for seed in options.seeds}
    found = await run_and_kill(options, testbed, "budget", assignments)
    ended = Tally(account.result.final_reason for account in found.accounts if account.result)
    return {**found.summary, "ended": dict(ended.most_common())}
