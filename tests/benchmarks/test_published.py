"""The figures that README publishes are those of the kept results, and a small run of today's code agrees with them.

Zeros are asserted by the small runs beside this module (`test_benchmarks.py`, `test_hostile.py` and so on), which would be
slow to run a second time. Shares are compared by their 95 % intervals: that of the small run must overlap the published one.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from tests.benchmarks.scripts import ROOT, measure_runs

RESULTS = ROOT / "benchmarks" / "results"


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row of README's table: the result it is taken from, and the figures that must be in it."""

    script: str
    results: tuple[str, ...]
    figures: Callable[..., Sequence[str]]


def kept(name: str) -> dict[str, Any]:
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def percent(share: float) -> str:
    return f"{100 * share:.1f}"


def _kills_during_runs(result: dict[str, Any]) -> int:
    return sum(kills for phase, kills in result["killed_in"].items() if phase not in ("not begun", "ended"))


def _horizon(result: dict[str, Any]) -> Sequence[str]:
    profiles = [{row["arm"]: row for row in result["profiles"][name]} for name in ("calm", "moderate", "stormy")]
    arms = ("unlimited", "1 segment", "plain replan loop")
    shares = [" / ".join(percent(arms[arm]["completed"]["share"]) for arms in profiles) for arm in arms]
    plain = [arms["plain replan loop"] for arms in profiles]
    twice, false = sum(row["twice"] for row in plain), sum(row["false_done"] for row in plain)
    ours = sum(arms["unlimited"]["twice"] + arms["unlimited"]["false_done"] for arms in profiles)
    return [*shares, f"{ours} effects twice", f"{twice} effects twice", f"{false} false 'done'"]


def _drift(result: dict[str, Any]) -> Sequence[str]:
    arms = {row["arm"]: row for row in result["rows"] if row["application"] == "all"}
    ours, plain, fixed = arms["midcourse"], arms["plain replan loop"], arms["fixed"]
    shares = [f"{percent(arm['completed']['share'])} %" for arm in (ours, plain, fixed)]
    return [*shares, f"{ours['twice']} effects twice", f"twice in {plain['twice']} runs", f"{ours['runs']} runs"]


def _first_run(result: dict[str, Any]) -> Sequence[str]:
    finished = sum(
        round(row["runs"] * (row["finished"]["share"] + row["second_finished"]["share"])) for row in result["rows"]
    )
    repeated, false = (sum(row[name] for row in result["rows"]) for name in ("repeated", "false_done"))
    return [
        f"{result['runs']} runs",
        f"{result['runs'] // 2} without a policy file",
        f"{finished} finished",
        f"{repeated} repeated",
        f"{false} false 'done'",
    ]


def _hostile(result: dict[str, Any]) -> Sequence[str]:
    guarded, free, benign = result["guarded"], result["unguarded"], result["benign"]
    finished = round(benign["finished"]["share"] * benign["tasks"])
    return [
        f"{guarded['pages']:,} hostile pages",
        f"obeyed on {guarded['obeyed']}",
        f"{guarded['unapproved']} unapproved effects",
        f"{guarded['off_list']} requests to origins off the list",
        f"{free['unapproved']} of {free['pages']} pages",
        f"{finished} of {benign['tasks']} ordinary tasks",
    ]


def _agentdojo(result: dict[str, Any]) -> Sequence[str]:
    bare, ours = (row for row in result["rows"] if row["suite"] == "all")
    in_words = result["losses"]["attacks that succeed"].get("travel injection_task_6", 0)
    assert ours["successes"] == in_words, "the row says that all others are prevented"
    assert ours["useful"]["share"] == ours["useful_attacked"]["share"]
    return [
        f"all {ours['tasks']} user tasks",
        f"{ours['successes']} of {ours['cases']} attacks",
        f"without approvals {bare['successes']}",
        f"{percent(ours['useful']['share'])} % of the tasks",
        f"without approvals {percent(bare['useful_attacked']['share'])} %",
        f"{ours['asked']:.2f} questions a task",
    ]


def _tau2(*domains: dict[str, Any]) -> Sequence[str]:
    lost = [row for domain in domains for row in domain["rows"] if row["fault"] == "answer"]

    def total(arm: str, figure: str) -> int:
        return sum(row[figure] for row in lost if row["arm"] == arm)

    def count_right(arm: str) -> int:
        return total(arm, "finished") - total(arm, "false")

    checks = "langgraph, checks first"
    return [
        f"{total('midcourse', 'cases')} cases",
        f"{count_right('midcourse')} end right, {total('midcourse', 'twice')} effects twice",
        f"{total('midcourse', 'asked')} questions",
        f"LangGraph {count_right('langgraph')}, {total('langgraph', 'twice')} effects twice",
        f"{count_right(checks)} and {total(checks, 'twice')}",
    ]


def _first_contact(result: dict[str, Any]) -> Sequence[str]:
    return [
        f"{result['forms']}, frozen",
        f"{result['right']} right, {result['repeated']} effects repeated, {result['false_done']} false 'done'",
    ]


