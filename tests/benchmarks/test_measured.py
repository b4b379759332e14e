"""Kept results are of the files as they are, or a waiver says why that is accepted."""

from pathlib import Path

import pytest

from benchmarks.harness import measured
from benchmarks.harness.measured import Measured, digest_of
from tests.benchmarks.scripts import ROOT

ENTRIES = measured.load()


def test_every_kept_result_names_what_it_measures() -> None:
    assert ENTRIES.keys() == {file.stem for file in (ROOT / "benchmarks" / "results").glob("*.json")}
    assert [path for entry in ENTRIES.values() for path in entry.paths if not (ROOT / path).exists()] == []


def test_the_commit_is_the_one_that_the_tables_name() -> None:
    for name, entry in ENTRIES.items():
        text = (ROOT / "benchmarks" / "results" / f"{name}.md").read_text(encoding="utf-8")
        assert entry.commit in text, name


def test_measured_files_have_not_changed_since_or_a_waiver_says_why() -> None:
    """Measure again with `--keep`, or waive: `python -m benchmarks.harness.measured --help`."""
    assert measured.find_stale() == []
    assert [name for name, entry in ENTRIES.items() if entry.waived and len(" ".join(entry.reasons)) < 20] == []


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one measured file, in place of the project."""
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "a.py").write_text("1")
    monkeypatch.setattr(measured, "ROOT", tmp_path)
    monkeypatch.setattr(measured, "MEASURED", tmp_path / "measured.toml")
    entry = Measured(paths=("code",), commit="abc", digest=digest_of(("code",), tmp_path))
    measured.save({"speed": entry}, measured.MEASURED)
    return tmp_path


def test_a_change_is_found_until_it_is_waived_and_the_next_one_again(shelf: Path) -> None:
    assert measured.find_stale() == []
    (shelf / "code" / "a.py").write_text("2")
    assert measured.find_stale() == ["speed"]
    measured.waive(["speed"], "only a number")
    assert measured.find_stale() == []
    (shelf / "code" / "b.py").write_text("3")
    assert measured.find_stale() == ["speed"]
    measured.waive(["speed"], "a file that nothing uses")
    assert measured.load(measured.MEASURED)["speed"].reasons == ("only a number", "a file that nothing uses")


def test_measuring_again_removes_the_waiver(shelf: Path) -> None:
    (shelf / "code" / "a.py").write_text("2")
    measured.waive(["speed"], "only a number")
    measured.record("speed", "def")
    assert measured.load(measured.MEASURED)["speed"] == Measured(
        paths=("code",), commit="def", digest=digest_of(("code",), shelf)
    )
