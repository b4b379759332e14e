"""Many runs from the command line: what programs and logs see, and what is left after kill -9."""

import csv
import json
import re
import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from midcourse.worlds.simulated.effects import read_effects
from tests.cli.conftest import Cli, write_order
from tests.cli.test_terminal import run_in_terminal
from tests.forked import Forked

DOUBT = '[[world.faults]]\nkind = "error_not_stored"\nskill = "place_order"'
NEVER = ("--set", "approvals=never")


@pytest.fixture
def keyed_order(tmp_path: Path) -> str:
    """The order, under a key."""
    return write_keyed_order(tmp_path, "keyed.toml")


def write_keyed_order(folder: Path, name: str, world: str = "") -> str:
    path = Path(write_order(folder, name, world))
    path.write_text('key = "order $input.reference"\n' + path.read_text())
    return str(path)


def add_probe(task: str) -> str:
    """The same task, and a way to find out whether an order was placed; after an error page it goes on."""
    probe = '\nprobe = { name = "order_placed", arguments = { reference = "$input.reference" }, settles_after = 0.3 }'
    expect = 'expect = { surface_matches = "Thank you for your order" }'
    error = 'on = "504*"\nfinal = true'
    text = Path(task).read_text()
    assert expect in text
    assert error in text
    Path(task).write_text(text.replace(expect, expect + probe).replace(error, 'on = "504*"'))
    return task


def write_rows(folder: Path, count: int, name: str = "rows.csv") -> str:
    path = folder / name
    path.write_text("reference\n" + "".join(f"PO-{number}\n" for number in range(1, count + 1)))
    return str(path)


def count_orders(home: Path) -> Counter[str]:
    """By reference, in the logs of all the shops."""
    logs = (home / "runs").glob("*/effects.jsonl")
    return Counter(str(one.get("reference")) for log in logs for one in read_effects(log))


def expect_each_once(count: int) -> dict[str, int]:
    return {f"PO-{number}": 1 for number in range(1, count + 1)}


@contextmanager
def run_in_process(folder: Path, *arguments: str) -> Iterator[Forked]:
    """`midcourse` in a process of its own."""
    with Forked("midcourse", *arguments, cwd=folder) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_for_orders(home: Path, count: int, process: Forked) -> None:
    give_up_at = time.monotonic() + 600
    while count_orders(home).total() < count and process.poll() is None:
        assert time.monotonic() < give_up_at
        time.sleep(0.005)


# --- what is said


def test_json_is_one_object(cli: Cli, order: str, tmp_path: Path, home: Path) -> None:
    result = cli("run", order, "--inputs", write_rows(tmp_path, 3), "--batch", "b", "--json", *NEVER)
    assert (result.code, result.err, len(result.out.splitlines())) == (0, "", 1)
    assert result.json == {
        "batch": "b",
        "rows": 3,
        "succeeded": 3,
        "verified": 3,
        "failed": 0,
        "by_reason": {},
        "results": str(Path(".midcourse") / "batches" / "b" / "results.csv"),
    }
    assert count_orders(home) == expect_each_once(3)


def test_results_are_where_they_were_wanted(cli: Cli, order: str, tmp_path: Path) -> None:
    result = cli("run", order, "--inputs", write_rows(tmp_path, 2), "--results", "out.csv", "--json", *NEVER)
    assert result.json["results"] == str(tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="") as file:
        assert [(row["row"], row["success"], row["final_reason"]) for row in csv.DictReader(file)] == [
            ("1", "true", "goal_reached"),
            ("2", "true", "goal_reached"),
        ]


def test_without_a_terminal_it_is_told_in_plain_lines(cli: Cli, order: str, tmp_path: Path) -> None:
    result = cli("run", order, "--inputs", write_rows(tmp_path, 2), "--batch", "b", *NEVER)
    lines = result.out.splitlines()
    assert "\x1b" not in result.out
    assert lines[0] == "batch b: order, 2 rows, 4 at a time"
    assert sorted(line.split("  ", 2)[2] for line in lines[1:3]) == [
        "row 1 done, verified: PO-1",
        "row 2 done, verified: PO-2",
    ]
    assert "2 rows done, all verified" in lines
    assert "done    2 of 2, 2 verified" in lines


def test_a_failed_row_makes_the_exit_code_1(cli: Cli, order: str, tmp_path: Path) -> None:
    """Without a terminal nothing can be approved."""
    result = cli("run", order, "--inputs", write_rows(tmp_path, 2), "--batch", "b")
    assert result.code == 1
    assert "2 of 2 rows failed" in result.out
    assert "row 1: rejected, place_order was rejected (no approver)" in result.out
    assert "run it in one, or set approvals=never" in result.out
    assert "next    midcourse show b-1" in result.out


