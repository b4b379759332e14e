"""A durable run in front of a person: the same picture, the same questions, and Ctrl-C that stops nothing."""

import os
import signal
from pathlib import Path

import pytest

from midcourse.app.fleet.up_file import read_up
from tests.cli.conftest import Cli
from tests.cli.test_fleet import ASKING, becomes, orders, state
from tests.cli.test_fleet import home as home
from tests.cli.test_fleet import run_id as run_id
from tests.cli.test_terminal import sitting_at

pytestmark = pytest.mark.slow

WATCHED = ("run", "order", "--durable", "--set", "approvals=always")


def test_the_question_is_answered_where_the_run_is_watched(tmp_path: Path, home: Path, run_id: str) -> None:
    with sitting_at(tmp_path, *WATCHED, "--run-id", run_id) as person:
        person.sees("May this be done?")
        person.sees("1 Harbour Street")
        person.sees("y/r/n/g/t>")
        assert orders(home, run_id) == 0
        person.types("y\n")
        person.sees("done, and verified")
        assert person.leaves_with() == 0
    assert orders(home, run_id) == 1


def test_a_question_that_somebody_else_decides_goes_away(tmp_path: Path, cli: Cli, home: Path, run_id: str) -> None:
    with sitting_at(tmp_path, *WATCHED, "--run-id", run_id) as person:
        person.sees("y/r/n/g/t>")
        assert cli("approve", run_id, "--yes", "--json").code == 0
        person.sees("done, and verified")
        assert person.leaves_with() == 0
    assert orders(home, run_id) == 1


def test_approve_asks_for_confirmation(tmp_path: Path, cli: Cli, home: Path, run_id: str) -> None:
    cli("run", "order", *ASKING, "--run-id", run_id)
    becomes(cli, run_id, "asking")
    for typed, code in (("n\n", 1), ("\x03", 130), ("y\n", 0)):
        assert state(cli, run_id) == "asking"
        assert orders(home, run_id) == 0
        with sitting_at(tmp_path, "approve", run_id) as person:
            person.sees("reference")
            person.sees("y/n>")
            person.types(typed)
            assert person.leaves_with() == code
        assert "Traceback" not in person.output
    becomes(cli, run_id, "done, verified")
    assert orders(home, run_id) == 1


def test_leaving_the_view_does_not_stop_the_run(tmp_path: Path, cli: Cli, home: Path, run_id: str) -> None:
    with sitting_at(tmp_path, *WATCHED, "--run-id", run_id) as person:
        person.sees("y/r/n/g/t>")
        person.types("\x03")
        person.sees("The question stays open.")
        person.types("q\n")
        person.sees("it continues without you")
        assert person.leaves_with() == 130
    assert state(cli, run_id) == "asking"
    assert cli("approve", run_id, "--yes").code == 0
    becomes(cli, run_id, "done, verified")


def test_ctrl_c_asks_what_is_meant(tmp_path: Path, cli: Cli, run_id: str) -> None:
    cli("run", "order", *ASKING, "--run-id", run_id)
    becomes(cli, run_id, "asking")
    cli("pause", run_id)
    cli("approve", run_id, "--yes")
    becomes(cli, run_id, "paused")
    with sitting_at(tmp_path, "watch", run_id) as person:
        person.sees("paused")
        person.types("\x03")
        person.sees("It continues meanwhile.")
        person.types("g\n")
        person.sees("Advice for the planner:")
        person.types("no hurry\n")
        person.sees("Ctrl-C: what now?")
        person.types("\x03")
        person.sees("w/p/r/g/c/q>")
        person.types("c\n")
        person.sees("failed: it was cancelled")
        assert person.leaves_with() == 1
    kinds = [row["event"]["kind"] for row in cli("show", run_id, "--json").json["journal"]]
    assert "guided" in kinds


def test_all_runs_are_watched_as_a_table(tmp_path: Path, cli: Cli, run_id: str) -> None:
    cli("run", "order", *ASKING, "--run-id", run_id)
    with sitting_at(tmp_path, "watch") as person:
        person.sees("runs of default")
        person.sees(run_id)
        becomes(cli, run_id, "asking")
        cli("cancel", run_id)
        person.sees("failed: cancelled")
        person.types("\x03")
        assert person.leaves_with() == 0


def test_up_in_the_foreground_says_what_died_and_stops_everything(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    with sitting_at(tmp_path, "up", MIDCOURSE_HOME=str(mine)) as person:
        person.sees("Temporal")
        person.sees("to stop: Ctrl-C")
        person.sees("console  http://127.0.0.1:")
        parts = {part.name: part.process for part in read_up(mine).parts}
        assert sorted(parts) == ["PostgreSQL", "Temporal", "host", "worker"]
        os.kill(parts["worker"].pid, signal.SIGKILL)
        person.sees("is gone; its log is")
        person.types("\x03")
        person.sees("stopping everything")
        assert person.leaves_with() == 0
    assert not any(process.alive for process in parts.values())
    assert read_up(mine).parts == ()
