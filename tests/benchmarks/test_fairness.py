"""Starts of a small tenant beside a large one, at a small size. Ratios of so few runs on a busy machine say little: the bar is a loose one."""

import pytest

from tests.benchmarks.scripts import measure


@pytest.mark.slow
def test_a_small_tenant_is_served_beside_a_large_one() -> None:
    sizes = {"runs": 10, "few": 2, "rounds": 1, "delay": 0.1, "max-runs": 10, "bar": 20}
    told = measure("fairness", *(word for name, value in sizes.items() for word in (f"--{name}", str(value))))
    assert 0 < told["beside"]["stored"] <= told["beside"]["first"] <= told["beside"]["opened"]
    assert told["many_turns_per_second"]["beside"] > 0