def test_quiet_is_one_line(cli: Cli, order: str, tmp_path: Path) -> None:
    result = cli("run", order, "--inputs", write_rows(tmp_path, 2), "--batch", "b", "--quiet", *NEVER)
    (line,) = result.out.splitlines()
    assert line.startswith("2 rows done, all verified — ")
    assert "batch b; " in line


@pytest.mark.slow
def test_an_ended_batch_shows_its_verdict_again(cli: Cli, order: str, tmp_path: Path, home: Path) -> None:
    first = cli("run", order, "--inputs", write_rows(tmp_path, 2), "--batch", "weekly", "--json", *NEVER)
    for name in ("weekly", "week", "last"):
        again = cli("resume", name, "--json")
        assert (again.code, again.json) == (0, first.json)
    assert cli("resume", "weekly-2", "--json").json["run"] == "weekly-2"
    assert count_orders(home) == expect_each_once(2)


def test_last_names_the_latest_run_or_batch(cli: Cli, order: str, tmp_path: Path) -> None:
    cli("run", order, "--inputs", write_rows(tmp_path, 2), "--batch", "b", "--json", *NEVER)
    cli("run", "unreachable_cube", "--run-id", "cube", "--json")
    assert cli("resume", "last", "--json").json["run"] == "cube"


# --- misuse


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--inputs", "rows.csv", "--run-id", "x"), "--run-id names one run"),
        (("--concurrency", "2"), "--concurrency is for many runs"),
        (("--results", "out.csv"), "--results is for many runs"),
        (("--batch", "b"), "--batch is for many runs"),
        (("--inputs", "none.csv"), "none.csv: cannot be read"),
        (("--inputs", "rows.csv", "--batch", "last"), "--batch 'last'"),
        (("--inputs", "rows.csv", "--batch", "a/b"), "--batch 'a/b'"),
        (("--inputs", "rows.csv", "--results", "no/out.csv"), "there is no folder 'no'"),
        (("--inputs", "wrong.csv"), "wrong.csv: no such input: 'refrence'; did you mean"),
    ],
)
def test_misuse_is_explained_before_anything_runs(
    cli: Cli, order: str, tmp_path: Path, home: Path, arguments: tuple[str, ...], complaint: str
) -> None:
    write_rows(tmp_path, 2)
    (tmp_path / "wrong.csv").write_text("refrence\nPO-1\n")
    result = cli("run", order, *arguments, *NEVER)
    assert result.code == 2
    assert complaint in result.err
    assert not home.exists()


def test_a_batch_of_that_name_with_other_rows_is_refused(cli: Cli, order: str, tmp_path: Path) -> None:
    cli("run", order, "--inputs", write_rows(tmp_path, 2), "--batch", "b", "--json", *NEVER)
    result = cli("run", order, "--inputs", write_rows(tmp_path, 3), "--batch", "b", *NEVER)
    assert result.code == 2
    assert "batch 'b' was begun with other rows" in result.err


# --- business keys


def test_a_second_run_under_a_key_returns_the_first(cli: Cli, keyed_order: str, home: Path) -> None:
    first = cli("run", keyed_order, "--run-id", "one", "--json", *NEVER)
    again = cli("run", keyed_order, "--run-id", "two", "--json", *NEVER)
    assert (again.code, again.json) == (0, {**first.json, "again": True})
    assert "again" not in first.json
    result = cli("run", keyed_order, *NEVER)
    assert result.out.splitlines()[0] == "already done under this key: order PO-1001"
    assert "done, and verified" in result.out
    assert cli("run", keyed_order, "--quiet", *NEVER).out.startswith(
        "already done under this key: order PO-1001; done, and"
    )
    assert count_orders(home) == {"PO-1001": 1}


def test_doubtful_order_is_refused_until_a_person_has_decided(
    cli: Cli, keyed_order: str, tmp_path: Path, home: Path
) -> None:
    doubtful = write_keyed_order(tmp_path, "doubtful.toml", DOUBT)
    assert cli("run", doubtful, "--run-id", "one", "--json", *NEVER).json["final_reason"] == "needs_human"
    refused = cli("run", keyed_order, *NEVER)
    assert refused.code == 2
    assert "run one has the key 'order PO-1001'" in refused.err
    assert "may have done 'Place the order'" in refused.err
    assert count_orders(home) == {}
    assert cli("run", keyed_order, "--again", "--json", *NEVER).code == 0
    assert count_orders(home) == {"PO-1001": 1}


