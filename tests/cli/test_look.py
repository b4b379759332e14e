"""`midcourse look`: what a planner sees of a page, in words and as a picture."""

import json
from pathlib import Path

import pytest

from midcourse.cli.commands.start.look import lines
from midcourse.cli.main import main
from midcourse.domain.observation import Observation, Surface, Zone
from midcourse.terminal.output import UNICODE
from tests.pages import serve_pages

PAGE = "<h1>Shop</h1><label>Name <input value=Ada></label><div style='height: 2000px'></div><button>Buy</button>"


def read_size(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG")
    return int.from_bytes(png[16:20]), int.from_bytes(png[20:24])


@pytest.mark.slow
def test_zones_in_the_terminal_as_json_and_over_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    with serve_pages() as pages:
        address = pages.show("/", PAGE, title="Shop")
        assert main(["look", address, "--png", str(tmp_path / "view.png")]) == 0
        output = capsys.readouterr().out.splitlines()
        assert main(["look", address, "--whole", "--json", "--png", str(tmp_path / "whole.png")]) == 0
        seen = json.loads(capsys.readouterr().out)
    assert output[0] == address
    assert [line.split() for line in output[1:5]] == [
        ["page", "page", "Shop", "status=200", "tabs=1"],
        ["e1", "heading", "Shop"],
        ["e2", "textbox", "Name", "value=Ada"],
        ["e3", "button", "Buy", "seen=False"],
    ]
    assert [zone["label"] for zone in seen["zones"]] == ["Shop", "Shop", "Name", "Buy"]
    assert read_size((tmp_path / "view.png").read_bytes()) == (1280, 800)
    assert read_size((tmp_path / "whole.png").read_bytes())[1] > 2000


@pytest.mark.slow
def test_refused_origins_of_a_page_are_listed_until_they_are_allowed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    with serve_pages() as pages, serve_pages() as elsewhere:
        style = elsewhere.show("/style.css", "<html>p { color: red }", content_type="text/css")
        address = pages.show("/", f"<link rel=stylesheet href='{style}'><p>Shop</p>")
        words = ["look", address, "--json", "--png", str(tmp_path / "look.png")]
        assert main(words) == 0
        assert json.loads(capsys.readouterr().out)["turned_away"] == [f"GET {style}"]
        assert elsewhere.hits == []
        (tmp_path / "origins.toml").write_text(f'["{elsewhere.url}"]\nprivate = true\n')
        assert main([*words, "--origins", str(tmp_path / "origins.toml")]) == 0
        assert json.loads(capsys.readouterr().out)["turned_away"] == []
        assert elsewhere.hits == ["GET /style.css"]


@pytest.mark.slow
def test_a_page_behind_a_dialog_is_seen_without_a_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    with serve_pages() as pages:
        address = pages.show("/", "<p>Shop</p><script>setTimeout(() => confirm('Really?'))</script>")
        assert main(["look", address, "--png", str(tmp_path / "look.png")]) == 0
    said = capsys.readouterr().out
    assert "Really?" in said
    assert "no picture" in said
    assert not (tmp_path / "look.png").exists()


def test_what_a_page_says_cannot_forge_the_terminal():
    zone = Zone(id="e1", role="text", label="\x1b[2J\u202eevil", state=(("value", "a\nb"),))
    seen = Observation(id="", surface=Surface(title="", address="http://x/\x1b]0;"), zones=(zone,), fingerprint="x")
    text = "".join(line.plain for line in lines(seen, UNICODE))
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "value=a b" in text
