"""Which response to a failure completes runs, how much does it waste, and do lessons help?

    python -m benchmarks.recovery --json

A part goes through three to six stations of a workshop, and one of them fails. The failure is transient, recoverable by another tool,
under-specified, structural, a broken connection, or a missing permission; each in eight variants (`failures/variants.py`). Four arms
respond to it, with the same planner, world and seeds:

(a) no replanning: the first failure ends the run
(b) the plain replan loop of an agent framework's tutorial: three replans, no waiting, no classification
(c) Midcourse with its defaults, without memory
(d) as (c), with lessons from runs on other seeds, which met only half of the variants. A tenth of the failures that these runs
    found hopeless has healed since

An execution is wasted if it failed and was not the first to fail at that station, or repeated finished work.
"""

import asyncio
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.failures.variants import KINDS, Variant
from benchmarks.failures.workshop import Foreman, Workshop, frozen, situation_of
from benchmarks.harness.arms import Vault
from benchmarks.harness.baseline_loop import run_plain_replan_loop
from benchmarks.harness.replay_check import Replayed, check_replay
from benchmarks.harness.report import Share, describe_machine, format_table, make_parser, report
from midcourse.agent.agent import Agent
from midcourse.config.settings import Settings
from midcourse.domain.replace import replace
from midcourse.perform import Ports
from midcourse.ports.memory import Memory
from midcourse.store.sqlite.memory import SqliteMemory
from midcourse.testing import Approves, FakeClock, MemoryStore

PLAIN_REPLANS = 3
"""The default of the tutorial that the plain loop comes from."""
FIRST_SEED = 20_000
"""Seeds from 10,000 on are not used for learning. The first 600 of those were looked at while the world had a mistake in it."""
LEARNING_RUNS = 1000
ARMS = ("a", "b", "c", "d")


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One run, by the workshop's own count."""

    arm: str
    seed: int
    variant: Variant
    healed: bool
    completed: bool
    executions: int
    wasted: int
    planner_calls: int
    seconds: float = 0.0
    reason: str
    learned_stop: bool = False
    """Whether the run stopped because of lessons from other runs."""
    again: Replayed = field(default_factory=Replayed)


async def run_trial(arm: str, seed: int, memory: Memory | None) -> Trial:
    situation, clock = situation_of(seed), FakeClock()
    began = clock.now()
    world, planner = Workshop(situation, clock), Foreman(situation, clock)
    trial = Trial(
        arm=arm,
        seed=seed,
        variant=situation.variant,
        healed=situation.healed,
        completed=False,
        executions=0,
        wasted=0,
        planner_calls=0,
        reason="",
    )
    if arm in ("a", "b"):
        ports = Ports(
            run_id="plain",
            task=situation.task,
            world=world,
            planner=planner,
            approver=Approves(),
            store=MemoryStore(),
            clock=clock,
            vault=Vault(),
        )
        max_replans = 0 if arm == "a" else PLAIN_REPLANS
        tally = await run_plain_replan_loop(ports, max_replans=max_replans, max_calls=situation.task.limits.max_calls)
        trial = replace(trial, reason=tally.reason)
    else:
        store = MemoryStore()
        agent = Agent(
            world=world,
            planner=planner,
            approver=Approves(),
            store=store,
            clock=clock,
            vault=Vault(),
            memory=memory,
            settings=Settings(),
        )
        result = await agent.run(situation.task, run_id=f"{seed}")
        is_learned = result.final_reason == "structural_failure" and "try all the same" in result.final_detail
        trial = replace(trial, reason=result.final_reason, learned_stop=is_learned, again=await check_replay(store))
    return replace(
        trial,
        completed=world.finished,
        executions=world.tries,
        wasted=world.wasted,
        planner_calls=planner.calls,
        seconds=clock.now() - began,
    )


async def fill_memory(memory: Memory, runs: int) -> None:
    """Fill the memory with the lessons of runs on other seeds."""
    for seed in range(runs):
        await run_trial("d", seed, memory)


