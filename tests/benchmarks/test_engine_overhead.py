"""What a step may cost on the engine: the counts that hardly depend on the machine. Times are for the benchmark itself."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_a_step_takes_two_commits_and_little_more_of_the_engine_than_a_bare_one():
    done = subprocess.run(
        [sys.executable, "benchmarks/engine_overhead.py", "--gates", "--json"],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    gates = json.loads(done.stdout.splitlines()[-1])["gates"]
    assert gates["commits"] <= 2.0
    assert gates["transitions"] <= 4.5
    assert gates["bytes_above_bare"] <= 400