@pytest.mark.slow
def test_an_interrupted_run_under_a_key_goes_on(cli: Cli, tmp_path: Path, home: Path) -> None:
    keyed_order = add_probe(write_keyed_order(tmp_path, "slow.toml", "options = { act_seconds = 0.1 }"))
    with run_in_process(tmp_path, "run", keyed_order, "--run-id", "one", "--json", *NEVER) as process:
        wait_for_orders(home, 1, process)
        process.kill()
    result = cli("run", keyed_order, "--run-id", "two", "--json", *NEVER)
    assert (result.json["run"], result.json["success"]) == ("one", True)
    assert count_orders(home) == {"PO-1001": 1}
    assert not (home / "runs" / "two").exists()


@pytest.mark.slow
def test_a_run_under_a_key_that_another_process_drives_is_busy(cli: Cli, tmp_path: Path, home: Path) -> None:
    keyed_order = write_keyed_order(tmp_path, "slow.toml", "options = { act_seconds = 0.3 }")
    with run_in_process(tmp_path, "run", keyed_order, "--run-id", "one", "--json", *NEVER) as process:
        give_up_at = time.monotonic() + 600
        while not (home / "midcourse.db.one.lock").exists():
            assert time.monotonic() < give_up_at
            time.sleep(0.01)
        result = cli("run", keyed_order, "--run-id", "two", *NEVER)
        assert (result.code, "another process drives run one" in result.err) == (2, True)
        assert process.wait() == 0
    assert count_orders(home) == {"PO-1001": 1}


@pytest.mark.slow
def test_only_one_of_the_processes_with_the_same_key_orders(tmp_path: Path, home: Path) -> None:
    for attempt in range(3):
        task = write_keyed_order(tmp_path, f"race-{attempt}.toml")
        Path(task).write_text(Path(task).read_text().replace("PO-1001", f"PO-{attempt}"))
        with (
            run_in_process(tmp_path, "run", task, "--json", *NEVER) as one,
            run_in_process(tmp_path, "run", task, "--json", *NEVER) as two,
        ):
            answers = [json.loads(process.communicate(timeout=600)[0]) for process in (one, two)]
        assert any(answer.get("success") for answer in answers), answers
        assert all(answer.get("success") or "another process drives run" in answer["error"] for answer in answers), (
            answers
        )
    assert count_orders(home) == {f"PO-{attempt}": 1 for attempt in range(3)}


# --- kill -9, Ctrl-C and SIGTERM


@pytest.mark.slow
def test_a_killed_batch_goes_on_where_it_was(cli: Cli, tmp_path: Path, home: Path) -> None:
    task = add_probe(write_order(tmp_path, "slow.toml", "options = { act_seconds = 0.02 }"))
    words = ("run", task, "--inputs", write_rows(tmp_path, 8), "--batch", "b", "--concurrency", "3", "--json", *NEVER)
    with run_in_process(tmp_path, *words) as process:
        wait_for_orders(home, 3, process)
        process.kill()
    ended = len((home / "batches" / "b" / "results.csv").read_text().splitlines()) - 1
    assert ended < 8
    result = cli("resume", "b", "--json")
    assert (result.code, result.json["verified"]) == (0, 8)
    assert count_orders(home) == expect_each_once(8)
    assert cli(*words).json == result.json


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["stored_but_error", "done_but_timeout"])
def test_a_batch_that_is_killed_again_and_again_orders_everything_once(tmp_path: Path, home: Path, fault: str) -> None:
    """In worlds of their own processes, with trouble at every order; the same command goes on each time."""
    trouble = f'\n[[world.faults]]\nkind = "{fault}"\nskill = "place_order"\nseconds = 0.2'
    task = add_probe(write_order(tmp_path, "order.toml", "process = true\noptions = { act_seconds = 0.02 }" + trouble))
    words = ("run", task, "--inputs", write_rows(tmp_path, 7), "--batch", "b", "--concurrency", "3", "--json")
    kills = 0
    while True:
        with run_in_process(tmp_path, *words, *NEVER) as process:
            before = count_orders(home).total()
            wait_for_orders(home, before + 2, process)
            if process.poll() is None and kills < 4:
                process.kill()
                kills += 1
                continue
            out, _ = process.communicate(timeout=600)
        break
    assert kills >= 2
    assert json.loads(out)["verified"] == 7, out
    assert count_orders(home) == expect_each_once(7)


