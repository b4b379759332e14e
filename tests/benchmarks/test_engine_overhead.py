"""What a step may cost on the engine: the counts that hardly depend on the machine. Times are for the benchmark itself."""

import pytest

from tests.benchmarks.scripts import measure


@pytest.mark.slow
def test_a_step_takes_two_commits_and_little_more_of_the_engine_than_a_bare_one():
    gates = measure("engine_overhead", "--gates")["gates"]
    assert gates["commits"] <= 2.0
    assert gates["transitions"] <= 4.5
    assert gates["bytes_above_bare"] <= 400
