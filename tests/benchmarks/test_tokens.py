"""Trials 25 and 29, small: no order is repeated for a fresh token, and a wrong 'absent' repeats one at most."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_no_order_is_repeated_and_none_held_up():
    command = [sys.executable, "benchmarks/tokens.py", "--trial", "tokens:60,absent:15,control:6", "--json"]
    done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["tokens"]["orders"] == found["tokens"]["runs"] == 60
    assert found["tokens"]["repeated"] == 0
    assert found["absent"]["most"] == 2
    assert found["absent"]["asked"]["happened"] >= 15
    assert (found["control"]["orders"], found["control"]["missing"], found["control"]["needless"]) == (90, 0, 0)
