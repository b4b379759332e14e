"""Does a robot finish although cubes are pushed, slip, are out of reach or taken for each other? Midcourse and a plain replan loop.

    python -m benchmarks.robot --seeds 50 --json

A Panda arm in MuJoCo puts a red cube into its bin. Both sides have the same cell, disturbances and planner, which plans for what
the last look showed. The plain loop (plan, execute, on a failure plan again, three times at most) believes what the arm reports.
Completed is what the simulation shows at the end; a wrong placement is an object in a bin of another colour, in the world's own log.
"""

import asyncio
import os
import random
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field

from benchmarks.harness.baseline_loop import run_plain_replan_loop
from benchmarks.harness.replay_check import Replayed, check_replay
from benchmarks.harness.report import Share, describe_machine, format_table, make_parser, report
from midcourse.agent.agent import Agent
from midcourse.domain.expectation import Expectation, Probe, ZoneHasState
from midcourse.domain.plan import GLOBAL, Draft
from midcourse.domain.task import Task
from midcourse.perform import Ports
from midcourse.planners import Playbook, Rule
from midcourse.testing import Approves, FakeClock, MemoryStore
from midcourse.worlds.robot import Robot

FIRST_SEED = 20_000
PLAIN_REPLANS = 3
"""The default of the plain loop's own document."""
GOAL = "Put the red cube into the red bin"
IN_BIN = (("object", "red_cube"), ("bin", "red_bin"))
TASK = Task(goal=GOAL, done_when=Probe(name="in_bin", arguments=IN_BIN))


class Cell(Robot):
    """Stays open after a run, so that what really is can be asked."""

    name = "robot"

    async def close(self) -> None:
        pass

    async def finish(self) -> bool:
        """Whether the red cube lies in its bin. Then it is closed."""
        done = await self.probe("in_bin", IN_BIN) == "present"
        await super().close()
        return done


class NoSecrets:
    def reveal(self, name: str) -> str:
        raise KeyError(name)


@dataclass(frozen=True)
class Case:
    """One kind of trouble: a cell for a seed."""

    name: str
    make: Callable[[random.Random, int], Cell]
    can_be_done: bool = True


def _near(chance: random.Random) -> str:
    """Two cubes in reach, apart from each other and from the bins."""
    red = f"red_cube={chance.uniform(0.42, 0.58):.3f},{chance.uniform(0.03, 0.18):.3f}"
    return f"{red} blue_cube={chance.uniform(0.40, 0.58):.3f},{chance.uniform(-0.25, -0.10):.3f}"


def _moved(chance: random.Random, seed: int) -> Cell:
    faults = [{"kind": "object_moved", "times": chance.randint(1, 2)}]
    return Cell(objects=_near(chance), faults=faults, seed=seed)


def _slipped(chance: random.Random, seed: int) -> Cell:
    faults = [{"kind": "grasp_slipped", "times": chance.randint(1, 3)}]
    return Cell(objects=_near(chance), faults=faults, seed=seed)


def _far(chance: random.Random, seed: int) -> Cell:
    return Cell(objects=f"red_cube={chance.uniform(0.95, 1.4):.3f},{chance.uniform(-0.3, 0.3):.3f}", seed=seed)


def _mistaken(chance: random.Random, seed: int) -> Cell:
    return Cell(objects=_near(chance), drift={"misnamed": 0.4}, seed=seed)


CASES = (
    Case("moved", _moved),
    Case("slipped", _slipped),
    Case("wrong object", _mistaken),
    Case("unreachable", _far, can_be_done=False),
)
ARMS = ("midcourse", "plain replan loop")
BY_NAME = {case.name: case for case in CASES}


def holds(name: str) -> Expectation:
    return Expectation(checks=(ZoneHasState(role="gripper", state="holding", value=name),))


def lies_in(name: str, place: str) -> Expectation:
    return Expectation(checks=(ZoneHasState(role="object", label=name, state="bin", value=place),))


def pick(name: str) -> Draft:
    return Draft(zone=GLOBAL, skill="pick", arguments=(("object", name),), expect=holds(name))


def place(name: str, where: str) -> Draft:
    return Draft(zone=GLOBAL, skill="place_in", arguments=(("bin", where),), expect=lies_in(name, where))


PLANNER = Playbook(
    [
        Rule(when=holds("red_cube"), steps=(place("red_cube", "red_bin"),)),
        Rule(
            when=holds("blue_cube"),
            steps=(place("blue_cube", "blue_bin"), pick("red_cube"), place("red_cube", "red_bin")),
        ),
        Rule(when=lies_in("red_cube", "red_bin"), done=True),
        Rule(on="Robot cell", steps=(pick("red_cube"), place("red_cube", "red_bin"))),
    ]
)


@dataclass(frozen=True, kw_only=True)
class Trial:
    claimed: bool
    happened: bool
    executions: int
    calls: int
    misplaced: int
    reason: str
    again: Replayed = field(default_factory=Replayed)


