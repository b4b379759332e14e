"""The output of a task: what a planner is told about values that do not fit, and which values are marked as unseen."""

import pytest

from midcourse.domain.argument import OutputValue, Scalar
from midcourse.domain.observation import Observation, Surface, Zone
from midcourse.domain.replace import replace
from midcourse.domain.skill import Parameter
from midcourse.policy.evidence.presence import is_shown
from midcourse.policy.output import (
    fill_in_results,
    find_output_problem,
    list_unseen,
    merge_values,
    part_cells,
    write_results,
)

FIELDS = (
    Parameter(name="total", type="number"),
    Parameter(name="state", choices=("open", "paid")),
    Parameter(name="items", type="json", required=False),
)


def value(name: str, given: Scalar) -> OutputValue:
    return OutputValue(name=name, value=given)


PAID, TOTAL = value("state", "paid"), value("total", 1049.5)


@pytest.mark.parametrize(
    ("given", "complete", "problem"),
    [
        ((TOTAL, PAID), True, ""),
        ((TOTAL,), False, ""),
        ((TOTAL,), True, "'data' lacks state"),
        ((TOTAL, value("state", "Paid")), True, "'state' in 'data' must be one of open, paid"),
        ((value("total", "1.049,50"), PAID), True, "'total' in 'data' must be number, not '1.049,50'"),
        ((value("total", "$result.total"), PAID), True, ""),
        ((TOTAL, PAID, value("items", "[1")), True, "'items' in 'data' must be json, not '[1'"),
        ((TOTAL, PAID, value("totl", 1)), True, "no such value in 'data': 'totl'; did you mean 'total'?"),
        ((TOTAL, PAID, value("items", f'"{"x" * 60_000}"')), True, "'data' has more than 60000 characters"),
    ],
)
def test_what_does_not_fit_is_said(given: tuple[OutputValue, ...], complete: bool, problem: str) -> None:
    assert find_output_problem(given, FIELDS, (), complete=complete) == problem


def test_what_a_step_returned_is_not_missing() -> None:
    assert find_output_problem((PAID,), FIELDS, ("total",), complete=True) == ""


def test_a_later_plan_replaces_a_value() -> None:
    assert merge_values((TOTAL, PAID), (value("total", 1),)) == (value("total", 1), PAID)


def test_values_and_answers_may_refer_to_results() -> None:
    results = (("invoice", "INV-7"), ("total", 1049.5))
    refers = (value("number", "$result.invoice"), value("other", "$result.unknown"))
    assert fill_in_results(refers, results) == (("number", "INV-7"), ("other", "$result.unknown"))
    assert write_results("Sent $result.invoice.\nIt is $result.total.", results) == "Sent INV-7.\nIt is 1049.5."


SEEN = Observation(
    id="o1",
    surface=Surface(title="Invoice"),
    zones=(Zone(id="z", role="text", label="Total:\n EUR 1.049,50"), Zone(id="y", role="cell", label="Desk  Lamp")),
    fingerprint="f",
)


@pytest.mark.parametrize(
    ("name", "given", "unseen"),
    [
        ("total", 1049.5, False),
        ("total", 1049, True),
        ("name", "desk lamp", False),
        ("name", "total: eur 1.049,50", False),
        ("name", "Floor lamp", True),
        ("state", "paid", False),
        ("items", '[{"name":"Desk Lamp","price":1049.5,"note":null}]', False),
        ("items", '[{"name":"Desk Lamp","price":1050}]', True),
    ],
)
def test_a_value_that_is_nowhere_to_be_seen_is_marked(name: str, given: Scalar, unseen: bool) -> None:
    found = list_unseen(((name, given),), FIELDS, lambda each: is_shown(each, (SEEN,), whole=True))
    assert found == ((name,) if unseen else ())


def test_a_result_as_long_as_a_page_does_not_fill_the_answer() -> None:
    assert write_results("It says $result.page", (("page", "x" * 9_000),)).endswith("x… (1000 more)")


@pytest.mark.parametrize(
    ("text", "value", "shown"),
    [
        ("ship,calls,tonnes\nDolfin,13,521\nHela,9,499", 521, True),
        ("ship;calls;tonnes\nDolfin;13;521", 13, True),
        ("99\n1\n2\nship,calls,tonnes\nDolfin,13,521", 521, True),
        ("ship,calls,tonnes\nDolfin,13,521", 522, False),
        ("In all 6,903.49 EUR", 903.49, False),
        ("Sum: 6,903.49\nDue: 1,200.00", 903.49, False),
    ],
)
def test_values_of_a_file_are_read_apart(text: str, value: Scalar, shown: bool) -> None:
    zone = Zone(id="file", role="text", label=part_cells(text))
    assert is_shown(value, [replace(SEEN, zones=(zone,))], whole=True) is shown
