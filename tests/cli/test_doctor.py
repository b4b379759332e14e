"""`midcourse doctor`: each finding says what is wrong and what to type."""

import os
from collections import namedtuple
from pathlib import Path
from typing import Any

import pytest

from midcourse import doctor as checkup
from midcourse.config import extras
from midcourse.doctor import Finding
from midcourse.testing.models import ModelServer
from midcourse.worlds.browser import chromium
from midcourse.worlds.desktop import display
from midcourse.worlds.robot import camera
from tests.cli.conftest import Cli

Usage = namedtuple("Usage", "total used free")


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.endswith("_API_KEY")]:
        monkeypatch.delenv(name)


@pytest.fixture
def quick_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chromium is not started."""
    monkeypatch.setattr(
        checkup, "_check_chromium", lambda: Finding(about="chromium", health="good", says="not looked at")
    )


def find(cli: Cli, about: str, *words: str) -> dict[str, Any]:
    report = cli("doctor", "--json", *words).json
    (finding,) = [one for one in report["findings"] if one["about"] == about]
    return finding


@pytest.mark.slow
def test_every_part_is_good_or_absent(cli: Cli, home: Path):
    result = cli("doctor")
    assert result.code == 0, result.out
    lines = {line.split()[1]: line for line in result.out.splitlines() if line[0] != " "}
    assert list(lines) == ["install", "chromium", "desktop", "robot", "keys", "model", "disk", "permissions", "fleet"]
    assert "shows pages" in lines["chromium"]
    assert "type: export MIDCOURSE_MODEL=openai:gpt-5" in result.out
    assert not home.exists(), "looking makes no home"


def test_a_missing_chromium_is_reported_with_its_command(cli: Cli, monkeypatch: pytest.MonkeyPatch):
    async def find_nothing() -> None:
        return None

    monkeypatch.setattr(chromium, "find_chromium", find_nothing)
    assert find(cli, "chromium")["type_this"].startswith("playwright install chromium")
    assert cli("doctor", "--json").code == 1


def test_a_missing_display_server_is_reported_with_its_package(
    cli: Cli, quick_checks: None, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(display, "NEEDED", {**display.NEEDED, "no-such-program": "xvfb"})
    finding = find(cli, "desktop")
    assert finding["health"] == "absent"
    assert finding["type_this"].startswith("apt install --no-install-recommends ")
    assert "xvfb" in finding["type_this"].split()


def test_a_missing_library_of_the_robot_is_reported_with_its_package(
    cli: Cli, quick_checks: None, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(camera, "find_library", lambda _: None)
    monkeypatch.delenv("MUJOCO_GL", raising=False)
    finding = find(cli, "robot")
    assert (finding["health"], finding["type_this"]) == ("absent", "apt install libegl1 libgl1")
    monkeypatch.setenv("MUJOCO_GL", "egl")
    assert find(cli, "robot")["health"] == "good"
    monkeypatch.setattr(extras, "EXTRAS", {**extras.EXTRAS, "robot": ("no_such_module",)})
    assert find(cli, "robot")["type_this"] == "pip install 'midcourse[robot]'"


def test_missing_extras_are_reported_with_their_command(cli: Cli, quick_checks: None, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(extras, "EXTRAS", {**extras.EXTRAS, "llm": ("no_such_module",)})
    assert find(cli, "install")["type_this"] == "pip install 'midcourse[llm]'"
    assert find(cli, "model")["type_this"] == "pip install 'midcourse[llm]'"


def test_a_missing_key_is_reported_with_its_variable(cli: Cli, quick_checks: None):
    finding = find(cli, "keys", "--model", "anthropic:claude-sonnet-4-5")
    assert (finding["health"], finding["type_this"]) == ("bad", "export ANTHROPIC_API_KEY=...")


@pytest.mark.slow
def test_a_model_that_is_unknown_or_unreachable_is_reported_without_cost(
    cli: Cli, quick_checks: None, monkeypatch: pytest.MonkeyPatch
):
    with ModelServer(["unasked"], models=("gpt-5",)) as server:
        monkeypatch.setenv("MIDCOURSE_MODEL_BASE_URL", server.url)
        assert find(cli, "model", "--model", "openai:gpt-5")["health"] == "good"
        assert "does not have openai:gpt-6" in find(cli, "model", "--model", "openai:gpt-6")["says"]
        assert server.requests == (), "nothing that costs was asked"
    finding = find(cli, "model", "--model", "openai:gpt-5")
    assert f"openai:gpt-5 at {server.url} cannot be reached" in finding["says"]
    assert finding["type_this"] == f"curl -i {server.url}/models"


def test_a_full_disk_is_reported(cli: Cli, quick_checks: None, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(checkup.shutil, "disk_usage", lambda _: Usage(10, 9, 1))
    assert find(cli, "disk")["type_this"] == "export MIDCOURSE_HOME=FOLDER"


def test_readable_keys_and_a_damaged_store_are_reported(cli: Cli, quick_checks: None, home: Path):
    Path(".env").write_text("OPENAI_API_KEY=x")
    Path(".env").chmod(0o644)
    assert find(cli, "permissions")["type_this"] == "chmod 600 .env"
    Path(".env").chmod(0o600)
    assert find(cli, "permissions")["health"] == "good"
    home.mkdir()
    (home / "midcourse.db").write_bytes(b"no database" * 1000)
    assert find(cli, "permissions")["health"] == "bad"


@pytest.mark.slow
def test_an_unreachable_fleet_is_reported(cli: Cli, quick_checks: None, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MIDCOURSE_TEMPORAL_ADDRESS", "127.0.0.1:9")
    assert "database_url is missing" in find(cli, "fleet")["says"]
    monkeypatch.setenv("MIDCOURSE_DATABASE_URL", "postgresql://nobody@127.0.0.1:9/none")
    finding = find(cli, "fleet")
    assert finding["health"] == "bad"
    assert "database cannot be reached" in finding["says"]
