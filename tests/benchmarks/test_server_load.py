"""Viewers of a busy server hear every event once, also if they are cut off; how soon depends on the machine, and is not checked here."""

import pytest

from tests.benchmarks.scripts import measure


@pytest.mark.slow
def test_every_viewer_hears_every_event() -> None:
    told = measure("server_load", "--minutes", "0.1", "--runs", "3", "--viewers", "12", "--per-minute", "30")
    assert (told["runs"], told["streams"], told["missed"]) == (3, 12, 0)
    assert told["resumed"] >= 3
    assert told["followed_at_once"] <= 3
    assert told["messages"] > 12 * 8
