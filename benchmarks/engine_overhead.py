"""What does Midcourse add to a bare Temporal workflow, and to LangGraph, for the same work?

    python -m benchmarks.engine_overhead --json

One run is a plan, steps that act on a simulated panel and look at it (5 KB), two replans and a result. Every step is
reversible or irreversible. The arms take turns, so that a disturbance of the machine affects them alike:

bare         Temporal; a step is one activity that acts and looks; nothing is kept but what the engine keeps
kept         the same, with two PostgreSQL transactions a step in hand-written SQL: dispatch; outcome, observation and journal
midcourse    a driver that the same engine places, with its records in the same PostgreSQL
langgraph    a graph with a PostgreSQL checkpoint after each node, synced; for orientation: other promises, another engine

Three tables, since a run has a fixed cost in addition to its steps: runs with segments of four steps, runs with segments of ten,
and the difference of the two, which is what one more step costs. A bare look and the plan made from it are one activity; the
director looks and plans in two.

LangGraph is not a dependency. To have its column:

    uv venv graph
    uv pip install --python graph/bin/python langgraph langgraph-checkpoint-postgres 'psycopg[binary]' pydantic
    python -m benchmarks.engine_overhead --langgraph graph/bin/python
"""

import json
import sys
import time
from dataclasses import asdict, dataclass
from functools import partial
from math import isnan, nan

from psycopg import Connection

from benchmarks.harness.report import keep, machine, options_of, table
from benchmarks.overhead.figures import Figure, Round, Rounds, Span, alone_ms, cpu, ratio, together_ms
from benchmarks.overhead.trial import ArmProcess, has_langgraph, trial
from benchmarks.overhead.workload import SEGMENTS
from midcourse.process import leave

FOUR, TEN = 4, 10
SPANS = (
    Span(name="segments of four", segment=FOUR),
    Span(name="segments of ten", segment=TEN),
    Span(name="one more step", segment=TEN, less=FOUR),
)
MEASURED: dict[str, Figure] = {
    "ms, alone": alone_ms,
    "ms, in company": together_ms,
    "CPU s per 1,000": cpu("cpu"),
    "  of it the worker": cpu("worker"),
    "  of it Temporal": cpu("temporal"),
    "  of it PostgreSQL": cpu("postgres"),
}
COUNTED = {
    "commits": "commits",
    "activities": "activities",
    "transitions": "transitions",
    "history events": "events",
    "history bytes": "history_bytes",
}
BARRED = ("ms, alone", "ms, in company", "CPU s per 1,000")
BAR = 1.10
"""What these may be at most, as a multiple of the same two transactions by hand."""
GATES = {"commits": 2.3, "transitions": 0.1, "history_bytes": 10}
"""The most that one more step may take. A worker also looks for messages once a second, which PostgreSQL counts as commits."""

Counts = dict[int, dict[str, float]]
"""What one run left behind, by the length of its segments."""


def count(arm: ArmProcess, connection: Connection) -> Counts:
    """The fewest commits of two runs, since PostgreSQL also commits for itself now and then."""
    found: Counts = {}
    for segment in (FOUR, TEN):
        commits = min(arm.block(connection, segment, 1).commits for _ in range(2))
        found[segment] = {"commits": commits, **arm.counts()}
    return found


def count_all() -> dict[str, Counts]:
    with trial({"midcourse": sys.executable}) as (arms, connection):
        return {name: count(arm, connection) for name, arm in arms.items()}


@dataclass(frozen=True, kw_only=True)
class Found:
    rounds: dict[str, Rounds]
    counts: dict[str, Counts]
    areas: dict[str, dict[str, float]]
    """Where a worker's processor time goes, in ms a step."""


def measure(rounds: int, together: int, langgraph: str) -> Found:
    arms: dict[str, str] = dict.fromkeys(("bare", "kept", "midcourse"), sys.executable)
    if langgraph and has_langgraph(langgraph):
        arms["langgraph"] = langgraph
    found: dict[str, list[Round]] = {arm: [] for arm in arms}
    with trial(arms) as (processes, connection):
        for arm in processes.values():
            arm.block(connection, TEN, together)  # so that no arm pays for a first time
        counts = {name: count(arm, connection) for name, arm in processes.items()}
        for number in range(rounds):
            first = number % len(processes)
            order = [*processes.values()][first:] + [*processes.values()][:first]
            for name, one in play(order, connection, together).items():
                found[name].append(one)
            print(f"{number + 1}/{rounds} rounds", file=sys.stderr)
        areas = {name: where(processes[name], together) for name in ("kept", "midcourse")}
    return Found(rounds=dict(found), counts=counts, areas=areas)


