"""Every row of docs/requirements.md names tests that exist and that use what a user can use, or says why there is none."""

import ast
import re
from collections import Counter
from functools import cache

import pytest

from tests.requirements.rows import ROOT, ROWS, Row, read_rows

REACHED = re.compile(r"\b(Agent|build_agent|Settings|Stage|Cli|cli|example|play|midcourse\.do)\b")
"""What a test of a requirement goes through: an agent, settings or the command line. `Stage` and `play` run an agent."""


@cache
def source(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


@cache
def names_in(path: str) -> frozenset[str]:
    tree = ast.parse(source(path))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def fault_of(row: Row) -> str:
    """Why this row shows nothing, or nothing."""
    if not row.tests:
        return "" if row.has_reason else "it names neither a test nor a reason"
    if row.has_reason:
        return "it has a test and a reason"
    for test in row.tests:
        path, name = test.partition("[")[0].split("::")
        if not (ROOT / path).is_file():
            return f"there is no {path}"
        if name not in names_in(path):
            return f"there is no {name} in {path}"
        if not REACHED.search(source(path)):
            return f"{path} goes through nothing that a user can reach"
    return ""


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.number)
def test_the_row_has_a_test_or_a_reason(row: Row) -> None:
    assert fault_of(row) == ""


def test_rows_are_numbered_from_one_in_each_document() -> None:
    count = Counter(row.number[:3] for row in ROWS)
    assert [row.number for row in ROWS] == [f"{name}-{n}" for name in sorted(count) for n in range(1, count[name] + 1)]
    assert sorted(count) == ["000", "001", "002", "003", "004"]


@pytest.mark.parametrize(
    ("shown", "fault"),
    [
        ("", "neither a test nor a reason"),
        ("some day", "neither a test nor a reason"),
        ("`scenarios/test_nothing.py::test_it`", "there is no tests/scenarios/test_nothing.py"),
        ("`scenarios/test_flows.py::test_it`", "there is no test_it in"),
        ("`policy/plan/test_diff.py::test_replan_is_not_compared_as_a_step`", "nothing that a user can reach"),
        ("Reason: not yet; `scenarios/test_flows.py::test_a_quest_is_completed_in_a_game`", "a test and a reason"),
    ],
)
def test_a_row_that_shows_nothing_is_found(shown: str, fault: str) -> None:
    (row,) = read_rows(
        f"| no. | section | requirement | test, or reason |\n|---|---|---|---|\n| 000-1 | 1 | it | {shown} |"
    )
    assert fault in fault_of(row)
