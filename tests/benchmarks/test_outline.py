"""The outline's benchmark in small: every arm gets through, and the automatic one costs hardly more than none."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.slow


def test_off_on_and_automatic_on_the_same_seeds() -> None:
    done = subprocess.run(
        [sys.executable, "benchmarks/outline.py", "--runs", "6", "--first-seed", "0", "--json"],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rows = json.loads(done.stdout.splitlines()[-1])["rows"]
    calls = {(row["outline"], row["error"]): row["calls"] for row in rows}
    assert len(rows) == 11
    assert calls["auto", 0.0] <= calls["on", 0.0]
    assert all(row["calls"] <= 24 for row in rows)
    assert [row["drawn"] for row in rows if row["outline"] != "auto"] == [0.0, *[1.0] * 5]
