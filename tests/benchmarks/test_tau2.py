"""A few of BFCL's tasks under faults: a plain loop repeats effects, and Midcourse does not. tau2's packages are large, and not installed here."""

import json
from typing import Any

import pytest

from benchmarks.tau2 import format_overview
from benchmarks.tool_tasks.server import Tasks
from benchmarks.tool_tasks.trial import DOMAINS, Known, count_extra
from tests.benchmarks.scripts import ROOT, measure


def test_the_page_in_docs_shows_the_kept_result() -> None:
    results = [ROOT / "benchmarks" / "results" / f"tau2_{domain}.json" for domain in DOMAINS]
    kept = [json.loads(file.read_text(encoding="utf-8")) for file in results if file.exists()]
    assert format_overview(*kept) in (ROOT / "docs" / "peers.md").read_text(encoding="utf-8")


class Account:
    """A domain with one task: 5 is paid in, and the balance read."""

    writes = ("pay", "close")
    refusals = (ValueError,)
    balance = 0

    def gold(self, task: str) -> list[dict[str, Any]]:
        return [PAY, {"tool": "read", "arguments": {}}, {"tool": "close", "arguments": {}}]

    def tools(self) -> list[dict[str, Any]]:
        return [{"name": name} for name in ("pay", "close", "read")]

    def start(self, task: str) -> None:
        self.balance = 0

    def call(self, tool: str, arguments: dict[str, Any]) -> int:
        if tool == "close":
            raise ValueError("the balance is not zero")
        self.balance += arguments.get("amount", 0)
        return self.balance

    def state(self) -> str:
        return str(self.balance)

    verdict_state = state


PAY: dict[str, Any] = {"tool": "pay", "arguments": {"amount": 5}}


@pytest.mark.parametrize(("kind", "first", "second"), [("request", "0", "5"), ("answer", "5", "10")])
def test_a_lost_request_is_not_carried_out_and_a_lost_answer_is(kind: str, first: str, second: str) -> None:
    tasks = Tasks(Account())
    tasks.start("task", {"kind": kind, "call": PAY})
    assert tasks.call(**PAY, pid=0) == {"timeout": True}
    assert tasks.finish()["final"] == first
    assert tasks.call(**PAY, pid=0)["did"] == "changed"
    assert tasks.finish()["final"] == second


def test_gold_calls_are_described_by_what_they_do_once_and_twice() -> None:
    known = Known(domain="account", task="task", **Tasks(Account()).describe("task"))
    assert [(call["does"], call["again"]) for call in known.calls] == [
        ("changed", "changed"),
        ("unchanged", ""),
        ("refused", ""),
    ]
    assert known.final == "5"


def test_calls_beyond_the_gold_list_are_counted_in_the_log() -> None:
    tasks = Tasks(Account())
    known = Known(domain="account", task="task", **tasks.describe("task"))
    tasks.start("task", {})
    calls: list[dict[str, Any]] = [*tasks.domain.gold("task"), PAY, {"tool": "close", "arguments": {}}]
    for call in calls:
        tasks.execute(**call)
    log = tasks.finish()["log"]
    assert count_extra(log, known, lambda entry: entry["did"] == "changed") == 1
    assert count_extra(log, known, lambda entry: True) == 2


@pytest.mark.slow
def test_a_lost_answer_makes_a_plain_loop_repeat_an_effect_and_midcourse_finds_it() -> None:
    result = measure("tau2", "--domains", "bfcl", "--limit", "1", "--arms", "plain loop", "midcourse")
    rows = {(row["fault"], row["arm"]): row for row in result["rows"]}
    assert result["tasks"] == 1
    for fault in ("answer", "kill"):
        assert rows[fault, "plain loop"]["twice"] >= rows[fault, "plain loop"]["telling"] > 0, (
            "a fault that does nothing"
        )
    for fault in ("none", "answer", "request", "kill"):
        assert_right(rows[fault, "midcourse"])
    assert result["losses"] == {}
    assert result["errors_with_effect"] == 0


def assert_right(row: dict[str, Any]) -> None:
    assert row["equal"] == row["finished"] == row["cases"] > 0
    assert (row["twice"], row["false"], row["asked"]) == (0, 0, 0)
