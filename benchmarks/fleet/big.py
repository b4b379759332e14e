"""Trial 10: one long run in which every observation has a picture of 2 MB. `runs` is the number of its steps.

executions           histories of the run, each continuing the one before
most_events          most events in one of them
most_history_bytes   size of the largest of them
most_payload_bytes   size of the largest command or answer: observations are passed by reference
observed_mb          size of the observations in the store
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import psycopg
from temporalio.client import WorkflowHistory

from benchmarks.fleet.account import read_account
from benchmarks.fleet.outcome import count_all
from benchmarks.fleet.task import GENEROUS_LIMITS, Assignment
from benchmarks.fleet.tenant import TrialOptions, run_assignments, start_fleet
from benchmarks.fleet.testbed import TestBed
from benchmarks.fleet.world import FLOOR, Counter

PICTURE = 2_000_000
LIMITS = {"events": 10_240, "history_bytes": 10_000_000, "payload_bytes": 64_000}
"""Upper limits. Temporal warns beyond the first two."""
NAME = "big-0"
KINDS = (
    Counter(effect="read"),
    Counter(effect="set_state"),
    Counter(effect="reversible"),
    Counter(effect="irreversible"),
)


async def run_trial(options: TrialOptions, testbed: TestBed) -> dict[str, Any]:
    floors = options.runs // FLOOR + 1
    limits = replace(GENEROUS_LIMITS, max_calls=2 * floors, max_segments=2 * floors, max_wall_seconds=36_000.0)
    counters = tuple(KINDS[number % len(KINDS)] for number in range(options.runs))
    assignments = {NAME: Assignment(counters=counters, limits=limits, padding=PICTURE)}
    async with start_fleet(testbed, "big", heartbeat=10.0) as fleet:
        fleet.hire()
        trouble = await run_assignments(fleet, assignments, 1, patience=36_000.0)
        account = await read_account(fleet, NAME)
    found = await count_all(options, testbed, assignments, [account], trouble)
    return {
        **found.summary,
        "steps": options.runs,
        "executions": len(account.histories),
        "most_events": max(len(history.events) for history in account.histories),
        "most_history_bytes": max(sum(e.ByteSize() for e in history.events) for history in account.histories),
        "most_payload_bytes": _measure_largest_event(account.histories),
        "observed_mb": _measure_observations(testbed),
    }


def _measure_largest_event(histories: Sequence[WorkflowHistory]) -> int:
    """Return the size of the largest event, which is little more than its payload."""
    return max(event.ByteSize() for history in histories for event in history.events)


def _measure_observations(testbed: TestBed) -> int:
    with psycopg.connect(testbed.site.postgres) as connection:
        size = connection.execute("SELECT sum(length(body)) FROM midcourse.observations WHERE run = %s", (NAME,))
        (characters,) = size.fetchone() or (0,)
    return int(characters) // 10**6
