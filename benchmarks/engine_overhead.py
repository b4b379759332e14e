"""What does Midcourse add to a bare Temporal workflow, and to LangGraph, for the same work?

    python -m benchmarks.engine_overhead --json

One run is a plan, steps that act on a simulated panel and look at it (5 KB), two replans and a result. Every step is
reversible or irreversible. The arms take turns, so that a disturbance of the machine affects them alike:

bare         Temporal; a step is one activity that acts and looks; nothing is kept but what the engine keeps
kept         the same, with two PostgreSQL transactions a step in hand-written SQL: dispatch; outcome, observation and journal
segmented    the same transactions, in one activity for each segment
midcourse    a driver that the same engine places, with its records in the same PostgreSQL
langgraph    a graph with a PostgreSQL checkpoint after each node, synced; for orientation: other promises, another engine
dbos         a workflow of steps whose results are in PostgreSQL; for orientation, too

With `--seconds 6` each step takes so long, as a browser's does: then the runs mostly wait, and what an engine does meanwhile counts.

Three tables, since a run has a fixed cost in addition to its steps: runs with segments of four steps, runs with segments of ten,
and the difference of the two, which is what one more step costs. A bare look and the plan made from it are one activity; the
director looks and plans in two.

LangGraph and DBOS are not dependencies. To have their columns:

    uv venv others
    uv pip install --python others/bin/python langgraph langgraph-checkpoint-postgres dbos 'psycopg[binary]' pydantic
    python -m benchmarks.engine_overhead --others others/bin/python
"""

import argparse
import os
import sys
import time
from dataclasses import asdict, dataclass
from functools import partial
from math import isnan, nan

from psycopg import Connection

from benchmarks.harness.report import describe_machine, format_table, make_parser, report
from benchmarks.overhead.figures import Figure, Ratio, Round, Rounds, Span, alone_ms, cpu, ratio, together_ms
from benchmarks.overhead.trial import NEEDS, ArmProcess, is_installed, trial
from benchmarks.overhead.workload import SECONDS, SEGMENTS
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
BARRED = "CPU s per 1,000"
BARS = {"segmented": 1.3, "langgraph": 1.25}
"""The most that this may be, as a multiple of these arms, in segments of ten: the upper end of the interval."""
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


def arms_with(others: str) -> dict[str, str]:
    """Every arm that is installed, with its interpreter."""
    arms = dict.fromkeys(("bare", "kept", "segmented", "midcourse"), sys.executable)
    return arms | {arm: others for arm in NEEDS if others and is_installed(arm, others)}


def measure(rounds: int, together: int, others: str) -> Found:
    arms = arms_with(others)
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


def format_span(span: Span, found: dict[str, Rounds], counts: dict[str, Counts]) -> str:
    others = [arm for arm in BARS if arm in found]
    rows: list[list[str]] = []
    for name, figure in MEASURED.items():
        shares = [span.of(partial(figure, rounds), SEGMENTS) for rounds in found.values()]
        compared = [str(ratio(figure, span, SEGMENTS, found["midcourse"], found[other])) for other in others]
        rows.append([name, *(f"{value:.2f}" for value in shares), *compared])
    for name, what in COUNTED.items():
        shares = [share(span, counts[arm], what) for arm in found]
        rows.append([name, *("" if isnan(value) else f"{value:.2f}" for value in shares), *("" for _ in others)])
    title = f"## A step of {span.name}\n\n"
    return title + format_table(["", *found, *(f"midcourse : {other}" for other in others)], rows)


def format_areas(areas: dict[str, dict[str, float]]) -> str:
    names = sorted({name for arm in areas.values() for name in arm}, key=lambda name: -areas["midcourse"].get(name, 0))
    rows = [[name, *(f"{arm.get(name, 0.0):.2f}" for arm in areas.values())] for name in names]
    title = "## Where the worker's processor time goes, in ms a step of segments of ten"
    note = "Profiled, which makes Python slower: compare the columns, and not their sums with the tables above."
    return f"{title}\n\n{note}\n\n{format_table(['', *areas], rows)}"


