"""A real Temporal server for the tests of one process: the one that MIDCOURSE_TEST_TEMPORAL names, or one of our own."""

import os
from collections.abc import Generator
from pathlib import Path

import pytest

from midcourse.runtimes.temporal.development import start_server


@pytest.fixture(scope="session")
def temporal(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """Its address."""
    given = os.environ.get("MIDCOURSE_TEST_TEMPORAL")
    if given:
        yield given
        return
    server = start_server(Path(tmp_path_factory.mktemp("temporal")))
    try:
        yield server.address
    finally:
        server.stop()
