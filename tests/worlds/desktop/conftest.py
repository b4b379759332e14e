"""The tests of the desktop world run real programs. They are skipped only where Debian packages are missing."""

from pathlib import Path

import pytest

from midcourse.worlds.desktop.display import format_apt_line
from tests.worlds.desktop.packages import find_missing_programs


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    packages, here = find_missing_programs(), Path(__file__).parent
    if packages:
        for item in items:
            if item.path.is_relative_to(here):
                item.add_marker(pytest.mark.skip(reason=f"type: {format_apt_line(packages)}"))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The home folder of the programs."""
    folder = tmp_path / "home"
    folder.mkdir()
    return folder
