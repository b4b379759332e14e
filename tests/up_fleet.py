"""A fleet as `midcourse up` starts it, as a fixture: one for all workers, started when the first test asks, gone at the end."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

FOLDER = "MIDCOURSE_TEST_UP_FOLDER"
"""Where the fleet of this test run is. The workers inherit it, and so share it."""


def pytest_configure(config: pytest.Config) -> None:
    if FOLDER not in os.environ:
        os.environ[FOLDER] = tempfile.mkdtemp(prefix="midcourse-")
        config.add_cleanup(_down)


def _down() -> None:
    folder = Path(os.environ.pop(FOLDER))
    if (folder / "home").exists():
        midcourse("down", home=folder / "home")
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def fleet_home() -> Path:
    """The home that the fleet is in. Whoever comes second finds it up already."""
    home = Path(os.environ[FOLDER]) / "home"
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
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
