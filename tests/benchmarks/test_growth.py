"""A step of a long run costs what one of a short run costs. Records read are counted: they do not depend on the machine."""

import pytest

from tests.benchmarks.scripts import measure


@pytest.mark.slow
def test_a_late_step_reads_as_many_records_as_an_early_one() -> None:
    result = measure("growth", "--steps", "160")
    assert (result["steps"], result["completed"]) == (160, True)
    assert result["again"] == {"replayed": 1, "differing": 0}
    assert result["reads_ratio"] <= 1.3
    assert result["late_reads"] < 20
