"""A fleet as `midcourse up` starts it, as a fixture: one for all workers, started by the first test that uses it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.leftovers import run_folder


@pytest.fixture(scope="session")
def fleet_home() -> Path:
    """The home of the fleet. `up` does nothing if another worker has started it."""
    home = run_folder() / "home"
    midcourse("up", "--detach", home=home)
    return home


def midcourse(*arguments: str, home: Path) -> str:
    """Run a command and return its output. MIDCOURSE_* variables of the environment are removed."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MIDCOURSE_")}
    done = subprocess.run(
        [sys.executable, "-m", "midcourse", *arguments],
        env={**environment, "MIDCOURSE_HOME": str(home)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