def where(arm: ArmProcess, together: int) -> dict[str, float]:
    steps = together * SEGMENTS * TEN
    return {area: round(1000 * seconds / steps, 2) for area, seconds in arm.profile(TEN, together).items()}


def play(order: list[ArmProcess], connection: Connection, together: int) -> dict[str, Round]:
    """One round: all arms do the same thing, one right after the other, before they do the next."""
    found = {arm.name: Round() for arm in order}
    for segment in (FOUR, TEN):
        for arm in order:
            found[arm.name].alone[segment] = arm.block(connection, segment, 1)
        for arm in order:
            found[arm.name].together[segment] = arm.block(connection, segment, together)
    return found


def share(span: Span, counts: Counts, what: str) -> float:
    return span.of(lambda segment: counts[segment].get(what, nan), SEGMENTS)


def table_of(span: Span, found: dict[str, Rounds], counts: dict[str, Counts]) -> str:
    rows: list[list[str]] = []
    for name, figure in MEASURED.items():
        shares = [span.of(partial(figure, rounds), SEGMENTS) for rounds in found.values()]
        compared = ratio(figure, span, SEGMENTS, found["midcourse"], found["kept"])
        rows.append([name, *(f"{value:.2f}" for value in shares), str(compared)])
    for name, what in COUNTED.items():
        shares = {arm: share(span, counts[arm], what) for arm in found}
        compared = shares["midcourse"] / shares["kept"]
        rows.append([name, *("" if isnan(value) else f"{value:.2f}" for value in shares.values()), f"{compared:.2f}"])
    return f"## A step of {span.name}\n\n" + table(["", *found, "midcourse : kept"], rows)


def areas_of(areas: dict[str, dict[str, float]]) -> str:
    names = sorted({name for arm in areas.values() for name in arm}, key=lambda name: -areas["midcourse"].get(name, 0))
    rows = [[name, *(f"{arm.get(name, 0.0):.2f}" for arm in areas.values())] for name in names]
    title = "## Where the worker's processor time goes, in ms a step of segments of ten"
    note = "Profiled, which makes Python slower: compare the columns, and not their sums with the tables above."
    return f"{title}\n\n{note}\n\n{table(['', *areas], rows)}"


def text_of(found: Found) -> str:
    parts = [table_of(span, found.rounds, found.counts) for span in SPANS]
    if "langgraph" not in found.rounds:
        parts.append("LangGraph is not installed here: `--help` shows how to install it.")
    return "\n\n".join([*parts, areas_of(found.areas)])


def ratios(span: Span, found: dict[str, Rounds]) -> dict[str, object]:
    ours, theirs = found["midcourse"], found["kept"]
    return {name: asdict(ratio(MEASURED[name], span, SEGMENTS, ours, theirs)) for name in BARRED}


def gate(counts: dict[str, Counts]) -> dict[str, float]:
    """What hardly depends on the machine, and so is held wherever this runs."""
    return {what: round(share(SPANS[-1], counts["midcourse"], what), 2) for what in GATES}


def main() -> int:
    parser = options_of(__doc__)
    parser.add_argument("--rounds", type=int, default=25, help="each arm has its turn in each")
    parser.add_argument("--together", type=int, default=10, help="runs at a time")
    parser.add_argument("--langgraph", default=sys.executable, help="an interpreter that has it; empty to leave it out")
    parser.add_argument("--gates", action="store_true", help="only count what hardly depends on the machine")
    given = parser.parse_args()
    began = time.monotonic()
    found = None if given.gates else measure(given.rounds, given.together, given.langgraph)
    gated = gate(found.counts if found else count_all())
    held = all(gated[name] <= most for name, most in GATES.items())
    summary: dict[str, object] = {"gates": gated, "most": GATES, "held": held}
    if found:
        summary |= {
            "rounds": given.rounds,
            "runs": given.rounds * 2 * (1 + given.together),
            "steps": given.rounds * SEGMENTS * (FOUR + TEN) * (1 + given.together),
            "bar": BAR,
            "ratios": {span.name: ratios(span, found.rounds) for span in SPANS},
            "areas": found.areas,
            "langgraph": "langgraph" in found.rounds,
        }
    summary |= {"seconds": round(time.monotonic() - began, 1), "machine": machine()}
    text = text_of(found) if found else ""
    if given.keep:
        keep("engine_overhead", summary, text)
    if not given.json:
        print(text)
    print(json.dumps(summary))
    return 0 if held else 1


if __name__ == "__main__":
    leave(main())
