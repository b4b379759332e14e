"""`midcourse run` without a terminal: what programs and logs see."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Cli, start_and_wait_for_turns, write_order


def test_json_is_one_object_and_nothing_else(cli: Cli) -> None:
    result = cli("run", "notepad", "--json")
    assert result.code == 0
    assert len(result.out.splitlines()) == 1
    assert result.err == ""
    assert result.json["success"] is True
    assert result.json["verified"] is True
    assert result.json["final_reason"] == "goal_reached"


def test_a_run_that_ends_without_success_exits_with_1(cli: Cli) -> None:
    result = cli("run", "unreachable_cube", "--json")
    assert result.code == 1
    assert result.json["final_reason"] == "structural_failure"


def test_quiet_is_one_line(cli: Cli) -> None:
    result = cli("run", "notepad", "--quiet")
    assert result.code == 0
    (line,) = result.out.splitlines()
    assert line.startswith("done, and verified; nothing was sent (goal_reached"), "a note was saved, and nothing left"


def test_without_a_terminal_it_is_told_in_plain_lines(cli: Cli) -> None:
    result = cli("run", "notepad", "--run-id", "note")
    assert "\x1b" not in result.out
    lines = result.out.splitlines()
    assert lines[0] == "run note: Open Notepad, write a note and save it in Documents"
    texts = [line.split(maxsplit=1)[1] for line in lines if re.match(r" \d+:\d\d  ", line)]
    assert "plan 1 (first plan): 3 steps" in texts
    assert "plan 2 (after a transition): 3 steps" in texts
    assert "done: Click Save" in texts
    assert "done, and verified; nothing was sent" in lines
    assert "next    midcourse show note" in lines


def test_result_and_journal_are_where_it_says(cli: Cli, home: Path) -> None:
    result = cli("run", "notepad", "--run-id", "note")
    folder = home / "runs" / "note"
    assert str(folder.relative_to(Path.cwd()) / "result.json") in result.out
    assert json.loads((folder / "result.json").read_text())["success"] is True
    assert len((folder / "journal.jsonl").read_text().splitlines()) > 10


def test_settings_can_be_set(cli: Cli) -> None:
    result = cli("run", "notepad", "--set", "max_calls=1", "--json")
    assert result.code == 1
    assert result.json["final_reason"] == "budget_exhausted"


def test_a_budget_that_is_used_up_names_the_option_that_raises_it(cli: Cli) -> None:
    assert "--set max_calls=2" in cli("run", "notepad", "--set", "max_calls=1").out


def test_without_a_terminal_the_approval_is_rejected(cli: Cli, order: str) -> None:
    result = cli("run", order)
    assert result.code == 1
    assert "failed: it was not approved" in result.out
    assert "there was no terminal to ask in: run it in one, or set approvals=never" in result.out
    assert "Place the order" not in result.out.partition("\ndone ")[2]


@pytest.mark.parametrize("how", ["--quiet", "--json"])
def test_with_quiet_or_json_the_approval_is_rejected(cli: Cli, order: str, how: str) -> None:
    result = cli("run", order, how)
    assert result.code == 1
    assert "rejected" in result.out
    assert how == "--json" or "--approvals never" in result.out


def test_with_approvals_never_no_question_is_asked(cli: Cli, order: str) -> None:
    result = cli("run", order, "--set", "approvals=never", "--json")
    assert result.code == 0
    assert [step["says"] for step in result.json["completed"]][-2:] == ["Place the order", "Read the order number"]


def test_plan_carried_out_is_not_called_verified(cli: Cli, tmp_path: Path) -> None:
    path = Path(write_order(tmp_path, "unverified.toml"))
    head, _, tail = path.read_text().partition("[done_when]")
    path.write_text(head + tail[tail.index("[world]") :])
    result = cli("run", str(path), "--set", "approvals=never")
    assert result.code == 0
    assert "done, and the screen shows it\n" in result.out
    assert "seen afterwards: " in result.out
    assert "next    look yourself whether it is there" in result.out


def test_a_second_run_of_the_same_name_is_refused(cli: Cli) -> None:
    cli("run", "notepad", "--run-id", "note", "--quiet")
    result = cli("run", "unreachable_cube", "--run-id", "note")
    assert result.code == 2
    assert "midcourse resume note" in result.err
    assert cli("show", "note", "--json").json["result"]["success"] is True


def test_what_libraries_log_goes_to_a_file(
    cli: Cli, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_world.py").write_text(
        "from midcourse import BaseWorld\n"
        "class Broken(BaseWorld):\n"
        "    def look(self):\n"
        "        raise RuntimeError('the camera is off')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    task = tmp_path / "broken.toml"
    task.write_text(
        'goal = "Look"\n[world]\nname = "broken_world:Broken"\n[settings]\nretry_delay_seconds = 0\n'
        '[planner]\nname = "playbook"\n[[planner.rules]]\ndone = true\n'
    )
    result = cli("run", str(task), "--run-id", "broken")
    assert result.code == 1
    assert result.err == ""
    assert "the camera is off" in (home / "runs" / "broken" / "run.log").read_text()


@pytest.mark.slow
def test_ascii_where_the_output_cannot_take_more(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "midcourse", "run", "notepad"]
    done = subprocess.run(command, capture_output=True, cwd=tmp_path, env=environment, check=True)
    assert "+ Click Save" in done.stdout.decode("ascii")


@pytest.mark.slow
def test_ctrl_c_without_a_terminal_cancels_and_says_so(tmp_path: Path, home: Path) -> None:
    with start_and_wait_for_turns(tmp_path, "note", home, "--set", "step_delay_seconds=0.3", turns=3) as process:
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=600)
    assert process.returncode == 1
    assert json.loads(out)["final_reason"] == "cancelled"


@pytest.mark.slow
def test_being_told_to_stop_leaves_the_run_to_be_resumed(tmp_path: Path, home: Path) -> None:
    with start_and_wait_for_turns(tmp_path, "note", home, "--set", "step_delay_seconds=0.3", turns=3) as process:
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=600)
    assert process.returncode == 130
    assert "midcourse resume note" in json.loads(out)["error"]


def test_short_options_are_settings(cli: Cli, order: str, tmp_path: Path) -> None:
    options = ("--approvals", "never", "--max-cost", "0.5", "--home", "elsewhere")
    result = cli("run", order, *options, "--json")
    assert result.json["success"] is True
    assert result.json["budget"]["max_cost_usd"] == 0.5
    assert [run["run"] for run in cli("runs", "--home", "elsewhere", "--json").json] == [result.json["run"]]
    assert cli("show", "last", "--home", "elsewhere").code == 0


def test_an_input_takes_the_place_of_the_tasks_own(cli: Cli, order: str) -> None:
    result = cli("run", order, "--approvals", "never", "--input", "reference=PO-7, urgent", "--json")
    assert result.json["success"] is True
    assert any("PO-7, urgent" in line for line in cli("effects", "last", "--json").json["world"])
    assert "did you mean 'reference'" in cli("run", order, "--input", "referense=PO-7").err
    assert "NAME=VALUE" in cli("run", order, "--input", "reference").err
