"""A local run is controlled from a second terminal."""

from pathlib import Path

import pytest

from tests.cli.conftest import Cli, start_and_wait_for_turns, write_order
from tests.cli.test_terminal import TerminalUser, read_result, run_in_terminal

pytestmark = pytest.mark.slow

SLOW = ("--set", "step_delay_seconds=0.3")


def test_inbox_approve(cli: Cli, tmp_path: Path, home: Path, order: str) -> None:
    with run_in_terminal(tmp_path, "run", order, "--run-id", "order") as first_terminal:
        first_terminal.wait_for("y/r/n/g/t>")
        assert [question["run"] for question in cli("approve", "--json").json] == ["order"]
        approved = cli("approve", "order", "--yes")
        assert approved.code == 0
        assert "1 Harbour Street" in approved.out
        assert "run order: approved, exactly as shown" in approved.out
        first_terminal.wait_for("done, and verified")
        assert first_terminal.wait_for_exit() == 0
    assert read_result(home, "order")["final_reason"] == "goal_reached"
    journal = (home / "runs" / "order" / "journal.jsonl").read_text()
    assert journal.count('"kind":"approval_decided"') == 1


def test_inbox_approves_only_what_was_shown_and_once(cli: Cli, tmp_path: Path, home: Path, order: str) -> None:
    with run_in_terminal(tmp_path, "run", order, "--run-id", "order") as first_terminal:
        first_terminal.wait_for("y/r/n/g/t>")
        other = cli("approve", "order", "--yes", "--shown", "0" * 16)
        assert other.code == 1
        assert "refused" in other.out
        assert cli("answer", "order", "happened").code == 1
        rejected = cli("reject", "order")
        assert rejected.code == 0
        assert cli("approve", "order", "--yes").code == 1
        first_terminal.wait_for("failed: it was not approved")
    assert read_result(home, "order")["final_reason"] == "rejected"


def test_inbox_pause_guide_and_resume(cli: Cli, tmp_path: Path, home: Path) -> None:
    with run_in_terminal(tmp_path, "run", "notepad", "--run-id", "note", *SLOW) as first_terminal:
        first_terminal.wait_for("first plan")
        assert cli("pause", "note").code == 0
        first_terminal.wait_for("paused")
        assert cli("guide", "note", "no hurry").code == 0
        first_terminal.wait_for("guidance: no hurry")
        assert cli("runs", "--json").json[0]["state"] == "paused"
        resumed = cli("resume", "note")
        assert (resumed.code, resumed.out) == (0, "run note: it continues in the process that runs it\n")
        assert first_terminal.wait_for_exit() == 0
    assert read_result(home, "note")["success"] is True


def test_inbox_cancel(cli: Cli, tmp_path: Path, home: Path) -> None:
    with start_and_wait_for_turns(tmp_path, "note", home, *SLOW, turns=3) as process:
        assert cli("cancel", "note", "--json").json == {"run": "note", "taken": True}
        assert process.wait(600) == 1
    assert read_result(home, "note")["final_reason"] == "cancelled"
    late = cli("cancel", "note")
    assert late.code == 1
    assert "the run has ended: cancelled" in late.out


def test_inbox_of_a_run_that_no_process_drives(cli: Cli, tmp_path: Path, home: Path) -> None:
    with start_and_wait_for_turns(tmp_path, "note", home, *SLOW, turns=3) as process:
        process.kill()
    refused = cli("cancel", "note")
    assert refused.code == 1
    assert "no process is running it; midcourse resume note continues it" in refused.out


def test_inbox_of_a_run_that_was_left_with_its_question_keeps_a_decision(cli: Cli, tmp_path: Path, home: Path) -> None:
    with run_in_terminal(tmp_path, "run", write_order(tmp_path, "order.toml", ""), "--run-id", "order") as driver:
        driver.wait_for("y/r/n/g/t>")
    approved = cli("approve", "order", "--yes")
    assert (
        approved.code,
        "no process is running it: to continue it, type midcourse resume order" in approved.out,
    ) == (0, True)
    assert cli("resume", "order").code == 0
    assert read_result(home, "order")["final_reason"] == "goal_reached"


# --- watched from other terminals


def leave(watcher: TerminalUser) -> None:
    watcher.type("\x03")
    watcher.wait_for("w/p/r/g/c/q>")
    watcher.type("q\n")
    watcher.wait_for("it continues without you")
    assert watcher.wait_for_exit() == 130


def test_inbox_watched_from_two_terminals_and_approved_in_one(tmp_path: Path, home: Path, order: str) -> None:
    with run_in_terminal(tmp_path, "run", order, "--run-id", "order") as driver:
        driver.wait_for("y/r/n/g/t>")
        with run_in_terminal(tmp_path, "watch", "order") as one, run_in_terminal(tmp_path, "watch", "order") as other:
            for watcher in (one, other):
                watcher.wait_for("1 Harbour Street")
                watcher.wait_for("y/r/n/g/t>")
            one.type("y\n")
            for terminal in (one, other, driver):
                terminal.wait_for("done, and verified")
                assert terminal.wait_for_exit() == 0
    assert read_result(home, "order")["final_reason"] == "goal_reached"
    journal = (home / "runs" / "order" / "journal.jsonl").read_text()
    assert journal.count('"kind":"approval_decided"') == 1


