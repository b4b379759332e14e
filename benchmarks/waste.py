"""How much is spent on failures that no retry can fix? Midcourse and a plain replan loop, by class of failure.

    python -m benchmarks.waste --json

A robot arm picks up a cube; both sides have the same planner. In the hopeless classes nothing helps, so every execution and planner
call after the first is waste. In the other classes a retry, another plan or waiting helps; a run that the plain loop completes and
Midcourse does not is lost. An unreachable planner is one of the other classes, because runs wait for it.
"""

import asyncio
import random
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field

from benchmarks.harness.arms import Vault
from benchmarks.harness.baseline_loop import run_plain_replan_loop
from benchmarks.harness.replay_check import Replayed, check_replay
from benchmarks.harness.report import describe_machine, format_table, make_parser, report
from midcourse.agent.agent import Agent
from midcourse.domain.plan import GLOBAL, Draft
from midcourse.domain.task import Task
from midcourse.perform import Ports
from midcourse.planners import SamePlan
from midcourse.ports.planner import PlanDraft, Planner, PlanningContext
from midcourse.testing import Approves, FakeClock, MemoryStore
from midcourse.worlds.base import failed
from midcourse.worlds.simulated.arm import Arm

PLAIN_REPLANS = 3
"""The default of the tutorial that the plain loop comes from."""
FIRST_SEED = 10_000


def plan_pick(name: str, **more: str) -> PlanDraft:
    step = Draft(zone=GLOBAL, skill="pick", arguments=(("object", name), *more.items()), says=f"Pick up the {name}")
    return PlanDraft(steps=(step,), final=True)


class NamesInTurn:
    """A planner that tries the names it knows one after the other, without those that failed."""

    def __init__(self, *names: str) -> None:
        self._names = names

    async def plan(self, context: PlanningContext) -> PlanDraft:
        tried = {value for attempt in context.attempts for _, value in attempt.arguments}
        left = [name for name in self._names if name not in tried]
        return plan_pick(left[0]) if left else PlanDraft(verdict="gave_up", detail="no name is left to try")


class UnreachablePlanner:
    """A planner that cannot reach its model."""

    async def plan(self, context: PlanningContext) -> PlanDraft:
        raise ConnectionError("the model's service does not answer")


class RefusingArm(Arm):
    """An arm with a controller that refuses every pick."""

    def pick(self, object: str):  # noqa: A002
        return failed("not_permitted", f"'{object}' lies in a zone that this arm must not enter")


def repeat_pick(name: str) -> Planner:
    return SamePlan(plan_pick(name).steps, final=True)


@dataclass(frozen=True)
class Case:
    """One class of failure: a world and a planner for a seed."""

    name: str
    hopeless: bool
    make: Callable[[random.Random, FakeClock], tuple[Arm, Planner]]


def _place_out_of_reach(chance: random.Random, clock: FakeClock) -> tuple[Arm, Planner]:
    return Arm(objects=f"red_cube={chance.uniform(0.9, 1.5):.3f},0.0", clock=clock), repeat_pick("red_cube")


def _refuse_to_move(chance: random.Random, clock: FakeClock) -> tuple[Arm, Planner]:
    return RefusingArm(objects=_draw_position(chance), clock=clock), repeat_pick("red_cube")


def _use_wrong_name(chance: random.Random, clock: FakeClock) -> tuple[Arm, Planner]:
    return Arm(objects=_draw_position(chance), clock=clock), repeat_pick("crimson_cube")


def _use_wrong_arguments(chance: random.Random, clock: FakeClock) -> tuple[Arm, Planner]:
    return Arm(objects=_draw_position(chance), clock=clock), SamePlan(
        plan_pick("red_cube", force="high").steps, final=True
    )


def _cut_off_planner(chance: random.Random, clock: FakeClock) -> tuple[Arm, Planner]:
    return Arm(objects=_draw_position(chance), clock=clock), UnreachablePlanner()


def _slip_first(chance: random.Random, clock: FakeClock) -> tuple[Arm, Planner]:
    slips = {"kind": "transient", "skill": "pick", "times": chance.randint(1, 3)}
    return Arm(objects=_draw_position(chance), faults=[slips], clock=clock), repeat_pick("red_cube")


def _try_names(chance: random.Random, clock: FakeClock) -> tuple[Arm, Planner]:
    wrong = ["cube", "red_block", "redcube"][: chance.randint(1, 2)]
    return Arm(objects=_draw_position(chance), clock=clock), NamesInTurn(*wrong, "red_cube")


def _draw_position(chance: random.Random) -> str:
    return f"red_cube={chance.uniform(0.3, 0.6):.3f},{chance.uniform(-0.2, 0.2):.3f}"


