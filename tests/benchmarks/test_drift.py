"""The drift suite runs, what it claims holds on a fixed seed, and its figures belong to the applications as they are."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_pages_that_change_are_got_through_without_repeating_or_claiming_anything():
    words = ["--seeds", "1", "--first-seed", "1000", "--arm", "midcourse"]
    done = subprocess.run(
        [sys.executable, "benchmarks/drift.py", *words, "--json"],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["again"] == {"replayed": 4, "differing": 0}
    ours = told["rows"][0]
    assert (ours["runs"], ours["completed"]["share"], ours["twice"], ours["false_done"]) == (4, 1.0, 0, 0)
