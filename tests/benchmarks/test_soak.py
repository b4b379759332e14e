"""A fleet with a server and a host for browsers carries out runs; that it stays the same size takes hours, and is not checked here."""

import pytest

from tests.benchmarks.scripts import measure


@pytest.mark.slow
def test_every_run_orders_once_and_all_parts_are_measured() -> None:
    summary = measure("soak", "--minutes", "0.1", "--every", "2", "--sample", "3")
    assert (summary["runs"], summary["lost"], summary["repeated"]) == (3, 0, 0)
    assert summary["parts"].keys() == {"PostgreSQL", "Temporal", "host", "worker", "server"}
    assert all(part["megabytes"] > 10 for part in summary["parts"].values())
