"""What a run keeps in PostgreSQL, at the smallest size."""

import pytest

from tests.benchmarks.scripts import measure


@pytest.mark.slow
def test_a_pruned_run_keeps_less() -> None:
    result = measure("storage", "--runs", "4", "--steps", "10")
    assert result["pruned"] <= result["ended"] / 3
