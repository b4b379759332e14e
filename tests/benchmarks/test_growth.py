"""A step of a long run costs what one of a short run costs. Records read are counted: they do not depend on the machine."""

import pytest

from tests.benchmarks.scripts import measure


@pytest.mark.slow
def test_a_late_step_reads_as_many_records_as_an_early_one() -> None:
    told = measure("growth", "--steps", "160")
    assert (told["steps"], told["completed"]) == (160, True)
    assert told["again"] == {"replayed": 1, "differing": 0}
    assert told["reads_ratio"] <= 1.3
    assert told["late_reads"] < 20
