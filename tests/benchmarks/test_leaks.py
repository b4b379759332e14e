"""Trial 17, small: one secret of each kind, on the local runtime. `test_concealed.py` looks at the pictures."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_no_secret_is_in_anything_that_a_run_leaves_behind():
    words = ["--secrets", "5", "--runtime", "local", "--quick", "--json"]
    done = subprocess.run(
        [sys.executable, "benchmarks/leaks.py", *words],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert (told["secrets"], told["hits"], told["blind"]) == (5, 0, [])
    assert told["places"] >= 6, "planner, SQLite, exports, logs, terminal, other files"
