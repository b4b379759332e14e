"""Trials 8, 21 and 22, small: no action without exactly its valid approval, no forged approval accepted, no tampering undetected."""

import pytest

from benchmarks.approvals.scenario import SECONDS, YES, Office
from tests.benchmarks.scripts import measure


@pytest.mark.slow
def test_nothing_is_done_without_that_exact_live_approval():
    found = measure("approvals.interleavings", "--interleavings", "80", "--forgeries", "48")
    assert (found["unapproved"], found["accepted"]) == (0, 0)
    assert found["effects"] > 10
    assert found["forgeries"] >= 48
    assert found["control"] == found["control_done"] > 0


async def test_an_approval_is_valid_from_when_it_was_given_and_not_from_when_it_was_decided() -> None:
    """The clock goes on between the two, as when a computer sleeps. Found by `interleavings` at full size."""
    office = Office(21_000)
    store = office.agent.store
    assert store
    await office.begin()
    office.say(YES)
    given_at = office.clock.now()
    office.clock.advance(SECONDS / 2)
    await office.settle()
    decided = [row.event for row in await store.journal("run-21000") if row.event.kind == "approval_decided"]
    assert [event.at for event in decided] == [given_at]
    await office.end()


@pytest.mark.slow
def test_every_tampering_with_the_audit_log_is_detected():
    found = measure("approvals.audit", "--tamperings", "300", "--postgres", "140")
    assert (found["tamperings"], found["undetected"]) == (440, 0)
    assert found["limits_with_head"] == found["limits"] > found["limits_detected"] == 0
