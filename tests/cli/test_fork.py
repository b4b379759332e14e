"""`midcourse fork`: a recorded run goes on live, from one of its events."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli, order_file

NEVER = ("--set", "approvals=never")


@pytest.fixture
def ordered(cli: Cli, order: str) -> str:
    cli("run", order, "--run-id", "first", "--json", *NEVER)
    return "first"


def header(home: Path, run_id: str) -> dict[str, Any]:
    return json.loads((home / "runs" / run_id / "journal.jsonl").read_text().partition("\n")[0])


def orders(home: Path, run_id: str) -> int:
    return len((home / "runs" / run_id / "effects.jsonl").read_text().splitlines())


@pytest.mark.slow
def test_it_goes_on_as_a_run_of_its_own(cli: Cli, ordered: str, home: Path) -> None:
    before = (home / "runs" / ordered / "journal.jsonl").read_text()
    said = cli("fork", ordered, "--at", "7")
    assert said.code == 0
    assert said.out.startswith(f"forked from run {ordered} after event 7\n")
    assert "plan 2 (after a transition): 3 steps" in said.out
    assert "done: Place the order" in said.out
    assert "done, and verified" in said.out
    latest = cli("runs", "--json").json[0]["run"]
    assert latest != ordered
    assert header(home, latest)["run"]["forked_from"] == {"run": ordered, "event": 7}
    assert (orders(home, ordered), orders(home, latest)) == (1, 1)
    assert (home / "runs" / ordered / "journal.jsonl").read_text() == before
    assert cli("replay", latest).out.startswith("identical")
    assert f"forked from run {ordered} after event 7" in cli("show", latest).out
    assert [plan["version"] for plan in cli("show", latest, "--plans", "--json").json] == [1, 2, 3]


def test_other_settings_from_there_on(cli: Cli, ordered: str, home: Path) -> None:
    said = cli("fork", ordered, "--at", "7", "--set", "max_segments=2", "--json")
    assert (said.code, said.json["final_reason"]) == (1, "budget_exhausted")
    assert header(home, said.json["run"])["run"]["limits"]["max_segments"] == 2
    assert said.json["planner_calls"] == 2


def test_approvals_are_asked_for_anew(cli: Cli, ordered: str, home: Path) -> None:
    said = cli("fork", ordered, "--at", "7", "--set", "approvals=always", "--json")
    assert (said.code, said.json["final_reason"]) == (1, "rejected")
    assert not (home / "runs" / said.json["run"] / "effects.jsonl").exists()


def test_the_nearest_point_at_which_nothing_was_under_way(cli: Cli, ordered: str) -> None:
    said = cli("fork", ordered, "--at", "9")
    assert "after event 7: after event 9 an act was not finished" in said.out
    quiet = cli("fork", ordered, "--at", "9", "--json")
    assert quiet.json["success"] is True
    assert "after event 7" in quiet.err


@pytest.mark.slow
def test_in_a_process_of_its_own(cli: Cli, tmp_path: Path, home: Path) -> None:
    task = order_file(tmp_path, "hosted.toml", "process = true")
    first = cli("run", task, "--json", *NEVER).json
    said = cli("fork", "last", "--at", "7", "--json")
    assert (said.code, said.json["success"]) == (0, True)
    assert orders(home, first["run"]) == orders(home, said.json["run"]) == 1


def test_a_run_that_was_left_can_be_forked_from_its_folder(cli: Cli, ordered: str, home: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(home / "runs" / ordered, copy)
    shutil.rmtree(home)
    assert cli("fork", str(copy), "--at", "7", "--json").json["success"] is True


# --- refusals


def refused(cli: Cli, *args: str) -> str:
    before = cli("runs", "--json").json
    said = cli("fork", *args, "--json")
    assert said.code == 2
    assert cli("runs", "--json").json == before
    return said.json["error"]


def test_a_journal_without_its_task(cli: Cli, ordered: str, home: Path) -> None:
    (home / "runs" / ordered / "job.json").unlink()
    assert "its world and planner are unknown" in refused(cli, ordered, "--at", "7")


def test_an_event_that_is_not_there(cli: Cli, ordered: str) -> None:
    assert "there is no event 99: run first has events 1 to" in refused(cli, ordered, "--at", "99")


def test_a_world_that_went_another_way(cli: Cli, ordered: str, home: Path) -> None:
    job = home / "runs" / ordered / "job.json"
    saved = json.loads(job.read_text())
    saved["source"] += '\n[[world.faults]]\nkind = "popup"\nskill = "set_quantity"\n'
    job.write_text(json.dumps(saved))
    folders = sorted(path.name for path in (home / "runs").iterdir())
    assert "the world went another way at event 5" in refused(cli, ordered, "--at", "7")
    assert sorted(path.name for path in (home / "runs").iterdir()) == folders


def test_a_world_that_cannot_be_rebuilt(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = (
        "from midcourse.worlds.simulated.shop import Shop\nclass Real(Shop):\n    name = 'shop'\n    rebuilds = False\n"
    )
    (tmp_path / "real_shop.py").write_text(world)
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / "real.toml"
    path.write_text(Path(order_file(tmp_path, "x.toml")).read_text().replace('"shop"', '"real_shop:Real"'))
    cli("run", str(path), "--run-id", "real", "--json", *NEVER)
    assert "the world 'shop' cannot be brought to a recorded state again" in refused(cli, "real", "--at", "7")


def test_a_log_of_effects_that_both_would_write(cli: Cli, tmp_path: Path) -> None:
    task = order_file(tmp_path, "own.toml", 'options = { effects = "mine.jsonl" }')
    cli("run", task, "--run-id", "own", "--json", *NEVER)
    assert "a fork would write into the same one" in refused(cli, "own", "--at", "7")


@pytest.mark.slow
def test_a_fork_of_a_fork(cli: Cli, ordered: str) -> None:
    fork = cli("fork", ordered, "--at", "7", "--json").json["run"]
    assert f"fork run {ordered}, which it came from at event 7" in refused(cli, fork, "--at", "12")
