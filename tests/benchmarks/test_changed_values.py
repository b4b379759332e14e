"""Trial 8b, small: one value changes between approval and dispatch, in every way once by each skill."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_nothing_leaves_that_nobody_agreed_to():
    done = subprocess.run(
        [sys.executable, "benchmarks/changed_values.py", "--runs", "26", "--json"],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert (told["changed"], told["otherwise"], told["submitted_although_changed"]) == (26, 0, 0)
    assert (told["control"], told["control_sent_once"]) == (2, 2)
