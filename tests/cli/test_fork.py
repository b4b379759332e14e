"""`midcourse fork`: a recorded run goes on live, from one of its events."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli, write_order

NEVER = ("--set", "approvals=never")


@pytest.fixture
def order_run(cli: Cli, order: str) -> str:
    cli("run", order, "--run-id", "first", "--json", *NEVER)
    return "first"


def read_header(home: Path, run_id: str) -> dict[str, Any]:
    return json.loads((home / "runs" / run_id / "journal.jsonl").read_text().partition("\n")[0])


def count_orders(home: Path, run_id: str) -> int:
    return len((home / "runs" / run_id / "effects.jsonl").read_text().splitlines())


@pytest.mark.slow
def test_a_fork_continues_as_another_run(cli: Cli, order_run: str, home: Path) -> None:
    before = (home / "runs" / order_run / "journal.jsonl").read_text()
    result = cli("fork", order_run, "--at", "7")
    assert result.code == 0
    assert result.out.startswith(f"forked from run {order_run} after event 7\n")
    assert "plan 2 (after a transition): 3 steps" in result.out
    assert "done: Place the order" in result.out
    assert "done, and verified" in result.out
    latest = cli("runs", "--json").json[0]["run"]
    assert latest != order_run
    assert read_header(home, latest)["run"]["forked_from"] == {"run": order_run, "event": 7}
    assert (count_orders(home, order_run), count_orders(home, latest)) == (1, 1)
    assert (home / "runs" / order_run / "journal.jsonl").read_text() == before
    assert cli("replay", latest).out.startswith("identical")
    assert f"forked from run {order_run} after event 7" in cli("show", latest).out
    assert [plan["version"] for plan in cli("show", latest, "--plans", "--json").json] == [1, 2, 3]


def test_a_fork_may_have_other_settings(cli: Cli, order_run: str, home: Path) -> None:
    result = cli("fork", order_run, "--at", "7", "--set", "max_segments=2", "--json")
    assert (result.code, result.json["final_reason"]) == (1, "budget_exhausted")
    assert read_header(home, result.json["run"])["run"]["limits"]["max_segments"] == 2
    assert result.json["planner_calls"] == 2


def test_approvals_are_asked_for_again(cli: Cli, order_run: str, home: Path) -> None:
    result = cli("fork", order_run, "--at", "7", "--set", "approvals=always", "--json")
    assert (result.code, result.json["final_reason"]) == (1, "rejected")
    assert not (home / "runs" / result.json["run"] / "effects.jsonl").exists()


def test_a_fork_begins_at_the_latest_event_with_nothing_under_way(cli: Cli, order_run: str) -> None:
    result = cli("fork", order_run, "--at", "9")
    assert "after event 7: after event 9 an act was not finished" in result.out
    quiet = cli("fork", order_run, "--at", "9", "--json")
    assert quiet.json["success"] is True
    assert "after event 7" in quiet.err


@pytest.mark.slow
def test_a_fork_of_a_hosted_world_has_its_own_log_of_effects(cli: Cli, tmp_path: Path, home: Path) -> None:
    task = write_order(tmp_path, "hosted.toml", "process = true")
    first = cli("run", task, "--json", *NEVER).json
    result = cli("fork", "last", "--at", "7", "--json")
    assert (result.code, result.json["success"]) == (0, True)
    assert count_orders(home, first["run"]) == count_orders(home, result.json["run"]) == 1


def test_a_run_that_was_left_can_be_forked_from_its_folder(
    cli: Cli, order_run: str, home: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(home / "runs" / order_run, copy)
    shutil.rmtree(home)
    assert cli("fork", str(copy), "--at", "7", "--json").json["success"] is True


# --- refusals


def expect_fork_refused(cli: Cli, *args: str) -> str:
    before = cli("runs", "--json").json
    result = cli("fork", *args, "--json")
    assert result.code == 2
    assert cli("runs", "--json").json == before
    return result.json["error"]


def test_a_journal_without_its_task_cannot_be_forked(cli: Cli, order_run: str, home: Path) -> None:
    (home / "runs" / order_run / "job.json").unlink()
    assert "its world and planner are unknown" in expect_fork_refused(cli, order_run, "--at", "7")


def test_an_event_that_does_not_exist_is_refused(cli: Cli, order_run: str) -> None:
    assert "there is no event 99: run first has events 1 to" in expect_fork_refused(cli, order_run, "--at", "99")


def test_a_world_that_behaves_otherwise_is_refused_and_leaves_no_run(cli: Cli, order_run: str, home: Path) -> None:
    job = home / "runs" / order_run / "job.json"
    saved = json.loads(job.read_text())
    saved["source"] += '\n[[world.faults]]\nkind = "popup"\nskill = "set_quantity"\n'
    job.write_text(json.dumps(saved))
    folders = sorted(path.name for path in (home / "runs").iterdir())
    assert "the world went another way at event 5" in expect_fork_refused(cli, order_run, "--at", "7")
    assert sorted(path.name for path in (home / "runs").iterdir()) == folders


def test_a_world_that_cannot_be_rebuilt_is_refused(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = (
        "from midcourse.worlds.simulated.shop import Shop\nclass Real(Shop):\n    name = 'shop'\n    rebuilds = False\n"
    )
    (tmp_path / "real_shop.py").write_text(world)
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / "real.toml"
    path.write_text(Path(write_order(tmp_path, "x.toml")).read_text().replace('"shop"', '"real_shop:Real"'))
    cli("run", str(path), "--run-id", "real", "--json", *NEVER)
    assert "the world 'shop' cannot be brought to a recorded state again" in expect_fork_refused(
        cli, "real", "--at", "7"
    )


def test_a_log_of_effects_that_both_would_write_is_refused(cli: Cli, tmp_path: Path) -> None:
    task = write_order(tmp_path, "own.toml", 'options = { effects = "mine.jsonl" }')
    cli("run", task, "--run-id", "own", "--json", *NEVER)
    assert "a fork would write into the same one" in expect_fork_refused(cli, "own", "--at", "7")


@pytest.mark.slow
def test_a_fork_of_a_fork_names_the_original_run(cli: Cli, order_run: str) -> None:
    fork = cli("fork", order_run, "--at", "7", "--json").json["run"]
    assert f"fork run {order_run}, which it came from at event 7" in expect_fork_refused(cli, fork, "--at", "12")
