"""Trials 8, 21 and 22, small: no act without that exact live approval, no forged one taken, no tampering unseen."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


def told(*command: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, *command, "--json"],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.slow
def test_nothing_is_done_without_that_exact_live_approval():
    found = told("benchmarks/approvals.py", "--interleavings", "80", "--forgeries", "48")
    assert (found["unapproved"], found["accepted"]) == (0, 0)
    assert found["effects"] > 10
    assert found["forgeries"] >= 48
    assert found["control"] == found["control_done"] > 0


@pytest.mark.slow
def test_whatever_is_done_to_the_audit_log_shows():
    found = told("benchmarks/audit.py", "--tamperings", "300", "--postgres", "140")
    assert (found["tamperings"], found["undetected"]) == (440, 0)
    assert found["limits_with_head"] == found["limits"] > found["limits_detected"] == 0