@pytest.mark.slow
def test_ctrl_c_finishes_the_rows_under_way_and_begins_no_more(cli: Cli, tmp_path: Path, home: Path) -> None:
    task = write_order(tmp_path, "slow.toml", "options = { act_seconds = 0.05 }")
    words = ("run", task, "--inputs", write_rows(tmp_path, 6), "--batch", "b", "--concurrency", "2", "--json", *NEVER)
    with run_in_process(tmp_path, *words) as process:
        wait_for_orders(home, 1, process)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=600)
    assert process.returncode == 130
    result = json.loads(out)
    assert result["error"] == f"left with {result['ended']} of 6 rows ended; midcourse resume b continues it"
    assert 2 <= result["ended"] < 6
    states = Counter(run["state"] for run in cli("runs", "--json").json)
    assert states == {"done, verified": result["ended"]}
    assert cli("resume", "b", "--json").json["verified"] == 6
    assert count_orders(home) == expect_each_once(6)


@pytest.mark.slow
def test_being_told_to_stop_leaves_everything_to_be_resumed(cli: Cli, tmp_path: Path, home: Path) -> None:
    task = add_probe(write_order(tmp_path, "slow.toml", "options = { act_seconds = 0.2 }"))
    words = ("run", task, "--inputs", write_rows(tmp_path, 3), "--batch", "b", "--json", *NEVER)
    with run_in_process(tmp_path, *words) as process:
        give_up_at = time.monotonic() + 600
        while not list(home.glob("midcourse.db.b-*.lock")):
            assert time.monotonic() < give_up_at
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=600)
    assert process.returncode == 130
    assert cli("resume", "b", "--json").json["verified"] == 3
    assert count_orders(home) == expect_each_once(3)


@pytest.mark.slow
def test_the_same_batch_in_another_process_is_busy(cli: Cli, tmp_path: Path, home: Path) -> None:
    task = write_order(tmp_path, "slow.toml", "options = { act_seconds = 0.2 }")
    words = ("run", task, "--inputs", write_rows(tmp_path, 2), "--batch", "b", "--json", *NEVER)
    with run_in_process(tmp_path, *words) as process:
        give_up_at = time.monotonic() + 600
        while not (home / "midcourse.db.batch%20b.lock").exists():
            assert time.monotonic() < give_up_at
            time.sleep(0.01)
        result = cli("resume", "b")
        assert (result.code, "another process carries out batch b" in result.err) == (2, True)
        assert process.wait() == 0
    assert count_orders(home) == expect_each_once(2)


# --- at a terminal


@pytest.mark.slow
def test_questions_come_one_at_a_time_and_name_their_row(tmp_path: Path, home: Path, order: str) -> None:
    inputs = write_rows(tmp_path, 3)
    with run_in_terminal(tmp_path, "run", order, "--inputs", inputs, "--batch", "b", NO_COLOR="1") as user:
        for number, answer in ((1, "y"), (2, "n"), (3, "y")):
            user.wait_for(f"Row {number} of 3: PO-{number}")
            user.wait_for("May this be done?")
            user.wait_for("y/r/n/g/t>")
            user.type(f"{answer}\n")
        user.wait_for("1 of 3 rows failed")
        assert user.wait_for_exit() == 1
    assert count_orders(home) == {"PO-1": 1, "PO-3": 1}


@pytest.mark.slow
def test_ctrl_c_at_a_question_keeps_it_and_twice_leaves(tmp_path: Path, cli: Cli, order: str, home: Path) -> None:
    with run_in_terminal(tmp_path, "run", order, "--inputs", write_rows(tmp_path, 2), "--batch", "b") as user:
        user.wait_for("y/r/n/g/t>")
        user.type("\x03")
        user.wait_for("finishing the rows that have begun")
        user.wait_for("y/r/n/g/t>")
        user.type("\x03")
        user.wait_for("left with 0 of 2 rows ended")
        assert user.wait_for_exit() == 130
        assert user.is_echoing()
    assert count_orders(home) == {}
    assert cli("resume", "b", "--json").json["by_reason"] == {"rejected": 2}


@pytest.mark.slow
def test_rows_of_a_batch_are_one_line_in_the_list(tmp_path: Path, cli: Cli, order: str) -> None:
    cli("run", order, "--inputs", write_rows(tmp_path, 4), "--batch", "b", "--json", *NEVER)
    cli("run", "unreachable_cube", "--run-id", "cube", "--json")
    assert len(cli("runs", "--json").json) == 5
    with run_in_terminal(tmp_path, "runs", NO_COLOR="1") as user:
        assert user.wait_for_exit() == 0
    lines = [re.sub(r"\x1b\[\d*m", "", line).split() for line in user.output.splitlines()]
    assert [line[0] for line in lines] == ["run", "cube", "b"]
    assert lines[2][1:4] == ["batch:", "4", "done"]