CASES = (
    Case("out of reach", True, _place_out_of_reach),
    Case("not permitted", True, _refuse_to_move),
    Case("not found, planner repeats", True, _use_wrong_name),
    Case("bad arguments, planner repeats", True, _use_wrong_arguments),
    Case("planner unreachable", False, _cut_off_planner),
    Case("busy for a while", False, _slip_first),
    Case("not found, planner adapts", False, _try_names),
)


@dataclass
class CaseTotals:
    case: str
    hopeless: bool
    runs: int = 0
    ours_executions: int = 0
    ours_calls: int = 0
    plain_executions: int = 0
    plain_calls: int = 0
    ours_completed: int = 0
    plain_completed: int = 0
    lost: int = 0
    """Completed by the plain loop and not by Midcourse."""
    again: Replayed = field(default_factory=Replayed)

    def waste(self, executions: int, calls: int) -> int:
        """Return the number of executions and planner calls after the first of each run."""
        return max(0, executions - self.runs) + max(0, calls - self.runs)

    @property
    def ours_waste(self) -> int:
        return self.waste(self.ours_executions, self.ours_calls)

    @property
    def plain_waste(self) -> int:
        return self.waste(self.plain_executions, self.plain_calls)


async def run_both(case: Case, seed: int, totals: CaseTotals) -> None:
    task = Task(goal="Pick up the red cube")
    clock = FakeClock()
    world, planner = case.make(random.Random(seed), clock)
    store = MemoryStore()
    agent = Agent(world=world, planner=planner, approver=Approves(), store=store, clock=clock, vault=Vault())
    ours = await agent.run(task)
    is_picked = await world.probe("holding", (("object", "red_cube"),)) == "present"

    clock = FakeClock()
    world, planner = case.make(random.Random(seed), clock)
    ports = Ports(
        run_id="plain",
        task=task,
        world=world,
        planner=planner,
        approver=Approves(),
        store=MemoryStore(),
        clock=clock,
        vault=Vault(),
    )
    plain = await run_plain_replan_loop(ports, max_replans=PLAIN_REPLANS, max_calls=task.limits.max_calls)
    is_picked_by_plain = await world.probe("holding", (("object", "red_cube"),)) == "present"

    totals.runs += 1
    totals.again += await check_replay(store)
    totals.ours_executions += ours.executions
    totals.ours_calls += ours.planner_calls
    totals.plain_executions += plain.executions
    totals.plain_calls += plain.planner_calls
    totals.ours_completed += ours.success and is_picked
    totals.plain_completed += plain.success and is_picked_by_plain
    totals.lost += (plain.success and is_picked_by_plain) and not (ours.success and is_picked)


async def run_all_cases(runs: int, first_seed: int) -> list[CaseTotals]:
    rows: list[CaseTotals] = []
    for case in CASES:
        totals = CaseTotals(case.name, case.hopeless)
        for seed in range(first_seed, first_seed + runs):
            await run_both(case, seed, totals)
        rows.append(totals)
    return rows


def format_rows(rows: list[CaseTotals]) -> str:
    header = ["failure", "can be fixed", "executions", "plain", "planner calls", "plain", "completed", "plain", "lost"]
    body = [
        [
            row.case,
            "no" if row.hopeless else "yes",
            f"{row.ours_executions / row.runs:.2f}",
            f"{row.plain_executions / row.runs:.2f}",
            f"{row.ours_calls / row.runs:.2f}",
            f"{row.plain_calls / row.runs:.2f}",
            str(row.ours_completed),
            str(row.plain_completed),
            str(row.lost),
        ]
        for row in rows
    ]
    return format_table(header, body)


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--runs", type=int, default=100, help="per class of failure")
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    args = parser.parse_args()
    began = time.monotonic()
    rows = asyncio.run(run_all_cases(args.runs, args.first_seed))
    hopeless = [row for row in rows if row.hopeless]
    ours, plain = sum(row.ours_waste for row in hopeless), sum(row.plain_waste for row in hopeless)
    replayed = sum((row.again for row in rows), Replayed())
    summary: dict[str, object] = {
        "runs": args.runs,
        "first_seed": args.first_seed,
        "wasted": ours,
        "wasted_by_plain_loop": plain,
        "ratio": round(ours / plain, 3),
        "lost": sum(row.lost for row in rows),
        "again": asdict(replayed),
        "classes": [asdict(row) for row in rows],
        "seconds": round(time.monotonic() - began, 1),
        "machine": describe_machine(),
    }
    report(args, "waste", summary, format_rows(rows))
    return 1 if replayed.differing else 0


if __name__ == "__main__":
    sys.exit(main())
