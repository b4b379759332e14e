"""`midcourse replay`: what it says, and to whom."""

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Cli


@pytest.fixture
def note(cli: Cli) -> str:
    cli("run", "notepad", "--run-id", "note", "--json")
    return "note"


def test_unchanged_it_is_identical(cli: Cli, note: str) -> None:
    result = cli("replay", note)
    assert result.code == 0
    assert result.out.startswith("identical: ")
    assert cli("replay", "last", "--json").json["verdict"] == "identical"


def test_a_stricter_limit_says_what_is_saved_and_lost(cli: Cli, note: str) -> None:
    result = cli("replay", note, "--set", "max_segments=2", "--set", "wrap_up_at=1")
    assert result.code == 0
    lines = result.out.splitlines()
    assert lines[0].startswith("would have ended earlier, at event ")
    assert lines[0].endswith("budget_exhausted, all 2 segments are used up")
    assert "saved     1 of 3 calls, 5 of 11 acts, 1 of 3 planner calls" in result.out
    assert "lost      5 completed steps and the success: the recorded run ended as goal_reached" in result.out


def test_a_replay_prints_its_verdict_and_changes_as_json(cli: Cli, note: str) -> None:
    result = cli("replay", note, "--set", "max_segments=2", "--set", "wrap_up_at=1", "--json").json
    assert (result["run"], result["verdict"]) == (note, "ends_earlier")
    assert result["changes"]["max_segments"] == {"from": 20, "to": 2}
    assert (result["saved"]["calls"], result["until"]["calls"], result["recorded"]["calls"]) == (1, 2, 3)
    assert result["lost"] == {"steps": 5, "success": True}
    assert 0 < result["event"] < result["events"]


def test_undetermined_difference_is_reported(cli: Cli, note: str) -> None:
    result = cli("replay", note, "--set", "max_calls=3", "--set", "wrap_up_at=0.5")
    assert result.code == 0
    assert "undetermined after event " in result.out
    assert "--set wrap_up_at=1 leaves that out" in result.out
    assert cli("replay", note, "--set", "max_calls=3", "--set", "wrap_up_at=0.5", "--json").json["saved"] is None


def test_a_raised_limit_leads_beyond_what_was_recorded(cli: Cli) -> None:
    cli("run", "notepad", "--run-id", "short", "--json", "--set", "max_segments=1")
    assert "not recorded after event " in cli("replay", "short", "--set", "max_segments=5").out


def test_a_question_to_a_person_is_reported_where_there_was_none(cli: Cli, order: str) -> None:
    cli("run", order, "--run-id", "order", "--json", "--set", "approvals=never")
    result = cli("replay", "order", "--set", "approvals=always")
    assert "would have asked a person at event " in result.out
    assert "unless a person agrees" in result.out


def test_a_limit_that_changes_nothing_is_reported_as_no_difference(cli: Cli, note: str) -> None:
    assert cli("replay", note, "--set", "max_replans=3").out.startswith("no difference: ")


def test_a_journal_is_replayed_without_its_home(cli: Cli, note: str, home: Path, tmp_path: Path) -> None:
    copy = tmp_path / "sent-by-mail.jsonl"
    shutil.copy(home / "runs" / note / "journal.jsonl", copy)
    shutil.rmtree(home)
    assert cli("replay", str(copy), "--json").json["verdict"] == "identical"
    assert cli("replay", str(copy), "--set", "max_segments=1", "--json").json["run"] == note
    assert not home.exists()


def test_replay_accepts_the_folder_of_a_run(cli: Cli, note: str, home: Path) -> None:
    assert cli("replay", str(home / "runs" / note)).out.startswith("identical")


def test_nondeterminism_is_an_error(cli: Cli, note: str, home: Path) -> None:
    path = home / "runs" / note / "journal.jsonl"
    lines = path.read_text().splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith('{"seq"'))
    row = json.loads(lines[first + 4])
    lines[first + 4] = json.dumps({**row, "commands": []})
    path.write_text("\n".join(lines) + "\n")
    result = cli("replay", str(path))
    assert result.code == 1
    assert result.out.startswith(f"nondeterminism at event {row['seq']}: ")
    assert "please report it" in result.out


def test_a_state_that_was_tampered_with_is_noticed(cli: Cli, note: str, home: Path) -> None:
    path = home / "runs" / note / "journal.jsonl"
    lines = path.read_text().splitlines()
    state = json.loads(lines[-1])
    state["state"]["verified"] = False
    path.write_text("\n".join([*lines[:-1], json.dumps(state)]) + "\n")
    result = cli("replay", str(path), "--json")
    assert (result.code, result.json["verdict"]) == (1, "nondeterminism")


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        (("nope",), "no run is called 'nope'"),
        (("nope.jsonl",), "there is no journal 'nope.jsonl'"),
        (("note", "--set", "max_cals=1"), "did you mean 'max_calls'"),
        (("note", "--set", "max_calls=0"), "--set max_calls"),
        (("note", "--set", "step_delay_seconds=1"), "changes nothing in a replay"),
    ],
)
@pytest.mark.usefixtures("note")
def test_misuse_is_refused_with_advice(cli: Cli, args: tuple[str, ...], problem: str) -> None:
    result = cli("replay", *args)
    assert result.code == 2
    assert problem in result.err


def test_the_environment_does_not_change_a_replay(cli: Cli, note: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIDCOURSE_MAX_CALLS", "1")
    assert cli("replay", note).out.startswith("identical")
    assert cli("replay", note, "--set", "max_replans=4").out.startswith("no difference")


def test_a_run_in_another_home_is_replayed(cli: Cli, tmp_path: Path) -> None:
    elsewhere = f"home={tmp_path / 'elsewhere'}"
    cli("run", "unreachable_cube", "--json", "--set", elsewhere)
    assert cli("replay", "last", "--set", elsewhere).out.startswith("identical")
    assert cli("replay", "last").code == 2
