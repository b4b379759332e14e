"""The drift suite runs, what it claims holds on a fixed seed, and its figures belong to the applications as they are."""

import pytest

from tests.benchmarks.scripts import measure


@pytest.mark.slow
def test_pages_that_change_are_got_through_without_repeating_or_claiming_anything():
    words = ["--seeds", "1", "--first-seed", "1000", "--arm", "midcourse"]
    result = measure("drift", *words)
    assert result["again"] == {"replayed": 4, "differing": 0}
    ours = result["rows"][0]
    assert (ours["runs"], ours["completed"]["share"], ours["twice"], ours["false_done"]) == (4, 1.0, 0, 0)
