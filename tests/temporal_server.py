"""A real Temporal server as a fixture: started when the first test asks, shared by all workers, stopped at the end."""

import fcntl
import os
import shutil
import tempfile
from pathlib import Path

import pytest

from midcourse.codec import decode, encode

ADDRESS = "MIDCOURSE_TEST_TEMPORAL"
"""The address of a server to use instead of our own."""
FOLDER = "MIDCOURSE_TEST_TEMPORAL_FOLDER"
"""Where the server of this test run is. The workers inherit it, and so share it."""


def pytest_configure(config: pytest.Config) -> None:
    if FOLDER not in os.environ:
        os.environ[FOLDER] = tempfile.mkdtemp(prefix="midcourse-")
        config.add_cleanup(_stop)


def _stop() -> None:
    folder = Path(os.environ.pop(FOLDER))
    running = folder / "server.json"
    if running.exists():
        from midcourse.runtimes.temporal.development import DevelopmentServer

        decode(DevelopmentServer, running.read_bytes()).stop()
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def temporal() -> str:
    """Its address."""
    return os.environ.get(ADDRESS) or _started(Path(os.environ[FOLDER]))


def _started(folder: Path) -> str:
    from midcourse.runtimes.temporal.development import DevelopmentServer, start_server

    running = folder / "server.json"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not running.exists():
            running.write_text(encode(start_server(folder)))
    return decode(DevelopmentServer, running.read_bytes()).address
