"""Invisible characters and terminal control characters in prompts, on the terminal, in JSON and in error messages."""

import json
import unicodedata
from functools import cache
from pathlib import Path

import pytest

from midcourse.cli.commands.control import report
from midcourse.cli.main import main
from midcourse.llm.prompt.quoting import quote
from midcourse.redact import Redactor
from midcourse.terminal.output import UNICODE, print_json, print_object

IGNORABLE = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0\U000e0100"


@cache
def unseen() -> list[str]:
    every = map(chr, range(0x110000))
    kinds = ("Cf", "Cc", "Zl", "Zp")
    return [c for c in every if unicodedata.category(c) in kinds or c in IGNORABLE or 0xFE00 <= ord(c) <= 0xFE0F]


@pytest.mark.slow
def test_no_prompt_holds_a_character_that_nobody_sees() -> None:
    assert [char for char in unseen() if char in quote(f"a{char}b")] == []


@pytest.mark.slow
def test_no_such_character_reaches_the_terminal() -> None:
    assert [char for char in unseen() if char in UNICODE.clean(f"a{char}b")] == []


def test_json_output_holds_none_and_means_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    said = {"text": "a" + "".join(unseen()) + "b \x9b31m \u202eevil 👩\u200d👩 ❤\ufe0f"}
    print_object(said)
    print_json(json.dumps(said, ensure_ascii=False))
    for line in capsys.readouterr().out.strip().split("\n"):
        assert json.loads(line) == said
        assert not set(line) & set(unseen())


def test_a_hidden_text_in_variation_selectors_is_seen() -> None:
    hidden = "".join(chr(0xFE00 + n) for n in (4, 8, 6, 5, 15, 15))
    assert quote(f"OK{hidden}").count("\\ufe0") == 6
    assert quote(f"👍{hidden}").count("\\ufe0") == 6
    assert quote("👍" + "\ufe0f" * 5).count("\\ufe0f") == 4, "an emoji has one"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("I ❤\ufe0f it", "I ❤ it"),
        ("👩\u200d👩\u200d👧", "👩👩👧"),
        ("🏳\ufe0f\u200d🌈", "🏳🌈"),
        ("Größe 口座番号 שלום", "Größe 口座番号 שלום"),
        ("می\u200cخواهم", "می\\u200cخواهم"),
    ],
)
def test_ordinary_text_stays_readable(text: str, shown: str) -> None:
    assert UNICODE.clean(text) == shown
    assert json.loads(quote(text)) == shown.replace("\\u200c", "\u200c")


def test_an_error_message_quotes_a_strangers_file_harmlessly(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    task = tmp_path / "task.toml"
    task.write_text(
        'goal = "x"\n[world]\nname = "\\u001b]0;pwned\\u0007\\u001b[2J\\u202e"\n[planner]\nname = "same_plan"\n'
        'steps = [{ zone = "page", skill = "read" }]\n'
    )
    assert main(["run", str(task)]) == 2
    said = capsys.readouterr().err
    assert not set(said) & set("\x1b\x07\u202e")
    assert "\\x1b]0;pwned" in said


@pytest.mark.parametrize("escape", ["\\u001b]0;pwned\\u0007", "\\u0000", "\\u009b31m"])
def test_a_strangers_file_names_no_home_that_a_terminal_obeys(
    escape: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("task.toml").write_text(
        f'goal = "x"\n[settings]\nhome = "a{escape}"\n[world]\nname = "notepad"\n[planner]\nname = "same_plan"\n'
        'steps = [{ zone = "page", skill = "read" }]\n'
    )
    assert main(["run", "task.toml"]) == 2
    said = capsys.readouterr().err
    assert "has to be a path without control characters" in said
    assert not set(said) & set("\x00\x07\x1b\x9b")
    assert [path.name for path in tmp_path.iterdir()] == ["task.toml"]


@pytest.mark.parametrize("home", ["home\u202egnp", "home\u200b"])
def test_the_path_of_a_run_is_printed_harmlessly(home: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "notepad", "--home", str(tmp_path / home)]) == 0
    assert not set(capsys.readouterr().out) & set("\u202e\u200b")


def test_a_refusal_quotes_a_page_harmlessly(capsys: pytest.CaptureFixture[str]) -> None:
    report("r", "changed since: value 'a': '\x1b[2J' -> '\u202e'", "", json=False)
    assert not set(capsys.readouterr().out) & set("\x1b\u202e")


@pytest.mark.parametrize("world", ["subprocess:Popen", "json:dumps", "pathlib:Path", "sys:path"])
@pytest.mark.parametrize("process", ["true", "false"])
def test_what_is_not_a_world_is_refused_in_words_and_never_called(
    world: str, process: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = tmp_path / "ran"
    task = tmp_path / "task.toml"
    task.write_text(
        f'goal = "x"\n[world]\nname = "{world}"\nprocess = {process}\n[world.options]\nargs = ["touch", "{ran}"]\n'
        '[planner]\nname = "same_plan"\nsteps = [{ zone = "page", skill = "read" }]\n'
    )
    assert main(["run", str(task), "--set", f"home={tmp_path / 'home'}"]) == 2
    assert f"world '{world}' is not a world" in capsys.readouterr().err
    assert not ran.exists()


def test_a_secret_that_was_cut_off_is_masked_up_to_the_cut() -> None:
    mask = Redactor([("pin", "a" * 40)])
    assert mask("see aaaaaaaa… and more…") == "see <secret pin>… and more…"
    assert mask("see aaaaaaaa, which is not cut") == "see aaaaaaaa, which is not cut"
