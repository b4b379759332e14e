"""What the documentation says of the length of prompts holds, whichever tokenizer is at hand."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.slow


def test_most_of_a_replan_has_been_seen_before():
    done = subprocess.run(
        [sys.executable, "benchmarks/prompt_tokens.py", "--json"], cwd=ROOT, capture_output=True, text=True, timeout=280
    )
    assert done.returncode == 0, done.stderr
    rows = {row["zones"]: row for row in json.loads(done.stdout.splitlines()[-1])["rows"]}
    assert rows[500]["changed"] == 10
    assert rows[500]["uncached_share"] <= 0.3
    assert all(row["uncached_share"] <= 0.3 for row in rows.values())
    assert rows[5_000]["shown"] < 5_000
