"""`midcourse completion`: the scripts are what the shells take, and what they ask is answered."""

import shutil
import subprocess
from pathlib import Path

import pytest

from midcourse.cli.main import main
from midcourse.cli.options import next_runs, next_settings, next_tasks
from tests.cli.conftest import Cli


def complete(words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What bash would be told for these words, the last of which is not finished."""
    monkeypatch.setenv("_MIDCOURSE_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))
    with pytest.raises(SystemExit) as left:
        main([])
    assert left.value.code == 0
    return capsys.readouterr().out.split()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("midcourse de", ["demo"]),
        ("midcourse do --dr", ["--dry-run"]),
        ("midcourse do x --approvals a", ["always", "adaptive"]),
        ("midcourse init w", ["world"]),
        ("midcourse run note", ["notepad"]),
        ("midcourse run notepad --set max_ca", ["max_calls="]),
        ("midcourse show la", ["last"]),
        ("midcourse completion f", ["fish"]),
    ],
)
def test_commands_options_and_values_are_completed(
    words: str, expected: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    assert complete(words, monkeypatch, capsys) == expected


def test_runs_task_files_and_settings_of_the_folder_are_completed(cli: Cli, order: str):
    assert [name for name, _ in next_runs("")] == ["last"], "there is no home yet, and none is made"
    assert not Path(".midcourse").exists()
    cli("run", order, "--set", "approvals=never", "--run-id", "lamp", "--json")
    assert list(next_runs("la")) == [("last", "the latest run"), ("lamp", "Order one desk lamp")]
    assert ("order.toml", "") in next_tasks("")
    assert all(name.endswith("=") and words for name, words in next_settings(""))
    offered = {name for name, _ in next_settings("")}
    assert {"max_calls=", "recovery=", "human_after="} <= offered
    assert "visible_plans=" not in offered


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_valid_in_its_shell(shell: str, cli: Cli):
    result = cli("completion", shell)
    assert result.code == 0
    assert "_MIDCOURSE_COMPLETE" in result.out
    assert cli("completion", shell, "--json").json["script"] in result.out
    program = shutil.which(shell)
    if program:
        done = subprocess.run([program, "-n"], input=result.out, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")


def test_an_unknown_shell_is_refused_with_a_suggestion(cli: Cli):
    assert "did you mean 'zsh'?" in cli("completion", "zhs").err
