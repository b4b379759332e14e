"""Trial 8b, small: one value changes between approval and dispatch, in every way once by each skill."""

import pytest

from tests.benchmarks.scripts import measure


@pytest.mark.slow
def test_request_with_a_changed_value_is_not_sent():
    result = measure("approvals.changed_values", "--runs", "26")
    assert (result["changed"], result["otherwise"], result["submitted_although_changed"]) == (26, 0, 0)
    assert (result["control"], result["control_sent_once"]) == (2, 2)
