"""Each test has a folder and a home of its own, and an environment that says nothing to us."""

import os
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("MIDCOURSE_") and name != "MIDCOURSE_HYPOTHESIS"]:
        monkeypatch.delenv(name)
    return tmp_path / ".midcourse"