def format_tables(found: Found) -> str:
    parts = [format_span(span, found.rounds, found.counts) for span in SPANS]
    if missing := [arm for arm in NEEDS if arm not in found.rounds]:
        parts.append(f"Not installed here: {', '.join(missing)}. `--help` shows how to install them.")
    return "\n\n".join([*parts, format_areas(found.areas)])


def ratios(span: Span, found: dict[str, Rounds]) -> dict[str, Ratio]:
    """The processor time of a step beside that of the arms with a bar."""
    figure, ours = MEASURED[BARRED], found["midcourse"]
    return {other: ratio(figure, span, SEGMENTS, ours, found[other]) for other in BARS if other in found}


def gate(counts: dict[str, Counts]) -> dict[str, float]:
    """What hardly depends on the machine, and so is held wherever this runs."""
    return {what: round(share(SPANS[-1], counts["midcourse"], what), 2) for what in GATES}


def measure_slow(args: argparse.Namespace) -> int:
    """Processor time of a step that takes seconds, in runs that are carried out at the same time."""
    os.environ[SECONDS] = str(args.seconds)
    arms = arms_with(args.others)
    with trial(arms) as (processes, connection):
        found = {
            name: 1000 * sum(block.cpu for block in blocks) / sum(block.all_steps for block in blocks)
            for name, arm in processes.items()
            if (blocks := [arm.block(connection, TEN, args.together) for _ in range(args.rounds)])
        }
    rows = [[arm, f"{ms:.2f}"] for arm, ms in found.items()]
    text = f"Steps of {args.seconds:g} s in segments of ten, {args.together} runs at a time.\n\n" + format_table(
        ["", "CPU ms a step"], rows
    )
    rounded = {arm: round(ms, 2) for arm, ms in found.items()}
    summary = {
        "seconds_per_step": args.seconds,
        "cpu_ms": rounded,
        "rounds": args.rounds,
        "machine": describe_machine(),
    }
    report(args, "engine_overhead_slow", summary, text)
    return 0


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--rounds", type=int, default=8, help="each arm has its turn in each")
    parser.add_argument("--together", type=int, default=10, help="runs at a time")
    parser.add_argument("--others", default=sys.executable, help="an interpreter that has LangGraph and DBOS")
    parser.add_argument(
        "--seconds", type=float, default=0.0, help="how long each step takes; only CPU is measured then"
    )
    parser.add_argument("--gates", action="store_true", help="only count what hardly depends on the machine")
    args = parser.parse_args()
    if args.seconds:
        return measure_slow(args)
    began = time.monotonic()
    found = None if args.gates else measure(args.rounds, args.together, args.others)
    gated = gate(found.counts if found else count_all())
    held = all(gated[name] <= most for name, most in GATES.items())
    summary: dict[str, object] = {"gates": gated, "most": GATES, "held": held}
    if found:
        summary |= {
            "rounds": args.rounds,
            "runs": args.rounds * 2 * (1 + args.together),
            "steps": args.rounds * SEGMENTS * (FOUR + TEN) * (1 + args.together),
            "cpu_ms": {
                arm: round(SPANS[1].of(partial(MEASURED[BARRED], one), SEGMENTS), 2)
                for arm, one in found.rounds.items()
            },
            "bars": BARS,
            "ratios": {span.name: {k: asdict(v) for k, v in ratios(span, found.rounds).items()} for span in SPANS},
            "within": {arm: one.high <= BARS[arm] for arm, one in ratios(SPANS[1], found.rounds).items()},
            "areas": found.areas,
            "arms": list(found.rounds),
        }
    summary |= {"seconds": round(time.monotonic() - began, 1), "machine": describe_machine()}
    text = format_tables(found) if found else ""
    report(args, "engine_overhead", summary, text)
    return 0 if held else 1


if __name__ == "__main__":
    leave(main())