def test_inbox_watched_before_it_is_resumed(cli: Cli, tmp_path: Path, home: Path, order: str) -> None:
    with run_in_terminal(tmp_path, "run", order, "--run-id", "order") as driver:
        driver.wait_for("y/r/n/g/t>")
    with run_in_terminal(tmp_path, "watch", "order") as watcher:  # the first process was ended with kill -9
        watcher.wait_for("no process is running it; midcourse resume order continues it")
        assert cli("runs", "--json").json[0]["state"] == "interrupted"
        with run_in_terminal(tmp_path, "resume", "order") as driver:
            watcher.wait_for("y/r/n/g/t>")
            watcher.type("y\n")
            for terminal in (watcher, driver):
                terminal.wait_for("done, and verified")
                assert terminal.wait_for_exit() == 0
    assert read_result(home, "order")["final_reason"] == "goal_reached"


def test_inbox_pause_and_guide_by_a_watcher_that_is_killed(cli: Cli, tmp_path: Path, home: Path) -> None:
    with start_and_wait_for_turns(tmp_path, "note", home, *SLOW, turns=3) as process:
        with run_in_terminal(tmp_path, "watch", "note") as watcher:
            watcher.wait_for("Ctrl-C: what now?")
            watcher.type("\x03")
            watcher.wait_for("It continues meanwhile.")
            watcher.type("p\n")
            watcher.wait_for("paused")
            watcher.type("\x03")
            watcher.wait_for("w/p/r/g/c/q>")
            watcher.type("g\n")
            watcher.wait_for("Advice for the planner:")
            watcher.type("no hurry\n")
            watcher.wait_for("guidance: no hurry")
        assert cli("runs", "--json").json[0]["state"] == "paused"  # the watcher was ended with kill -9
        with run_in_terminal(tmp_path, "watch", "note") as watcher:
            watcher.wait_for("paused")
            leave(watcher)
        assert cli("resume", "note").code == 0
        assert process.wait(600) == 0
    after = cli("watch", "note")
    assert after.code == 0
    assert "run note had ended already; this is its result" in after.out
    assert cli("watch", "note", "--json").json["success"] is True


def test_inbox_watched_without_a_terminal(cli: Cli, tmp_path: Path, home: Path) -> None:
    with start_and_wait_for_turns(tmp_path, "note", home, turns=3) as process:
        watched = cli("watch", "note")
        assert process.wait(600) == 0
    assert watched.code == 0
    assert watched.out.startswith("run note: ")
    assert "done: Click Save" in watched.out
    assert "done, and verified" in watched.out


def test_inbox_resumed_elsewhere_closes_the_menu_of_the_pause(cli: Cli, tmp_path: Path, home: Path) -> None:
    with run_in_terminal(tmp_path, "run", "notepad", "--run-id", "note", *SLOW) as driver:
        driver.wait_for("first plan")
        driver.type("\x03")
        driver.wait_for("r/g/t/c/q>")
        assert cli("resume", "note").code == 0
        driver.wait_for("It is not paused any more")
        assert cli("pause", "note").code == 0
        driver.wait_for("paused")
        driver.type("\x03")
        driver.wait_for("r/g/t/c/q>")
        driver.type("r\n")
        driver.wait_for("done, and verified")
        assert driver.wait_for_exit() == 0
    assert read_result(home, "note")["success"] is True


def test_inbox_take_over_says_where(cli: Cli, tmp_path: Path, home: Path) -> None:
    with start_and_wait_for_turns(tmp_path, "note", home, *SLOW, turns=3) as process:
        refused = cli("take-over", "note")
        assert refused.code == 1
        assert "Ctrl-C in its terminal, then t" in refused.out
        assert cli("cancel", "note").code == 0
        assert process.wait(600) == 1


def test_inbox_take_over_of_a_world_with_a_host(cli: Cli, tmp_path: Path, home: Path) -> None:
    hosted = write_order(tmp_path, "hosted.toml", "process = true")
    arguments = ("run", hosted, "--run-id", "order", "--set", "approvals=never", *SLOW)
    with run_in_terminal(tmp_path, *arguments) as driver:
        driver.wait_for("first plan")
        taken_over = cli("take-over", "order")
        assert taken_over.out == "run order: you have taken over the world; when you are done: midcourse resume order\n"
        assert cli("resume", "order").code == 0
        driver.wait_for("done, and verified")
        assert driver.wait_for_exit() == 0
    assert read_result(home, "order")["final_reason"] == "goal_reached"


def test_inbox_all_runs_of_a_home_are_watched(cli: Cli, tmp_path: Path, home: Path) -> None:
    with start_and_wait_for_turns(tmp_path, "note", home, *SLOW, turns=3) as process:
        with run_in_terminal(tmp_path, "watch") as watcher:
            watcher.wait_for("runs in ")
            watcher.wait_for("running")
            assert cli("cancel", "note").code == 0
            watcher.wait_for("failed: cancelled")
            watcher.type("\x03")
            assert watcher.wait_for_exit() == 0
        assert process.wait(600) == 1
