"""Which response to a failure completes runs, what does it waste, and do lessons help?

    python -m benchmarks.recovery --json

A part goes through three to six stations of a workshop, and something is the matter with one of them: transient, recoverable by
another tool, under-specified, structural, a broken line, or a missing right; each in eight variants (`failures/variants.py`). Four
ways to deal with it, with the same planner, world and seeds:

(a) no replanning: the first failure is the end
(b) the plain replan loop of an agent framework's tutorial: three replans, no waiting, no classification
(c) Midcourse under its defaults, without memory
(d) the same, with what it learned on other seeds, on which half of the variants were never met. Of what it learned to be
    hopeless, a tenth has healed since

An execution is wasted if it failed and was not the first to fail at that station, or did again what was done.
"""

import asyncio
import json
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
from benchmarks.harness.report import Share, describe_machine, format_table, keep, make_parser
from midcourse.app.agent import Agent
from midcourse.app.settings.run import Settings
from midcourse.domain.replace import replace
from midcourse.perform import Ports
from midcourse.ports.memory import Memory
from midcourse.store.sqlite_memory import SqliteMemory
from midcourse.testing import Approves, FakeClock, MemoryStore

PLAIN_REPLANS = 3
"""The default of the plain loop's own document."""
FIRST_SEED = 20_000
"""From 10,000 on nothing is learned. The first 600 of those were looked at while the world had a mistake in it."""
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
    """Whether it ended because of what other runs had met."""
    again: Replayed = field(default_factory=Replayed)