@dataclass(frozen=True, kw_only=True)
class Row:
    case: str
    arm: str
    runs: int
    completed: Share
    false_done: int
    misplaced: int
    executions: float
    calls: float
    ended: dict[str, int]


def run_trial(what: tuple[str, str, int]) -> Trial:
    case, arm, seed = what
    return asyncio.run(_trial(BY_NAME[case], arm, seed))


async def _trial(case: Case, arm: str, seed: int) -> Trial:
    robot, clock, store = case.make(random.Random(seed), seed), FakeClock(), MemoryStore()
    if arm == "midcourse":
        agent = Agent(world=robot, planner=PLANNER, approver=Approves(), store=store, clock=clock, vault=NoSecrets())
        ours = await agent.run(TASK)
        outcome = (ours.success, ours.executions, ours.planner_calls, ours.final_reason)
        replayed = await check_replay(store)
    else:
        ports = Ports(
            run_id="plain",
            task=TASK,
            world=robot,
            planner=PLANNER,
            approver=Approves(),
            store=store,
            clock=clock,
            vault=NoSecrets(),
        )
        plain = await run_plain_replan_loop(ports, max_replans=PLAIN_REPLANS, max_calls=TASK.limits.max_calls)
        outcome, replayed = (plain.success, plain.executions, plain.planner_calls, plain.reason), Replayed()
    return Trial(
        claimed=outcome[0],
        happened=await robot.finish(),
        executions=outcome[1],
        calls=outcome[2],
        reason=outcome[3],
        misplaced=_misplaced(robot),
        again=replayed,
    )


def _misplaced(robot: Robot) -> int:
    """Objects that were put into a bin of another colour, by the world's own log."""
    placed = [one for one in robot.effects.present(float("inf")) if one.effect == "placed" and one.get("bin")]
    return sum(str(one.get("object")).partition("_")[0] != one.get("bin").partition("_")[0] for one in placed)


def summarize(case: Case, arm: str, trials: list[Trial]) -> Row:
    count, reasons = len(trials), [trial.reason for trial in trials]
    return Row(
        case=case.name,
        arm=arm,
        runs=count,
        completed=Share.of(sum(trial.claimed and trial.happened for trial in trials), count),
        false_done=sum(trial.claimed and not trial.happened for trial in trials),
        misplaced=sum(trial.misplaced for trial in trials),
        executions=round(sum(trial.executions for trial in trials) / count, 2),
        calls=round(sum(trial.calls for trial in trials) / count, 2),
        ended={reason: reasons.count(reason) for reason in sorted(set(reasons))},
    )


def run(seeds: int, first_seed: int, jobs: int) -> tuple[list[Row], Replayed]:
    cells = [(case, arm) for case in CASES for arm in ARMS]
    wanted = [(case.name, arm, seed) for case, arm in cells for seed in range(first_seed, first_seed + seeds)]
    with ProcessPoolExecutor(jobs) as pool:
        trials = list(pool.map(run_trial, wanted, chunksize=max(1, min(5, seeds // jobs))))
    parts = [trials[start : start + seeds] for start in range(0, len(trials), seeds)]
    rows = [summarize(case, arm, part) for (case, arm), part in zip(cells, parts, strict=True)]
    return rows, sum((trial.again for trial in trials), Replayed())


def format_rows(rows: list[Row]) -> str:
    header = [
        "case",
        "arm",
        "completed % (95 %)",
        "false done",
        "in a wrong bin",
        "executions",
        "planner calls",
        "ended",
    ]
    body = [
        [
            row.case,
            row.arm,
            str(row.completed),
            str(row.false_done),
            str(row.misplaced),
            f"{row.executions:.2f}",
            f"{row.calls:.2f}",
            ", ".join(f"{reason} {count}" for reason, count in row.ended.items()),
        ]
        for row in rows
    ]
    return format_table(header, body)


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--seeds", type=int, default=50, help="per case and arm")
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    args = parser.parse_args()
    began = time.monotonic()
    rows, replayed = run(args.seeds, args.first_seed, args.jobs)
    possible = [row for row in rows if BY_NAME[row.case].can_be_done]
    summary: dict[str, object] = {
        "seeds": args.seeds,
        "first_seed": args.first_seed,
        "completed": {arm: _all(possible, arm) for arm in ARMS},
        "false_done": {arm: sum(row.false_done for row in rows if row.arm == arm) for arm in ARMS},
        "misplaced": {arm: sum(row.misplaced for row in rows if row.arm == arm) for arm in ARMS},
        "again": asdict(replayed),
        "rows": [asdict(row) for row in rows],
        "seconds": round(time.monotonic() - began, 1),
        "machine": describe_machine(),
    }
    report(args, "robot", summary, format_rows(rows))
    return 1 if replayed.differing else 0


def _all(rows: list[Row], arm: str) -> dict[str, float]:
    mine = [row for row in rows if row.arm == arm]
    return asdict(Share.of(round(sum(row.completed.share * row.runs for row in mine)), sum(row.runs for row in mine)))


if __name__ == "__main__":
    sys.exit(main())
