"""A durable run in front of a person: the same picture, the same questions, and Ctrl-C that stops nothing."""

import os
import signal
from pathlib import Path

import pytest

from midcourse.config.up_file import read_up
from tests.cli.conftest import Cli
from tests.cli.test_fleet import ASKING, count_orders, read_state, wait_for_state
from tests.cli.test_fleet import home as home
from tests.cli.test_fleet import run_id as run_id
from tests.cli.test_terminal import run_in_terminal

pytestmark = pytest.mark.slow

WATCHED = ("run", "order", "--durable", "--set", "approvals=always")


def test_the_question_is_answered_where_the_run_is_watched(tmp_path: Path, home: Path, run_id: str) -> None:
    with run_in_terminal(tmp_path, *WATCHED, "--run-id", run_id) as user:
        user.wait_for("May this be done?")
        user.wait_for("1 Harbour Street")
        user.wait_for("y/r/n/g/t>")
        assert count_orders(home, run_id) == 0
        user.type("y\n")
        user.wait_for("done, and verified")
        assert user.wait_for_exit() == 0
    assert count_orders(home, run_id) == 1


def test_a_question_that_somebody_else_decides_goes_away(tmp_path: Path, cli: Cli, home: Path, run_id: str) -> None:
    with run_in_terminal(tmp_path, *WATCHED, "--run-id", run_id) as user:
        user.wait_for("y/r/n/g/t>")
        assert cli("approve", run_id, "--yes", "--json").code == 0
        user.wait_for("done, and verified")
        assert user.wait_for_exit() == 0
    assert count_orders(home, run_id) == 1


def test_approve_asks_for_confirmation(tmp_path: Path, cli: Cli, home: Path, run_id: str) -> None:
    cli("run", "order", *ASKING, "--run-id", run_id)
    wait_for_state(cli, run_id, "asking")
    for typed, code in (("n\n", 1), ("\x03", 130), ("y\n", 0)):
        assert read_state(cli, run_id) == "asking"
        assert count_orders(home, run_id) == 0
        with run_in_terminal(tmp_path, "approve", run_id) as user:
            user.wait_for("reference")
            user.wait_for("y/n>")
            user.type(typed)
            assert user.wait_for_exit() == code
        assert "Traceback" not in user.output
    wait_for_state(cli, run_id, "done, verified")
    assert count_orders(home, run_id) == 1


def test_leaving_the_view_does_not_stop_the_run(tmp_path: Path, cli: Cli, home: Path, run_id: str) -> None:
    with run_in_terminal(tmp_path, *WATCHED, "--run-id", run_id) as user:
        user.wait_for("y/r/n/g/t>")
        user.type("\x03")
        user.wait_for("The question stays open.")
        user.type("q\n")
        user.wait_for("it continues without you")
        assert user.wait_for_exit() == 130
    assert read_state(cli, run_id) == "asking"
    assert cli("approve", run_id, "--yes").code == 0
    wait_for_state(cli, run_id, "done, verified")


def test_ctrl_c_asks_what_is_meant(tmp_path: Path, cli: Cli, run_id: str) -> None:
    cli("run", "order", *ASKING, "--run-id", run_id)
    wait_for_state(cli, run_id, "asking")
    cli("pause", run_id)
    cli("approve", run_id, "--yes")
    wait_for_state(cli, run_id, "paused")
    with run_in_terminal(tmp_path, "watch", run_id) as user:
        user.wait_for("paused")
        user.type("\x03")
        user.wait_for("It continues meanwhile.")
        user.type("g\n")
        user.wait_for("Advice for the planner:")
        user.type("no hurry\n")
        user.wait_for("Ctrl-C: what now?")
        user.type("\x03")
        user.wait_for("w/p/r/g/c/q>")
        user.type("c\n")
        user.wait_for("failed: it was cancelled")
        assert user.wait_for_exit() == 1
    kinds = [row["event"]["kind"] for row in cli("show", run_id, "--json").json["journal"]]
    assert "guided" in kinds


def test_all_runs_are_watched_as_a_table(tmp_path: Path, cli: Cli, run_id: str) -> None:
    cli("run", "order", *ASKING, "--run-id", run_id)
    with run_in_terminal(tmp_path, "watch") as user:
        user.wait_for("runs of default")
        user.wait_for(run_id)
        wait_for_state(cli, run_id, "asking")
        cli("cancel", run_id)
        user.wait_for("failed: cancelled")
        user.type("\x03")
        assert user.wait_for_exit() == 0


def test_up_in_the_foreground_says_what_died_and_stops_everything(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    with run_in_terminal(tmp_path, "up", MIDCOURSE_HOME=str(mine)) as user:
        user.wait_for("Temporal")
        user.wait_for("to stop: Ctrl-C")
        user.wait_for("console  http://127.0.0.1:")
        parts = {part.name: part.process for part in read_up(mine).parts}
        assert sorted(parts) == ["PostgreSQL", "Temporal", "host", "worker"]
        os.kill(parts["worker"].pid, signal.SIGKILL)
        user.wait_for("is gone; its log is")
        user.type("\x03")
        user.wait_for("stopping everything")
        assert user.wait_for_exit() == 0
    assert not any(process.alive for process in parts.values())
    assert read_up(mine).parts == ()