async def run(runs: int, first_seed: int, learning: int) -> list[Trial]:
    trials: list[Trial] = []
    with tempfile.TemporaryDirectory() as folder:
        memory = SqliteMemory(Path(folder) / "lessons.db", agent="benchmark")
        await fill_memory(memory, learning)
        for seed in range(first_seed, first_seed + runs):
            trials += [await run_trial(arm, seed, memory if arm == "d" else None) for arm in ARMS]
    return trials


# --- results


def make_rows(trials: list[Trial]) -> list[dict[str, object]]:
    """Make a row for each arm and kind, and for each arm with all kinds together."""
    groups: dict[tuple[str, str], list[Trial]] = defaultdict(list)
    for trial in trials:
        groups[trial.arm, trial.variant.kind].append(trial)
        groups[trial.arm, "all"].append(trial)
    return [_make_row(arm, kind, groups[arm, kind]) for kind in (*KINDS, "all") for arm in ARMS]


def _make_row(arm: str, kind: str, group: list[Trial]) -> dict[str, object]:
    runs = len(group)
    return {
        "arm": arm,
        "kind": kind,
        "runs": runs,
        "completed": asdict(Share.of(sum(trial.completed for trial in group), runs)),
        "completed_runs": sum(trial.completed for trial in group),
        "executions": round(sum(trial.executions for trial in group) / runs, 3),
        "wasted": round(sum(trial.wasted for trial in group) / runs, 3),
        "planner_calls": round(sum(trial.planner_calls for trial in group) / runs, 3),
        "seconds": round(sum(trial.seconds for trial in group) / runs, 1),
    }


def format_rows(rows: list[dict[str, Any]]) -> str:
    header = ["failure", "arm", "completed, %", "executions", "wasted", "planner calls", "seconds"]
    body = [
        [
            str(row["kind"]),
            str(row["arm"]),
            str(Share(**row["completed"])),
            f"{row['executions']:.2f}",
            f"{row['wasted']:.2f}",
            f"{row['planner_calls']:.2f}",
            f"{row['seconds']:.0f}",
        ]
        for row in rows
    ]
    return format_table(header, body)


def compare_arms(trials: list[Trial]) -> dict[str, object]:
    """Return the figures behind the claims."""
    trials_by_cell = {(trial.arm, trial.seed): trial for trial in trials}
    seeds = sorted({trial.seed for trial in trials})
    wasted = {arm: sum(trials_by_cell[arm, seed].wasted for seed in seeds) for arm in ARMS}
    learned_stops = [seed for seed in seeds if trials_by_cell["d", seed].learned_stop]
    false_stops = [seed for seed in learned_stops if trials_by_cell["c", seed].completed]
    others = [seed for seed in seeds if seed not in set(false_stops)]
    unseen = [seed for seed in seeds if not trials_by_cell["c", seed].variant.seen]
    return {
        "wasted": wasted,
        "wasted_c_of_b": _ratio(wasted["c"], wasted["b"]),
        "wasted_d_of_b": _ratio(wasted["d"], wasted["b"]),
        "kinds_behind_b": {arm: _find_kinds_behind(trials_by_cell, seeds, arm, "b") for arm in ("c", "d")},
        "d_behind_b_besides_false_stops": _find_kinds_behind(trials_by_cell, others, "d", "b"),
        "learned_stops": len(learned_stops),
        "false_stops": len(false_stops),
        "false_stop_share": asdict(Share.of(len(false_stops), len(seeds))),
        "false_stop_share_of_learned_stops": asdict(Share.of(len(false_stops), len(learned_stops))),
        "false_stops_of_healed": sum(trials_by_cell["d", seed].healed for seed in false_stops),
        "healed": sum(trials_by_cell["d", seed].healed for seed in seeds),
        "unseen": {arm: sum(trials_by_cell[arm, seed].completed for seed in unseen) for arm in ("b", "c", "d")},
        "unseen_runs": len(unseen),
        "unseen_kinds_behind_c": _find_kinds_behind(trials_by_cell, unseen, "d", "c"),
        "unseen_wasted": {arm: sum(trials_by_cell[arm, seed].wasted for seed in unseen) for arm in ("b", "c", "d")},
    }


@dataclass(frozen=True)
class Bar:
    """A claim, the figures found, and whether they support it."""

    asked: str
    found: str
    reached: bool