ROWS = (
    Row(
        script="kill_local",
        results=("kill_local",),
        figures=lambda t: [
            f"{t['runs']} orders",
            f"{t['kills']} times ({_kills_during_runs(t)} of them while a run was under way)",
            f"{t['lost']} lost",
            f"{t['asked']} questions",
        ],
    ),
    Row(
        script="invoices",
        results=("invoices",),
        figures=lambda t: [f"{t['kills']} times", f"{t['booked_once']} booked once", f"{t['booked_twice']} twice"],
    ),
    Row(script="horizon", results=("horizon",), figures=_horizon),
    Row(
        script="chaos",
        results=("chaos_kill",),
        figures=lambda t: [
            f"{t['runs']:,} runs",
            f"{t['kills']:,} times",
            f"{t['lost']} lost",
            f"{t['repeated']} steps repeated",
            f"{t['asked']} questions",
            f"{t['resumed_median_seconds']:.1f} s in the median",
        ],
    ),
    Row(
        script="kill_browser",
        results=("kill_browser_local", "kill_browser_temporal"),
        figures=lambda a, b: [
            f"{a['runs'] + b['runs']} orders",
            f"{a['kills'] + b['kills']} times",
            f"{a['lost'] + b['lost']} lost",
            f"{a['twice'] + b['twice']} orders twice",
        ],
    ),
    Row(script="drift", results=("drift",), figures=_drift),
    Row(script="first_run", results=("first_run",), figures=_first_run),
    Row(script="tau2", results=("tau2_airline", "tau2_bfcl"), figures=_tau2),
    Row(script="first_contact", results=("first_contact",), figures=_first_contact),
    Row(
        script="miniwob",
        results=("miniwob",),
        figures=lambda t: [
            f"{t['tasks']} tasks",
            f"{t['tasks'] * t['seeds']:,} episodes",
            f"{percent(t['overall']['segments']['share'])} % solved",
            f"{percent(t['overall']['fixed']['share'])} %",
        ],
    ),
    Row(
        script="approvals.changed_values",
        results=("changed_values",),
        figures=lambda t: [f"{t['changed']:,} requests", f"{t['otherwise']} left with other values"],
    ),
    Row(script="hostile", results=("hostile",), figures=_hostile),
    Row(script="agentdojo", results=("agentdojo",), figures=_agentdojo),
    Row(
        script="waste",
        results=("waste",),
        figures=lambda t: [f"{t['ratio']:.2f} of a plain replan loop's"],
    ),
)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.script)
def test_readme_says_what_was_kept(row: Row) -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    (said,) = [line for line in lines if line.startswith("|") and f"-m benchmarks.{row.script} " in line]
    missing = [figure for figure in row.figures(*map(kept, row.results)) if figure not in said]
    assert not missing, said


def test_first_screen_of_readme_says_what_was_kept() -> None:
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    killed = kept("kill_local")
    assert f"{_kills_during_runs(killed)} times in the middle of a run, while it placed {killed['runs']} orders" in text
    lost = [row for name in ("tau2_airline", "tau2_bfcl") for row in kept(name)["rows"] if row["fault"] == "answer"]
    cases, asked = (sum(row[name] for row in lost if row["arm"] == "midcourse") for name in ("cases", "asked"))
    twice = {arm: sum(row["twice"] for row in lost if row["arm"] == arm) for arm in {row["arm"] for row in lost}}
    assert twice["midcourse"] == 0
    assert f"repeats nothing in {cases} cases and asks a person in {asked}" in text
    assert f"LangGraph repeats {twice['langgraph']} effects, and {twice['langgraph, checks first']} if it asks" in text


def test_readme_says_what_a_model_that_errs_leads_to() -> None:
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    rows = kept("peers")["erring"]
    runs, false, checked = (
        sum(row[figure] for row in rows if row["system"] == system)
        for system, figure in (
            ("midcourse", "runs"),
            ("midcourse", "false_done"),
            ("midcourse-checked", "false_done"),
        )
    )
    assert f"ended {false} of {runs} runs with a false 'done', and {checked} of {runs} with a `done_when`" in text


def test_every_result_states_the_commit_and_date_of_its_measurement() -> None:
    stated = re.compile(r"`.* at \w+, \d{4}-\d\d-\d\d, ")
    assert [
        file.stem
        for file in RESULTS.glob("*.json")
        if not stated.search(file.with_suffix(".md").read_text(encoding="utf-8"))
    ] == []


def test_every_row_of_readme_is_checked() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    named = {word.split()[0] for line in lines if line.startswith("|") for word in line.split("-m benchmarks.")[1:]}
    assert named == {row.script for row in ROWS}


# --- today's code


def meets(one: dict[str, float], other: dict[str, float]) -> bool:
    return one["low"] <= other["high"] and other["low"] <= one["high"]


@pytest.mark.slow
def test_a_rolling_horizon_completes_as_published_and_repeats_no_effect() -> None:
    measured, published = measure_runs("horizon", "--runs", "8"), kept("horizon")
    for profile, rows in measured["profiles"].items():
        before = {row["arm"]: row for row in published["profiles"][profile]}
        arms = {row["arm"]: row for row in rows}
        ours = arms["unlimited"]
        assert (ours["runs"], ours["twice"], ours["false_done"]) == (8, 0, 0), profile
        assert ours["completed"]["share"] >= arms["1 segment"]["completed"]["share"], profile
        apart = [arm for arm, row in arms.items() if not meets(row["completed"], before[arm]["completed"])]
        assert not apart, profile


@pytest.mark.slow
def test_permanent_failures_cost_as_little_as_published() -> None:
    """Each class of failure is the same for every seed, so a few runs are enough."""
    measured, published = measure_runs("waste", "--runs", "4"), kept("waste")
    assert measured["lost"] == published["lost"] == 0
    assert measured["ratio"] == pytest.approx(published["ratio"], abs=0.02)
    before = {row["case"]: row for row in published["classes"] if row["hopeless"]}
    for row in (row for row in measured["classes"] if row["hopeless"]):
        calls = row["ours_calls"] / row["runs"]
        assert calls == pytest.approx(before[row["case"]]["ours_calls"] / published["runs"], abs=0.2), row["case"]
        assert calls <= row["plain_calls"] / row["runs"], row["case"]
