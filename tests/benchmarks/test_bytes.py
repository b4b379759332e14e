"""What a local step leaves on the disk, at the smallest size. Bytes and flushes do not depend on the machine."""

import pytest

from tests.benchmarks.scripts import measure


@pytest.mark.slow
def test_a_page_is_stored_once_and_a_step_flushes_twice() -> None:
    result = measure("bytes", "--sizes", "50", "500", "--steps", "40", "--load", "40")
    assert [(row["steps"], row["completed"]) for row in result["pages"]] == [(40, True)] * 3
    assert result["pages"][1]["ratio"] <= 1 / 20
    assert all(row["flushes"] <= 2.5 for row in result["pages"])
