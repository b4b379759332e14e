"""A fleet as `midcourse up` starts it, as a fixture: one for all workers, started when the first test asks."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.leftovers import run_folder


@pytest.fixture(scope="session")
def fleet_home() -> Path:
    """The home that the fleet is in. Whoever comes second finds it up already."""
    home = run_folder() / "home"
    midcourse("up", "--detach", home=home)
    return home


def midcourse(*arguments: str, home: Path) -> str:
    """What the command said. Nothing of whoever runs the tests has a say in it."""
    usual = {name: value for name, value in os.environ.items() if not name.startswith("MIDCOURSE_")}
    done = subprocess.run(
        [sys.executable, "-m", "midcourse", *arguments],
        env={**usual, "MIDCOURSE_HOME": str(home)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
