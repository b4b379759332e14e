"""A dozen tasks of MiniWoB++ in a real Chromium: segments solve them all, a fixed plan those that stay as they are."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STAY = ("click-checkboxes", "choose-list", "enter-date", "read-table", "use-slider", "social-media-some")
CHANGE = (
    "click-collapsible-2",
    "click-tab-2-hard",
    "login-user-popup",
    "search-engine",
    "email-inbox-forward",
    "terminal",
)
SEED = "2"


@pytest.mark.slow
def test_segments_solve_what_changes_in_the_middle_too():
    words = ["--seeds", "1", "--first-seed", SEED, "--json", "--tasks", *STAY, *CHANGE]
    done = subprocess.run(
        [sys.executable, "benchmarks/miniwob.py", *words],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    solved = {row["task"]: (row["fixed"]["share"], row["segments"]["share"]) for row in told["rows"]}
    assert solved == dict.fromkeys(STAY, (1, 1)) | dict.fromkeys(CHANGE, (0, 1))