def check_bars(results: dict[str, Any]) -> list[Bar]:
    behind, false, stopped = (
        results["kinds_behind_b"],
        results["false_stop_share"],
        results["false_stop_share_of_learned_stops"],
    )
    unseen, wasted = results["unseen"], results["unseen_wasted"]
    return [
        *(
            Bar(f"({arm}) completes as many as (b) in every kind", _format_fewer(behind[arm]), not behind[arm])
            for arm in ("c", "d")
        ),
        Bar(
            "(d) the same, but for what it stopped falsely",
            _format_fewer(results["d_behind_b_besides_false_stops"]),
            not results["d_behind_b_besides_false_stops"],
        ),
        *(
            Bar(
                f"({arm}) wastes at most half of what (b) does",
                f"{results['wasted'][arm]} of {results['wasted']['b']}: {results[f'wasted_{arm}_of_b']:.3f}",
                results[f"wasted_{arm}_of_b"] <= 0.5,
            )
            for arm in ("c", "d")
        ),
        Bar(
            "learning stops at most 2 % of runs falsely",
            f"{results['false_stops']} runs, {results['false_stops_of_healed']} of them healed: {Share(**false)} %; "
            f"of {results['learned_stops']} learned stops {Share(**stopped)} %",
            false["share"] <= 0.02,
        ),
        Bar(
            "of what was never met, (d) completes as many as (c) in every kind",
            f"{unseen['d']} and {unseen['c']} of {results['unseen_runs']}, (b) {unseen['b']}; {_format_fewer(results['unseen_kinds_behind_c'])}",
            not results["unseen_kinds_behind_c"],
        ),
        Bar(
            "of what was never met, (d) wastes no more than (c)",
            f"{wasted['d']} and {wasted['c']}, (b) {wasted['b']}",
            wasted["d"] <= wasted["c"],
        ),
    ]


def _format_fewer(behind: dict[str, int]) -> str:
    return ", ".join(f"{kind}: {runs} fewer" for kind, runs in behind.items()) or "none is behind"


def format_bars(bars: list[Bar]) -> str:
    return format_table(
        ["asked for", "found", "reached"], [[bar.asked, bar.found, "yes" if bar.reached else "NO"] for bar in bars]
    )


def _ratio(ours: int, theirs: int) -> float:
    return round(ours / theirs, 3) if theirs else 0.0


def _find_kinds_behind(
    trials_by_cell: dict[tuple[str, int], Trial], seeds: Iterable[int], ours: str, theirs: str
) -> dict[str, int]:
    """Return the kinds of failure in which arm `ours` completes fewer runs than arm `theirs`, with the difference."""
    deficits: dict[str, int] = defaultdict(int)
    for seed in seeds:
        deficits[trials_by_cell[ours, seed].variant.kind] += (
            trials_by_cell[theirs, seed].completed - trials_by_cell[ours, seed].completed
        )
    return {kind: deficit for kind, deficit in deficits.items() if deficit > 0}


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--runs", type=int, default=3000, help="of each arm")
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    parser.add_argument(
        "--learning", type=int, default=LEARNING_RUNS, help="runs that (d) learns from, seeds from 0 on"
    )
    args = parser.parse_args()
    began = time.monotonic()
    trials = asyncio.run(run(args.runs, args.first_seed, args.learning))
    rows = make_rows(trials)
    comparison = compare_arms(trials)
    tables = f"{format_rows(rows)}\n\n{format_bars(check_bars(comparison))}"
    replayed = sum((trial.again for trial in trials), Replayed())
    summary: dict[str, object] = {
        "runs": args.runs,
        "first_seed": args.first_seed,
        "learning": args.learning,
        "frozen": frozen(),
        **comparison,
        "bars": [asdict(trial) for trial in check_bars(comparison)],
        "rows": rows,
        "again": asdict(replayed),
        "seconds": round(time.monotonic() - began, 1),
        "machine": describe_machine(),
    }
    report(args, "recovery", summary, tables)
    return 1 if replayed.differing else 0


if __name__ == "__main__":
    sys.exit(main())
