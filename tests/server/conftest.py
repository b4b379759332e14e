"""A server for each test file: starting one takes a second."""

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.server.serving import Served, serving


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    with serving(Path(tmp_path_factory.mktemp("served"))) as up:
        yield up
