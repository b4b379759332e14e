"""Benchmarks are a project of their own, with the versions that Midcourse is tested with."""

import re
import tomllib

from tests.benchmarks.scripts import ROOT

PROJECT = tomllib.loads((ROOT / "benchmarks" / "pyproject.toml").read_text(encoding="utf-8"))


def read_pins(lock: str) -> dict[str, set[str]]:
    """Every version of each package: some differ by platform or by Python."""
    pins: dict[str, set[str]] = {}
    for name, version in re.findall(r"^([\w.-]+)==([^\s;]+)", (ROOT / lock).read_text(encoding="utf-8"), re.MULTILINE):
        pins.setdefault(name, set()).add(version)
    return pins


def test_both_locks_have_the_same_versions() -> None:
    ours, theirs = read_pins("requirements.lock"), read_pins("benchmarks/requirements.lock")
    assert len(theirs) > 50
    assert [name for name, versions in theirs.items() if name in ours and not versions & ours[name]] == []


def test_the_lock_has_what_the_project_needs() -> None:
    pins = read_pins("benchmarks/requirements.lock")
    needed = [re.split(r"[\[<>=]", one)[0] for one in PROJECT["project"]["dependencies"]]
    assert [name for name in needed if name not in pins] == ["midcourse"], "which is installed from here"


def test_what_only_benchmarks_need_is_bounded() -> None:
    others = [one for one in PROJECT["project"]["dependencies"] if not one.startswith("midcourse[")]
    assert [one for one in others if not (">=" in one and "<" in one)] == []


def test_the_lock_names_no_registry() -> None:
    assert "://" not in (ROOT / "benchmarks" / "requirements.lock").read_text(encoding="utf-8")
