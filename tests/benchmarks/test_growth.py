"""A step of a long run costs what one of a short run costs. Records read are counted: they do not depend on the machine."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_a_late_step_reads_as_many_records_as_an_early_one() -> None:
    done = subprocess.run(
        [sys.executable, "benchmarks/growth.py", "--steps", "160", "--json"],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert (told["steps"], told["completed"]) == (160, True)
    assert told["again"] == {"replayed": 1, "differing": 0}
    assert told["reads_ratio"] <= 1.3
    assert told["late_reads"] < 20
