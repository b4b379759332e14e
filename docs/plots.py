"""Draws kept results of benchmarks: which figures, in which order, and what they are called."""

from collections.abc import Mapping, Sequence
from typing import Any

from drawing.bars import Bar, Row, draw_bars
from drawing.card import OPEN, OURS, WRONG

INTERVALS = "Lines: 95 % intervals."


def draw_agentdojo(result: Mapping[str, Any]) -> str:
    """Attacks that succeed and tasks that are solved under attack, by suite, without and with approvals."""
    names = {"bare": "no approvals", "midcourse": "Midcourse"}
    rows = [
        Row(
            label=f"{row['suite']}, {names[row['arm']]}",
            bars=[_share(row["attacked"]), _share(row["useful_attacked"])],
            ours=row["arm"] == "midcourse",
        )
        for row in result["rows"]
    ]
    cases = next(row["cases"] for row in result["rows"] if row["suite"] == "all")
    title = f"AgentDojo with an agent that obeys every instruction, {cases} attacks"
    return draw_bars(title, ["Attacks that succeed", "Tasks solved under attack"], rows, INTERVALS)


def draw_drift(result: Mapping[str, Any]) -> str:
    """Runs completed, and runs with an effect twice, by arm."""
    names = {
        "fixed": "one fixed plan",
        "naive retry": "failed steps repeated",
        "plain replan loop": "a plain replan loop",
        "midcourse": "Midcourse",
    }
    found = [row for row in result["rows"] if row["application"] == "all" and row["arm"] in names]
    rows = [
        Row(label=names[row["arm"]], bars=[_share(row["completed"]), twice], ours=row["arm"] == "midcourse")
        for row, twice in zip(found, _count([row["twice"] for row in found]), strict=True)
    ]
    title = f"Web applications that change under the run, {found[0]['runs']} runs an arm"
    return draw_bars(title, ["Runs completed", "Runs with an effect twice"], rows, INTERVALS)


def draw_tau2(*results: Mapping[str, Any]) -> str:
    """How cases end after each fault, by program."""
    sets = {"airline": "tau2's airline", "bfcl": "BFCL: trading, tickets, messages"}
    faults = {"answer": "Answer lost", "request": "Call lost", "kill": "Killed after the call"}
    found = {(row["domain"], row["fault"], row["arm"]): row for one in results for row in one["rows"]}
    arms = list(dict.fromkeys(arm for _, _, arm in found))
    rows = list[Row]()
    for domain, name in sets.items():
        rows.append(Row(label=name))
        rows += [Row(label=arm, bars=[_split(found[domain, fault, arm]) for fault in faults]) for arm in arms]
    legend = [
        (OURS, "ended right"),
        (OPEN, "not finished: a person is asked"),
        (WRONG, "called finished, but the database is wrong"),
    ]
    title = "The right calls, and one fault: how the cases end"
    return draw_bars(title, list(faults.values()), rows, "Numbers: cases that ended right.", legend)


def _split(row: Mapping[str, Any]) -> Bar:
    right, cases = row["finished"] - row["false"], row["cases"]
    open_ = cases - row["finished"]
    pieces = [(right / cases, OURS), (open_ / cases, OPEN), (row["false"] / cases, WRONG)]
    return Bar(pieces=pieces, shown=f"{right} of {cases}")


def _share(share: Mapping[str, float]) -> Bar:
    return Bar(
        pieces=[(share["share"], "")], shown=f"{100 * share['share']:.1f} %", interval=(share["low"], share["high"])
    )


def _count(counts: Sequence[float]) -> list[Bar]:
    """Bars whose lengths compare them with the largest."""
    most = max(counts) or 1
    return [Bar(pieces=[(count / most, "")], shown=f"{count:,.0f}", tracked=False) for count in counts]
