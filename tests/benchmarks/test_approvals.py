"""Trials 8, 21 and 22, small: no action without exactly its valid approval, no forged approval accepted, no tampering undetected."""

import pytest

from tests.benchmarks.scripts import measure


@pytest.mark.slow
def test_nothing_is_done_without_that_exact_live_approval():
    found = measure("approvals.interleavings", "--interleavings", "80", "--forgeries", "48")
    assert (found["unapproved"], found["accepted"]) == (0, 0)
    assert found["effects"] > 10
    assert found["forgeries"] >= 48
    assert found["control"] == found["control_done"] > 0


@pytest.mark.slow
def test_every_tampering_with_the_audit_log_is_detected():
    found = measure("approvals.audit", "--tamperings", "300", "--postgres", "140")
    assert (found["tamperings"], found["undetected"]) == (440, 0)
    assert found["limits_with_head"] == found["limits"] > found["limits_detected"] == 0
