"""`midcourse audit`: every decision is there, and changes to the file are detected."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.conftest import Cli


@pytest.fixture
def cli_after_decision(cli: Cli, order: str) -> Cli:
    """There is no one to ask, so two orders were rejected."""
    for run_id in ("first", "second"):
        assert cli("run", order, "--run-id", run_id, "--set", "approvals=always", "--json").code == 1
    return cli


def tamper(home: Path, *statements: str) -> None:
    with closing(sqlite3.connect(home / "midcourse.db")) as db:
        for trigger in ("audit_stays", "audit_lasts"):
            db.execute(f"DROP TRIGGER {trigger}")
        for statement in statements:
            db.execute(statement)
        db.commit()


def test_every_decision_is_shown(cli_after_decision: Cli) -> None:
    rows = cli_after_decision("audit", "show", "--json").json
    assert [(row["n"], row["run"], row["event"]["verdict"]) for row in rows] == [
        (1, "first", "rejected"),
        (2, "second", "rejected"),
    ]
    assert "no approver rejected question" in cli_after_decision("audit", "show", "sec").out
    assert "first" not in cli_after_decision("audit", "show", "sec").out


def test_without_decisions_the_log_is_empty_and_valid(cli: Cli) -> None:
    assert "no decisions yet" in cli("audit", "show").out
    assert cli("audit", "verify", "--json").json["rows"] == 0


def test_unchanged_log_is_valid_and_its_head_is_in_the_results(cli_after_decision: Cli, home: Path) -> None:
    found = cli_after_decision("audit", "verify", "--json")
    assert (found.code, found.json["holds"], found.json["rows"]) == (0, True, 2)
    result = home / "runs" / "second" / "result.json"
    assert json.loads(result.read_text())["audit"] == found.json["head"]
    head = f"{found.json['head']['n']}:{found.json['head']['hash']}"
    for kept in (head, str(result)):
        assert cli_after_decision("audit", "verify", "--through", kept).code == 0
    assert f"keep this elsewhere: {head}" in cli_after_decision("audit", "verify").out


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("UPDATE audit SET body = replace(body, 'rejected', 'approved') WHERE n = 1", "row 1 is not what was written"),
        ("DELETE FROM audit WHERE n = 1", "row 1 is missing"),
        ("DELETE FROM audit WHERE n = 2", "row 2 is missing: there were 2"),
    ],
)
def test_tampering_is_found(cli_after_decision: Cli, home: Path, statement: str, problem: str) -> None:
    tamper(home, statement)
    found = cli_after_decision("audit", "verify", "--json")
    assert (found.code, found.json["holds"]) == (1, False)
    assert found.json["problem"].startswith(problem)
    assert "tampered with" in cli_after_decision("audit", "verify").out


def test_consistent_tampering_is_found_only_with_the_stored_head(
    cli_after_decision: Cli, home: Path, tmp_path: Path
) -> None:
    kept = tmp_path / "head.json"
    kept.write_text(cli_after_decision("audit", "verify", "--json").out)
    tamper(home, "DELETE FROM audit", "DELETE FROM journal", "UPDATE runs SET result = NULL")
    assert cli_after_decision("audit", "verify").code == 0
    assert cli_after_decision("audit", "verify", "--through", str(kept)).code == 1


@pytest.mark.parametrize("through", ["41", "nowhere.json", "7:xyz"])
def test_invalid_head_is_misuse(cli_after_decision: Cli, through: str) -> None:
    assert cli_after_decision("audit", "verify", "--through", through).code == 2
