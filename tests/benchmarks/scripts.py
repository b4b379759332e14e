"""Runs a benchmark as its user does, and reads the JSON objects it prints."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def measure(script: str, *words: str) -> dict[str, Any]:
    """The summary: the object on the last line."""
    return measure_each(script, *words)[-1]


def measure_runs(script: str, *words: str) -> dict[str, Any]:
    """As `measure`, for benchmarks that take the number of runs first and replay each run."""
    result = measure(script, *words)
    assert result["again"]["replayed"] >= int(words[1])
    assert result["again"]["differing"] == 0
    return result


def measure_each(script: str, *words: str) -> list[dict[str, Any]]:
    """Every object it prints. Without a time limit: durations depend on the machine, and pytest ends a test that hangs."""
    command = [sys.executable, "-m", f"benchmarks.{script}", *words, "--json"]
    done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr[-20_000:]}"
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
