"""`midcourse prune`: old records go, and nothing that was done can be done again because of it."""

import asyncio
from pathlib import Path

import pytest

from midcourse import guarded
from midcourse.home.retention import prune_home
from midcourse.home.stores import open_store
from tests.cli.conftest import Cli

NOW = "0.000001h"
"""An age that every run of a test has."""


@pytest.fixture
def keyed_order(order: str, tmp_path: Path) -> str:
    """A task whose order is placed once."""
    path = tmp_path / "keyed.toml"
    path.write_text('key = "order $input.reference"\n' + Path(order).read_text() + "\n", encoding="utf-8")
    return str(path)


def test_pruned_run_is_not_done_again_and_says_that_it_was_pruned(cli: Cli, keyed_order: str, home: Path) -> None:
    first = cli("run", keyed_order, "--run-id", "first", "--set", "approvals=never", "--json")
    assert first.code == 0, first.err
    database = (home / "midcourse.db").stat().st_ino
    assert cli("prune", "--older-than", "1d", "--json").json["runs"] == 0
    assert cli("prune", "--older-than", NOW, "--dry-run", "--json").json["runs"] == 1
    assert cli("show", "first", "--json").json["pruned_at"] is None
    pruned = cli("prune", "--older-than", NOW, "--json").json
    assert (pruned["runs"], pruned["freed_bytes"] > 0) == (1, True)
    assert (home / "midcourse.db").stat().st_ino == database, "runs would be taken for those of a copy"
    assert not (home / "runs" / "first").exists()

    again = cli("run", keyed_order, "--set", "approvals=never", "--json")
    assert (again.code, again.json["run"], again.json["data"]) == (0, "first", first.json["data"])
    assert not list(home.glob("runs/*/effects.jsonl")), "the shop was not opened"
    assert cli("resume", "first").code == 0

    shown = cli("show", "first", "--json").json
    assert (shown["journal"], shown["plans"], shown["result"]["success"]) == ([], [], True)
    assert "pruned on" in cli("show", "first").out
    assert "Place the order (what was sent was pruned)" in cli("effects", "first").out
    for command in (
        ("replay", "first"),
        ("export", "first", "--html", "run.html"),
        ("fork", "first", "--at", "1"),
        ("show", "first", "--plans"),
        ("undo", "first"),
    ):
        result = cli(*command)
        assert (result.code, "was pruned on" in result.err) == (2, True), command
    assert cli("prune", "--older-than", NOW).out == "0 runs pruned\n"


def test_decisions_about_pruned_runs_stay_in_the_audit_log(cli: Cli, order: str) -> None:
    for run_id in ("first", "second"):
        cli("run", order, "--run-id", run_id, "--set", "approvals=always", "--json")
    assert cli("prune", "--set", "retention_days=0.000000001", "--json").json["runs"] == 2
    found = cli("audit", "verify", "--json").json
    assert (found["holds"], found["rows"]) == (True, 2)
    assert "rejected" in cli("show", "first").out


def test_age_is_needed_and_checked(cli: Cli) -> None:
    assert "how old?" in cli("prune").err
    for wrong in ("90", "d", "-1d", "1y", "0d"):
        assert cli("prune", "--older-than", wrong).code == 2
    assert cli("prune", "--older-than", "90d").out == "0 runs pruned\n"
    assert "no database" in cli("prune", "--older-than", "90d", "--durable").err


def test_run_that_a_process_holds_is_left(cli: Cli, order: str, home: Path) -> None:
    cli("run", order, "--run-id", "first", "--set", "approvals=never", "--json")
    with open_store(home) as store, store.claim("first"):
        assert cli("prune", "--older-than", NOW, "--json").json["runs"] == 0
    assert (home / "runs" / "first").exists()


def test_guarded_call_returns_what_it_did_although_its_run_was_pruned(home: Path) -> None:
    orders: list[str] = []

    @guarded(name="order", key="{reference}")
    def order(reference: str) -> str:
        orders.append(reference)
        return f"number {len(orders)}"

    assert order("PO-1") == "number 1"
    assert asyncio.run(prune_home(home, before=2e9, at=2e9)).runs == 1
    assert order("PO-1") == "number 1"
    assert orders == ["PO-1"]