async def trial(arm: str, seed: int, memory: Memory | None) -> Trial:
    situation, clock = situation_of(seed), FakeClock()
    began = clock.now()
    world, planner = Workshop(situation, clock), Foreman(situation, clock)
    told = Trial(
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
        most = 0 if arm == "a" else PLAIN_REPLANS
        tally = await run_plain_replan_loop(ports, max_replans=most, max_calls=situation.task.limits.max_calls)
        told = replace(told, reason=tally.reason)
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
        learned = result.final_reason == "structural_failure" and "try all the same" in result.final_detail
        told = replace(told, reason=result.final_reason, learned_stop=learned, again=await check_replay(store))
    return replace(
        told,
        completed=world.finished,
        executions=world.tries,
        wasted=world.wasted,
        planner_calls=planner.calls,
        seconds=clock.now() - began,
    )


async def learned(memory: Memory, runs: int) -> None:
    """What runs on other seeds left in memory."""
    for seed in range(runs):
        await trial("d", seed, memory)


async def run(runs: int, first_seed: int, learning: int) -> list[Trial]:
    trials: list[Trial] = []
    with tempfile.TemporaryDirectory() as folder:
        memory = SqliteMemory(Path(folder) / "lessons.db", agent="benchmark")
        await learned(memory, learning)
        for seed in range(first_seed, first_seed + runs):
            trials += [await trial(arm, seed, memory if arm == "d" else None) for arm in ARMS]
    return trials


# --- what it comes to


def rows(trials: list[Trial]) -> list[dict[str, object]]:
    """One for each arm and kind, and for all kinds together."""
    groups: dict[tuple[str, str], list[Trial]] = defaultdict(list)
    for one in trials:
        groups[one.arm, one.variant.kind].append(one)
        groups[one.arm, "all"].append(one)
    return [_row(arm, kind, groups[arm, kind]) for kind in (*KINDS, "all") for arm in ARMS]


def _row(arm: str, kind: str, group: list[Trial]) -> dict[str, object]:
    runs = len(group)
    return {
        "arm": arm,
        "kind": kind,
        "runs": runs,
        "completed": asdict(Share.of(sum(one.completed for one in group), runs)),
        "completed_runs": sum(one.completed for one in group),
        "executions": round(sum(one.executions for one in group) / runs, 3),
        "wasted": round(sum(one.wasted for one in group) / runs, 3),
        "planner_calls": round(sum(one.planner_calls for one in group) / runs, 3),
        "seconds": round(sum(one.seconds for one in group) / runs, 1),
    }


def text(found: list[dict[str, object]]) -> str:
    header = ["failure", "arm", "completed, %", "executions", "wasted", "planner calls", "seconds"]
    body = [
        [
            str(row["kind"]),
            str(row["arm"]),
            str(Share(**row["completed"])),  # type: ignore[arg-type]
            f"{row['executions']:.2f}",
            f"{row['wasted']:.2f}",
            f"{row['planner_calls']:.2f}",
            f"{row['seconds']:.0f}",
        ]
        for row in found
    ]
    return format_table(header, body)


def verdict(trials: list[Trial]) -> dict[str, object]:
    """What is claimed, each as a number that could have come out otherwise."""
    by = {(one.arm, one.seed): one for one in trials}
    seeds = sorted({one.seed for one in trials})
    wasted = {arm: sum(by[arm, seed].wasted for seed in seeds) for arm in ARMS}
    stopped = [seed for seed in seeds if by["d", seed].learned_stop]
    false_stops = [seed for seed in stopped if by["c", seed].completed]
    others = [seed for seed in seeds if seed not in set(false_stops)]
    unseen = [seed for seed in seeds if not by["c", seed].variant.seen]
    return {
        "wasted": wasted,
        "wasted_c_of_b": _ratio(wasted["c"], wasted["b"]),
        "wasted_d_of_b": _ratio(wasted["d"], wasted["b"]),
        "kinds_behind_b": {arm: _behind(by, seeds, arm, "b") for arm in ("c", "d")},
        "d_behind_b_besides_false_stops": _behind(by, others, "d", "b"),
        "learned_stops": len(stopped),
        "false_stops": len(false_stops),
        "false_stop_share": asdict(Share.of(len(false_stops), len(seeds))),
        "false_stop_share_of_learned_stops": asdict(Share.of(len(false_stops), len(stopped))),
        "false_stops_of_healed": sum(by["d", seed].healed for seed in false_stops),
        "healed": sum(by["d", seed].healed for seed in seeds),
        "unseen": {arm: sum(by[arm, seed].completed for seed in unseen) for arm in ("b", "c", "d")},
        "unseen_runs": len(unseen),
        "unseen_kinds_behind_c": _behind(by, unseen, "d", "c"),
        "unseen_wasted": {arm: sum(by[arm, seed].wasted for seed in unseen) for arm in ("b", "c", "d")},
    }


@dataclass(frozen=True)
class Bar:
    """What was to be reached, and what was."""

    asked: str
    found: str
    reached: bool


def bars(told: dict[str, Any]) -> list[Bar]:
    behind, false, stopped = told["kinds_behind_b"], told["false_stop_share"], told["false_stop_share_of_learned_stops"]
    unseen, wasted = told["unseen"], told["unseen_wasted"]
    return [
        *(
            Bar(f"({arm}) completes as many as (b) in every kind", _fewer(behind[arm]), not behind[arm])
            for arm in ("c", "d")
        ),
        Bar(
            "(d) the same, but for what it stopped falsely",
            _fewer(told["d_behind_b_besides_false_stops"]),
            not told["d_behind_b_besides_false_stops"],
        ),
        *(
            Bar(
                f"({arm}) wastes at most half of what (b) does",
                f"{told['wasted'][arm]} of {told['wasted']['b']}: {told[f'wasted_{arm}_of_b']:.3f}",
                told[f"wasted_{arm}_of_b"] <= 0.5,
            )
            for arm in ("c", "d")
        ),
        Bar(
            "learning stops at most 2 % of runs falsely",
            f"{told['false_stops']} runs, {told['false_stops_of_healed']} of them healed: {Share(**false)} %; "
            f"of {told['learned_stops']} learned stops {Share(**stopped)} %",
            false["share"] <= 0.02,
        ),
        Bar(
            "of what was never met, (d) completes as many as (c) in every kind",
            f"{unseen['d']} and {unseen['c']} of {told['unseen_runs']}, (b) {unseen['b']}; {_fewer(told['unseen_kinds_behind_c'])}",
            not told["unseen_kinds_behind_c"],
        ),
        Bar(
            "of what was never met, (d) wastes no more than (c)",
            f"{wasted['d']} and {wasted['c']}, (b) {wasted['b']}",
            wasted["d"] <= wasted["c"],
        ),
    ]


def _fewer(behind: dict[str, int]) -> str:
    return ", ".join(f"{kind}: {runs} fewer" for kind, runs in behind.items()) or "none is behind"


def claims(found: list[Bar]) -> str:
    return format_table(
        ["asked for", "found", "reached"], [[one.asked, one.found, "yes" if one.reached else "NO"] for one in found]
    )


def _ratio(ours: int, theirs: int) -> float:
    return round(ours / theirs, 3) if theirs else 0.0


def _behind(by: dict[tuple[str, int], Trial], seeds: Iterable[int], ours: str, theirs: str) -> dict[str, int]:
    """Kinds of failure of which this arm completes fewer runs than the other, and how many fewer."""
    lead: dict[str, int] = defaultdict(int)
    for seed in seeds:
        lead[by[ours, seed].variant.kind] += by[theirs, seed].completed - by[ours, seed].completed
    return {kind: behind for kind, behind in lead.items() if behind > 0}


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
    found = rows(trials)
    told = verdict(trials)
    tables = f"{text(found)}\n\n{claims(bars(told))}"
    replayed = sum((one.again for one in trials), Replayed())
    summary: dict[str, object] = {
        "runs": args.runs,
        "first_seed": args.first_seed,
        "learning": args.learning,
        "frozen": frozen(),
        **told,
        "bars": [asdict(one) for one in bars(told)],
        "rows": found,
        "again": asdict(replayed),
        "seconds": round(time.monotonic() - began, 1),
        "machine": describe_machine(),
    }
    if args.keep:
        keep(
            "recovery",
            summary,
            tables,
        )
    if not args.json:
        print(tables)
    print(json.dumps(summary))
    return 1 if replayed.differing else 0


if __name__ == "__main__":
    sys.exit(main())
