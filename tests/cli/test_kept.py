"""`midcourse kept`, and how a run that did again what worked is shown."""

from pathlib import Path

import pytest

from tests.cli.conftest import Cli

ROWS = "supplier,number,amount,date,cost_centre\nQuay Tools,INV-2002,99.25,2026-05-01,4711\n"


@pytest.fixture
def taught_task(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> str:
    """An invoice was booked, and how to is kept."""
    monkeypatch.setenv("MIDCOURSE_SECRET_PASSWORD", "lovelace")
    monkeypatch.setenv("MIDCOURSE_REUSE", "on")
    assert cli("run", "invoice", "--run-id", "first", "--json").json["planner_calls"] == 6
    return "first"


def test_nothing_is_kept_where_nothing_was_run(cli: Cli, home: Path) -> None:
    output = cli("kept")
    assert (output.code, output.out) == (0, "nothing is kept; runs with --set reuse=on keep what worked\n")
    assert cli("kept", "--json").json == []
    assert not home.exists()


def test_what_is_kept_is_listed_without_the_inputs_it_worked_with(cli: Cli, taught_task: str) -> None:
    lines = cli("kept").out.splitlines()
    assert len(lines) == 6
    assert all(line.endswith("\tBook invoice {number} of {supplier}") for line in lines)
    assert any("\tNew invoice\t6 steps\t1x\t" in line for line in lines)
    plain = cli("kept", "--json").out
    assert "<input supplier>" in plain
    assert "Harbour Supplies" not in plain


@pytest.mark.slow
def test_a_run_shows_which_segments_it_reused(cli: Cli, taught_task: str, tmp_path: Path) -> None:
    result = cli("run", "invoice", "--run-id", "second", "--json").json
    assert (result["verified"], result["reused"], result["planner_calls"]) == (True, 6, 0)
    shown = cli("show", "second").out
    assert "first plan, as plan 1 of run first: the planner was not asked" in shown
    assert "plan 1 (first plan): 1 step (kept from run first)" in shown
    assert "0 planner calls and 6 saved" in shown
    assert cli("show", "second", "--plans", "--json").json[0]["reused"]["run"] == "first"


@pytest.mark.slow
def test_every_row_of_a_table_with_its_own_inputs(cli: Cli, taught_task: str, home: Path, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(ROWS)
    assert cli("run", "invoice", "--inputs", "rows.csv", "--batch", "march").code == 0
    (log,) = (home / "runs").glob("march*/effects.jsonl")
    assert '"supplier": "Quay Tools", "number": "INV-2002", "amount": 99.25' in log.read_text()
    assert {one["worked"] for one in cli("kept", "--json").json} == {2}


@pytest.mark.slow
def test_dropped_segment_is_planned_again(cli: Cli, taught_task: str) -> None:
    form = next(one["segment"] for one in cli("kept", "--json").json if one["screen"] == "New invoice")
    assert cli("kept", "drop", form[:10]).out == "dropped 1 segment\n"
    assert cli("run", "invoice", "--json").json["planner_calls"] == 1
    assert len(cli("kept", "drop", "--all", "--json").json["dropped"]) == 6
    assert cli("run", "invoice", "--json").json["planner_calls"] == 6


@pytest.mark.parametrize(
    ("arguments", "why"), [(("nosuch",), "no segments begin with 'nosuch'"), ((), "name one segment, or give --all")]
)
def test_drop_needs_the_name_of_a_segment(cli: Cli, taught_task: str, arguments: tuple[str, ...], why: str) -> None:
    output = cli("kept", "drop", *arguments)
    assert output.code == 2
    assert why in output.err
