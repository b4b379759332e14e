"""A server for each test file: starting one takes a second."""

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.server.serving import RunningServer, run_server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningServer]:
    with run_server(Path(tmp_path_factory.mktemp("server"))) as server:
        yield server
