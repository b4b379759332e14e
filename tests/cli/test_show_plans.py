"""`midcourse show --plans`: every version, and what changed between two."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from midcourse.cli.commands.records.show import plan_lines
from midcourse.domain.failure import Failure
from midcourse.domain.plan import PlanVersion
from midcourse.domain.reflection import Analysis, Fix, ReplanningContext
from midcourse.terminal.output import UNICODE
from tests.cli.conftest import Cli, write_order


@pytest.fixture
def replanned_run(cli: Cli, tmp_path: Path) -> str:
    """A newsletter is in the way of the second step, so there is a second plan, and a third."""
    fault = '[[world.faults]]\nkind = "popup"\nskill = "set_quantity"'
    task = write_order(tmp_path, "popup.toml", fault)
    text = Path(task).read_text()
    rule = '[[planner.rules]]\non = "Newsletter"\nsteps = [{ zone = "button:*", skill = "click", transition = true }]\n'
    Path(task).write_text(text + "\n" + rule)
    cli("run", task, "--run-id", "order", "--json", "--set", "approvals=never")
    return "order"


def test_every_version_with_why_it_was_made(cli: Cli, replanned_run: str) -> None:
    result = cli("show", replanned_run, "--plans")
    assert result.code == 0
    heads = [line for line in result.out.splitlines() if line.startswith("Plan ")]
    assert heads[0] == "Plan 1  first plan"
    assert heads[1].startswith("Plan 2  after a failure: set_quantity failed: target_not_visible")
    assert "   1. Put one into the basket  set_quantity 'Desk lamp'" in result.out
    assert "repaired: __replan__ inserted after step 2" in result.out


def test_versions_are_printed_as_json(cli: Cli, replanned_run: str) -> None:
    plans = cli("show", replanned_run, "--plans", "--json").json
    assert [plan["version"] for plan in plans[:3]] == [1, 2, 3]
    assert plans[1]["cause"] == "error"
    assert plans[0]["steps"][0]["skill"] == "set_quantity"
    assert plans[0]["repairs"]


def test_a_diff_shows_what_changed_and_why(cli: Cli, replanned_run: str) -> None:
    result = cli("show", replanned_run, "--diff", "1", "3").out.splitlines()
    assert result[0].startswith("Plan 1 → 3  after a transition")
    assert result[1] == "  kept 2, done 0, dropped 0, new 0"
    assert result[2] == "  = kept    Put one into the basket  set_quantity 'Desk lamp'"
    result = cli("show", replanned_run, "--diff", "1", "2").out
    assert "after a failure: set_quantity failed" in result
    assert "  - dropped Put one into the basket" in result
    assert "  + new     click Dismiss" in result


def test_what_was_done_was_not_dropped(cli: Cli, replanned_run: str) -> None:
    result = cli("show", replanned_run, "--diff", "3", "4").out
    assert "  ✓ done    Put one into the basket" in result
    assert "dropped 0" in result


def test_a_diff_is_printed_as_json(cli: Cli, replanned_run: str) -> None:
    result = cli("show", replanned_run, "--diff", "1", "2", "--json").json
    assert (result["from"], result["to"], result["cause"]) == (1, 2, "error")
    assert "target_not_visible" in result["why"]
    assert [step["skill"] for step in result["dropped"]] == ["set_quantity", "go"]
    assert [step["skill"] for step in result["new"]] == ["click"]
    assert (result["kept"], result["done"]) == ([], [])


def test_plans_of_a_journal_are_shown_without_its_home(
    cli: Cli, replanned_run: str, home: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy.jsonl"
    shutil.copy(home / "runs" / replanned_run / "journal.jsonl", copy)
    expected = cli("show", replanned_run, "--plans").out
    shutil.rmtree(home)
    assert cli("show", str(copy), "--plans").out == expected
    assert "Plan 1 → 2" in cli("show", str(copy), "--diff", "1", "2").out


def test_a_version_that_does_not_exist_is_refused(cli: Cli, replanned_run: str) -> None:
    result = cli("show", replanned_run, "--diff", "1", "42")
    assert result.code == 2
    assert "no plan 42; there are: 1, 2, 3" in result.err


def test_settings_are_refused_with_plans(cli: Cli, replanned_run: str) -> None:
    assert cli("show", replanned_run, "--plans", "--set", "max_calls=1").code == 2


def test_who_explained_the_failure_is_said_if_it_was_not_the_rules() -> None:
    failure = Failure(reason="permission")
    found = Analysis(error_type="permission", severity="HIGH", root_cause="It is\x1b[31m protected")
    context = ReplanningContext(failure=failure, analysis=found, fix=Fix(message="Write elsewhere"), by="model")
    plan = PlanVersion(
        version=2, parent=1, cause="error", why="no", observation="o1", final=True, steps=(), context=context
    )
    lines = [line.plain for line in plan_lines(plan, UNICODE)]
    assert any(line.startswith("  a model on why it failed: It is") for line in lines)
    assert "\x1b" not in "".join(lines)
    rules = replace(plan, context=replace(context, by="rules"))
    assert len(list(plan_lines(rules, UNICODE))) == len(lines) - 1
