"""What was done once is done again with other inputs, in the simulated worlds and in a browser."""

from typing import Any

import pytest

from tests.benchmarks.scripts import measure

pytestmark = pytest.mark.slow


def measured(*words: str) -> dict[str, dict[str, Any]]:
    """The rows, by their condition."""
    result = measure("reuse", *words)
    assert (result["broken"], result["again"]["differing"]) == ([], 0)
    return {row["condition"]: row for row in result["rows"]}


def test_ten_simulated_tasks_are_reused_with_all_inputs_changed():
    rows = measured("--only", "simulated", "--seeds", "2", "--first-seed", "7000")
    again = rows["again"]
    assert (again["runs"], again["right"], again["foreign"], again["calls"]) == (10, 10, 0, 0.0)
    assert rows["drift"]["completed"]["share"] >= rows["drift, without reuse"]["completed"]["share"]


def test_one_task_is_reused_in_a_browser():
    again = measured("--only", "browser", "--cases", "1", "--seeds", "0", "--jobs", "1")["again"]
    assert (again["runs"], again["right"], again["foreign"], again["calls"]) == (1, 1, 0, 0.0)
