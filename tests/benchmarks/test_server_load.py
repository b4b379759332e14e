"""Viewers of a busy server hear every event once, also if they are cut off; how soon depends on the machine, and is not checked here."""

import pytest

from tests.benchmarks.scripts import measure


@pytest.mark.slow
def test_every_viewer_hears_every_event() -> None:
    result = measure("server_load", "--minutes", "0.1", "--runs", "3", "--viewers", "12", "--per-minute", "30")
    assert (result["runs"], result["streams"], result["missed"]) == (3, 12, 0)
    assert result["resumed"] >= 3
    assert result["followed_at_once"] <= 3
    assert result["messages"] > 12 * 8
