"""Where the fleet is: said outright, or found in the home; never half of each."""

import os
from pathlib import Path

import pytest

from docs.settings_tables import reference
from midcourse.config.fleet_settings import FleetSettings
from midcourse.config.settings import Settings
from midcourse.config.up_file import Part, Up, up_folder, write_up
from midcourse.errors import FleetUnavailable, TaskInvalid
from midcourse.process import find_process

FOUND = {"database_url": "postgresql:///found", "temporal_address": "found:7233", "host_file": "/found/host.json"}


@pytest.fixture(autouse=True)
def unset_variables(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in FleetSettings.model_fields:
        monkeypatch.delenv(f"MIDCOURSE_{name.upper()}", raising=False)


def write_up_file(home: Path, pid: int | None = None) -> None:
    process = find_process(pid or os.getpid())
    assert process is not None
    parts = tuple(Part(name=name, address="", process=process, log="") for name in ("PostgreSQL", "Temporal"))
    up_folder(home).mkdir(parents=True, exist_ok=True)
    write_up(home, Up(parts=parts, settings=FOUND))


def test_a_fleet_in_the_home_is_found(tmp_path: Path):
    write_up_file(tmp_path)
    settings = FleetSettings.load(tmp_path, {"tenant": "acme"})
    settings.check_complete(tmp_path)
    assert settings.database_url.get_secret_value() == "postgresql:///found"
    assert (settings.temporal_address, settings.host_file) == ("found:7233", Path("/found/host.json"))
    assert settings.tenant == "acme"


@pytest.mark.parametrize("name", ["database_url", "temporal_address"])
def test_servers_that_are_named_are_never_mixed_with_those_in_the_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
):
    write_up_file(tmp_path)
    monkeypatch.setenv(f"MIDCOURSE_{name.upper()}", "elsewhere")
    settings = FleetSettings.load(tmp_path)
    assert settings.host_file is None
    with pytest.raises(FleetUnavailable, match="is missing"):
        settings.check_complete(tmp_path)


def test_a_variable_overrides_what_the_home_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    write_up_file(tmp_path)
    monkeypatch.setenv("MIDCOURSE_HOST_FILE", "/mine.json")
    settings = FleetSettings.load(tmp_path)
    assert (settings.temporal_address, settings.host_file) == ("found:7233", Path("/mine.json"))


def test_fleet_without_running_servers_is_not_found(tmp_path: Path):
    gone = os.posix_spawn("/bin/true", ["true"], os.environ)
    write_up_file(tmp_path)
    text = (up_folder(tmp_path) / "up.json").read_text()
    (up_folder(tmp_path) / "up.json").write_text(text.replace(f'"pid":{os.getpid()}', f'"pid":{gone}'))
    with pytest.raises(FleetUnavailable, match="midcourse up"):
        FleetSettings.load(tmp_path).check_complete(tmp_path)


def test_addresses_of_the_servers_are_private(tmp_path: Path):
    write_up_file(tmp_path)
    assert (up_folder(tmp_path) / "up.json").stat().st_mode & 0o777 == 0o600
    assert "found" not in repr(FleetSettings.load(tmp_path).database_url)


def test_a_misspelt_or_impossible_setting_is_refused(tmp_path: Path):
    with pytest.raises(TaskInvalid, match="did you mean 'tenant'"):
        FleetSettings.load(tmp_path, {"tennant": "acme"})
    with pytest.raises(TaskInvalid, match="--set heartbeat_seconds = '0'"):
        FleetSettings.load(tmp_path, {"heartbeat_seconds": "0"})


def test_no_setting_of_a_fleet_is_also_one_of_a_run():
    assert not set(FleetSettings.model_fields) & set(Settings.model_fields)


def test_every_setting_says_what_it_changes():
    table = reference(FleetSettings)
    for name, field in FleetSettings.model_fields.items():
        assert field.description
        assert f"`MIDCOURSE_{name.upper()}`" in table
