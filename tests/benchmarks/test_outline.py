"""The outline's benchmark in small: every arm gets through, and the automatic one costs hardly more than none."""

import pytest

from tests.benchmarks.scripts import measure

pytestmark = pytest.mark.slow


def test_an_automatic_outline_costs_no_more_calls_than_one_that_is_always_made() -> None:
    rows = measure("outline", "--runs", "6", "--first-seed", "0")["rows"]
    calls = {(row["outline"], row["error"]): row["calls"] for row in rows}
    assert len(rows) == 11
    assert calls["auto", 0.0] <= calls["on", 0.0]
    assert all(row["calls"] <= 24 for row in rows)
    assert [row["drawn"] for row in rows if row["outline"] != "auto"] == [0.0, *[1.0] * 5]
