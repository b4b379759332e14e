"""Trial 10: one long run whose every look at the world carries a picture of 2 MB. `runs` is the number of its steps.

executions           histories that the run took, one continuing the other
most_events          in any one of them
most_history_bytes   in any one of them
most_payload_bytes   of any one command or answer: what is seen goes by reference
observed_mb          what was really looked at and kept in the store
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import psycopg
from temporalio.client import WorkflowHistory

from benchmarks.fleet.account import account_of
from benchmarks.fleet.outcome import reckon
from benchmarks.fleet.task import PATIENT, Assignment
from benchmarks.fleet.tenant import Given, carry_out, fleet_at
from benchmarks.fleet.testbed import TestBed
from benchmarks.fleet.world import FLOOR, Counter

PICTURE = 2_000_000
BARS = {"events": 10_240, "history_bytes": 10_000_000, "payload_bytes": 64_000}
"""The first two are where the engine begins to warn."""
NAME = "big-0"
KINDS = (
    Counter(effect="read"),
    Counter(effect="set_state"),
    Counter(effect="reversible"),
    Counter(effect="irreversible"),
)


async def trial(given: Given, testbed: TestBed) -> dict[str, Any]:
    floors = given.runs // FLOOR + 1
    limits = replace(PATIENT, max_calls=2 * floors, max_segments=2 * floors, max_wall_seconds=36_000.0)
    counters = tuple(KINDS[number % len(KINDS)] for number in range(given.runs))
    assignments = {NAME: Assignment(counters=counters, limits=limits, padding=PICTURE)}
    async with fleet_at(testbed, "big", heartbeat=10.0) as fleet:
        fleet.hire()
        trouble = await carry_out(fleet, assignments, 1, patience=36_000.0)
        account = await account_of(fleet, NAME)
    found = await reckon(given, testbed, assignments, [account], trouble)
    return {
        **found.summary,
        "steps": given.runs,
        "executions": len(account.histories),
        "most_events": max(len(history.events) for history in account.histories),
        "most_history_bytes": max(sum(e.ByteSize() for e in history.events) for history in account.histories),
        "most_payload_bytes": _most_payload_bytes(account.histories),
        "observed_mb": _observed_mb(testbed),
    }


def _most_payload_bytes(histories: Sequence[WorkflowHistory]) -> int:
    """An event is little more than its payload."""
    return max(event.ByteSize() for history in histories for event in history.events)


def _observed_mb(testbed: TestBed) -> int:
    with psycopg.connect(testbed.site.postgres) as connection:
        kept = connection.execute("SELECT sum(length(body)) FROM midcourse.observations WHERE run = %s", (NAME,))
        (characters,) = kept.fetchone() or (0,)
    return int(characters) // 10**6
