"""Trials 25 and 29, small: no order is repeated for a fresh token, and a wrong 'absent' repeats one at most."""

import pytest

from tests.benchmarks.scripts import measure


@pytest.mark.slow
def test_no_order_is_repeated_and_none_held_up():
    found = measure("approvals.tokens", "--trial", "tokens:60,absent:15,control:6")
    assert found["tokens"]["orders"] == found["tokens"]["runs"] == 60
    assert found["tokens"]["repeated"] == 0
    assert found["absent"]["most"] == 2
    assert found["absent"]["asked"]["happened"] >= 15
    assert (found["control"]["orders"], found["control"]["missing"], found["control"]["needless"]) == (90, 0, 0)
