"""The console beside a command: it is up as long as the command, and opened without showing its token to other accounts."""

import stat
import webbrowser
from html import unescape
from pathlib import Path

import httpx2 as httpx
import pytest

from midcourse.cli.session.console import open_in_browser, serve_console
from midcourse.config import extras
from midcourse.config.settings import Settings


@pytest.mark.slow
def test_the_console_is_served_until_the_command_ends(tmp_path: Path) -> None:
    with serve_console(Settings.load(overrides={"home": str(tmp_path)})) as address:
        url, _, token = address.partition("#token=")
        assert token
        health = f"{url}healthz"
        with httpx.Client(verify=False) as client:
            assert client.get(health).json()["ok"]
    with httpx.Client(verify=False) as client, pytest.raises(httpx.ConnectError):
        client.get(health)


def test_without_the_extra_there_is_no_console(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(extras.EXTRAS, "server", ("no_such_module",))
    with serve_console(Settings.load(overrides={"home": str(tmp_path)})) as address:
        assert address == ""


def test_a_browser_is_given_a_file_that_only_its_owner_can_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda url: opened.append(url) or True)
    monkeypatch.setenv("DISPLAY", ":7")
    address = "http://127.0.0.1:8321/#token=secret/runs/a"
    assert open_in_browser(address, tmp_path)
    page = Path(opened[0].removeprefix("file://"))
    assert "secret" not in opened[0]
    assert address in unescape(page.read_text())
    assert stat.S_IMODE(page.stat().st_mode) == 0o600


def test_nothing_is_opened_where_there_are_no_windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    assert not open_in_browser("http://127.0.0.1:8321/#token=secret", tmp_path)
