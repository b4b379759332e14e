"""What a step may cost on the engine: the counts that hardly depend on the machine. Times are for the benchmark itself."""

import pytest

from tests.benchmarks.scripts import measure


@pytest.mark.slow
def test_a_step_takes_two_commits_and_nothing_of_the_engine():
    gates = measure("engine_overhead", "--gates")["gates"]
    assert gates["commits"] <= 2.3
    assert gates["transitions"] <= 0.1
    assert gates["history_bytes"] <= 10
