"""`midcourse resume`, and the ways to name a run."""

import re
from pathlib import Path

import pytest

from tests.cli.conftest import ORDER, Cli, start_and_wait_for_turns


@pytest.mark.slow
def test_a_killed_run_goes_on_where_it_was(cli: Cli, tmp_path: Path, home: Path) -> None:
    """kill -9 in the second plan or later; a new process ends the task, and knows what was done before."""
    with start_and_wait_for_turns(tmp_path, "note", home, turns=9) as process:
        process.kill()
    assert cli("runs", "--json").json[0]["state"] == "interrupted"
    shown = cli("show", "note")
    assert shown.code == 0
    assert "midcourse resume note" in shown.out

    result = cli("resume", "note", "--set", "step_delay_seconds=0")
    assert result.code == 0
    assert re.search(r"picked up again in step \d of plan [23] \(.+\); the world had to be opened again", result.out)
    assert "(world reopened)" in result.out
    assert "done, and verified" in result.out


def test_resuming_what_has_ended_shows_the_verdict_again(cli: Cli) -> None:
    first = cli("run", "notepad", "--run-id", "good", "--json")
    again = cli("resume", "good", "--json")
    assert (again.code, again.json) == (0, first.json)
    cli("run", "unreachable_cube", "--run-id", "bad", "--json")
    failed = cli("resume", "bad")
    assert failed.code == 1
    assert "failed: no plan can fix this" in failed.out


def test_a_denied_run_still_says_that_nobody_was_there(cli: Cli, order: str) -> None:
    cli("run", order, "--run-id", "order", "--json")
    assert "there was no terminal to ask in" in cli("resume", "order").out


@pytest.mark.slow
def test_a_run_that_another_process_drives_is_busy(cli: Cli, tmp_path: Path, home: Path) -> None:
    with start_and_wait_for_turns(tmp_path, "note", home, turns=2) as process:
        try:
            result = cli("resume", "note")
            assert result.code == 2
            assert "another process drives run note" in result.err
            assert cli("runs", "--json").json[0]["state"] == "running"
            assert "driven by another process" in cli("show", "note").out
        finally:
            process.kill()


@pytest.fixture
def three_runs(cli: Cli) -> None:
    for name in ("note-1", "note-2", "cube"):
        cli("run", "unreachable_cube", "--run-id", name, "--json")


@pytest.mark.usefixtures("three_runs")
@pytest.mark.parametrize(
    ("name", "meant"), [("note-1", "note-1"), ("c", "cube"), ("last", "cube"), ("note-2", "note-2")]
)
def test_a_run_can_be_abbreviated(cli: Cli, name: str, meant: str) -> None:
    assert cli("resume", name, "--json").json["run"] == meant
    assert cli("show", name, "--json").json["run"] == meant


@pytest.mark.usefixtures("three_runs")
def test_an_unknown_run_lists_the_latest(cli: Cli) -> None:
    result = cli("resume", "zebra")
    assert result.code == 2
    assert "no run is called 'zebra'" in result.err
    assert [line.split()[0] for line in result.err.splitlines()[1:]] == ["cube", "note-2", "note-1"]


@pytest.mark.usefixtures("three_runs")
def test_an_ambiguous_name_lists_what_it_could_mean(cli: Cli) -> None:
    result = cli("show", "note")
    assert result.code == 2
    assert "could be any of 2 runs" in result.err
    assert [line.split()[0] for line in result.err.splitlines()[1:]] == ["note-2", "note-1"]


def test_where_there_are_no_runs_it_says_how_to_make_one(cli: Cli) -> None:
    assert "midcourse run" in cli("resume", "last").err


@pytest.mark.usefixtures("three_runs")
def test_a_run_keeps_the_settings_it_began_with(cli: Cli) -> None:
    result = cli("resume", "cube", "--set", "max_calls=5")
    assert result.code == 2
    assert "keeps the settings it began with" in result.err


def test_runs_can_be_kept_elsewhere(cli: Cli, tmp_path: Path) -> None:
    cli("run", "unreachable_cube", "--run-id", "cube", "--json", "--set", f"home={tmp_path / 'elsewhere'}")
    assert cli("resume", "cube").code == 2
    assert cli("resume", "cube", "--json", "--set", f"home={tmp_path / 'elsewhere'}").json["run"] == "cube"


def test_a_resumed_order_shows_the_worlds_own_log(cli: Cli, tmp_path: Path) -> None:
    task = tmp_path / "order.toml"
    task.write_text(ORDER.replace("{world}", "").replace("[settings]", "[settings]\napprovals = 'never'"))
    result = cli("run", str(task), "--run-id", "lamp")
    assert result.code == 0
    assert "1 effect in the world's own log, effects.jsonl" in result.out
    assert "order" in result.out
