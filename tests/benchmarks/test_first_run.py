"""First runs with a scripted model and no policy file, small: the order is stored once, and no person is asked whether it was."""

import pytest

from tests.benchmarks.scripts import measure


@pytest.mark.slow
def test_an_order_is_placed_once_although_its_answer_or_its_session_is_lost() -> None:
    result = measure("first_run", "--seeds", "1", "--apps", "shop", "--faults", "lost", "expired at submit")
    assert [row["finished"]["share"] for row in result["rows"]] == [1.0, 1.0]
    assert all(result["bars"].values())
