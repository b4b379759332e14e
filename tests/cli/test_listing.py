"""`runs`, `show`, `settings` and `examples`."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from midcourse.config.fleet_settings import FleetSettings
from midcourse.config.settings import Settings
from tests.cli.conftest import Cli
from tests.config.test_fleet_settings import write_up_file


def test_without_runs_the_list_says_how_to_start_one(cli: Cli) -> None:
    assert "midcourse run notepad" in cli("runs").out
    assert cli("runs", "--json").json == []


def test_runs_are_listed_with_the_latest_first(cli: Cli, order: str) -> None:
    cli("run", "notepad", "--run-id", "note", "--json")
    cli("run", order, "--run-id", "order", "--json")
    rows = cli("runs", "--json").json
    assert [(row["run"], row["state"], row["final_reason"]) for row in rows] == [
        ("order", "failed", "rejected"),
        ("note", "done, verified", "goal_reached"),
    ]
    assert [row["task_state"] for row in rows] == ["FAILED", "COMPLETED"]
    lines = cli("runs").out.splitlines()
    assert [line.split("\t")[:3] for line in lines] == [
        ["order", "failed", "rejected"],
        ["note", "done, verified", "goal_reached"],
    ]


def test_show_tells_why_each_plan_was_made(cli: Cli) -> None:
    cli("run", "notepad", "--run-id", "note", "--json")
    out = cli("show", "last").out
    assert "Plan 1  first plan" in out
    assert "Plan 2  after a transition" in out
    assert " 4. look again, then plan on" in out
    assert "done: Press the Windows key" in out.partition("Journal")[2]
    assert "done, and verified" in out


def test_show_prints_json_with_plans_and_journal(cli: Cli) -> None:
    cli("run", "notepad", "--run-id", "note", "--json")
    shown = cli("show", "note", "--json").json
    assert shown["result"]["success"] is True
    assert shown["task_state"] == "COMPLETED"
    assert [plan["cause"] for plan in shown["plans"]] == ["initial", "adaptive", "adaptive"]
    assert shown["journal"][0]["event"]["kind"] == "started"


def test_settings_are_listed_with_values_defaults_and_whether_they_are_set(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIDCOURSE_MAX_CALLS", "5")
    rows = {row["name"]: row for row in cli("settings", "--all", "--json").json}
    assert list(rows) == [*Settings.model_fields, *FleetSettings.model_fields]
    assert (rows["max_calls"]["value"], rows["max_calls"]["default"], rows["max_calls"]["said"]) == (5, 30, True)
    assert rows["approvals"]["said"] is False
    assert "max_calls = 5 (default 30): " in (shown := cli("settings", "--all").out)
    assert "](" not in shown, "a link of the documentation leads nowhere in a terminal"


def test_settings_shows_those_that_are_set_most_often(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIDCOURSE_RECOVERY", "strict")
    monkeypatch.setenv("MIDCOURSE_WRAP_UP_AT", "0.5")
    shown, everything = cli("settings", "--json").json, cli("settings", "--all", "--json").json
    assert len(shown) <= 30 < len(everything)
    assert {row["audience"] for row in shown} == {"everyday"}
    lines = cli("settings").out.splitlines()
    assert [line.split(" = ")[0] for line in lines[:-1]] == [row["name"] for row in shown]
    assert lines[-1] == (
        f"{len(everything) - len(shown)} more with midcourse settings --all; "
        "not at their defaults: max_error_replans, human_after, wrap_up_at"
    )


def test_settings_of_benchmarks_have_their_own_heading(cli: Cli) -> None:
    usual, _, benchmarks = cli("settings", "--all").out.partition("\nFor benchmarks only\n")
    names = [line.split(" = ")[0] for line in benchmarks.splitlines()]
    assert names == ["visible_plans", "count_extensions", "replan_admission", "structural_stop"]
    assert not any(name in [line.split(" = ")[0] for line in usual.splitlines()] for name in names)
    assert "more with" not in benchmarks


def test_a_bad_setting_in_the_environment_is_misuse(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIDCOURSE_MAX_CALLS", "many")
    result = cli("settings")
    assert result.code == 2
    assert "MIDCOURSE_MAX_CALLS" in result.err


@pytest.mark.filterwarnings("default::midcourse.config.variables.MisspeltVariable")
def test_a_misspelt_variable_is_warned_about_on_standard_error(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIDCOURSE_MAX_CALS", "3")
    result = cli("settings", "--json")
    assert (result.code, len(result.json)) == (0, 30)
    assert (
        result.err
        == "midcourse: MIDCOURSE_MAX_CALS is not a setting and is ignored; did you mean MIDCOURSE_MAX_CALLS?\n"
    )


def test_examples_are_listed_with_what_they_show(cli: Cli) -> None:
    out = cli("examples").out
    assert "notepad           Open Notepad, write a note, save it: three screens, so three plans\n" in out
    assert "outline           Shows an outline: coarse goals that a model names" in out
    (one,) = cli("examples", "order", "--json").json
    assert (one["goal"], one["shows"]) == ("Order one desk lamp", "Order one desk lamp, once")


def test_an_example_can_be_made_ones_own(cli: Cli, tmp_path: Path) -> None:
    source = cli("examples", "unreachable_cube").out
    assert tomllib.loads(source)["goal"] == "Pick up the red cube"
    (tmp_path / "mine.toml").write_text(source)
    assert cli("run", "mine.toml", "--json").json["final_reason"] == "structural_failure"


def test_an_example_that_does_not_exist_is_refused_with_a_suggestion(cli: Cli) -> None:
    result = cli("examples", "notpad")
    assert result.code == 2
    assert "did you mean 'notepad'" in result.err


@pytest.mark.slow
def test_a_pipe_that_closes_early_is_no_error(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        command = [sys.executable, "-m", "midcourse", "settings"]
        done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, cwd=tmp_path, check=False)
    finally:
        os.close(writing)
    assert b"Traceback" not in done.stderr


def test_runs_points_to_durable_runs_if_a_fleet_is_up(cli: Cli, home: Path) -> None:
    assert "--durable" not in cli("runs").out
    write_up_file(home)
    assert "midcourse runs --durable" in cli("runs").out


def test_effects_are_what_was_sent_and_what_the_world_logged(cli: Cli, order: str) -> None:
    cli("run", order, "--approvals", "never", "--run-id", "order", "--json")
    found = cli("effects", "order", "--json").json
    assert [one["happened"] for one in found["sent"]] == [True]
    assert len(found["world"]) == 1
    assert [line.split()[0] for line in cli("effects", "order").out.splitlines()] == ["sent", "world"]
