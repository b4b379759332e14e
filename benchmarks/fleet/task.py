"""The task of a run in the fleet's trials: visit each counter of the office once, in order."""

import asyncio
import json
import random
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from benchmarks.fleet.kill_points import PlannedKill
from benchmarks.fleet.world import FLOOR, TROUBLE, Counter, Fault, read_log
from midcourse.domain.approval import Decision, Question
from midcourse.domain.budget import Cost, Limits
from midcourse.domain.expectation import Check, Expectation, Probe, SurfaceMatches, ZoneAppears, ZoneHasState
from midcourse.domain.plan import REPLAN, Draft
from midcourse.domain.task import Task
from midcourse.ports.planner import ONE_CALL, PlanDraft, PlanningContext

SETTLE_SECONDS = 1.0
"""Longer than the delay of late effects in the office."""
FAULTS: tuple[Fault, ...] = ("error", "timeout", "late", "refused")
USUAL_COUNTERS = (
    Counter(effect="read"),
    Counter(effect="set_state"),
    Counter(effect="reversible"),
    Counter(effect="reversible"),
    Counter(effect="irreversible", shown="probe"),
    Counter(effect="irreversible", shown="probe"),
    Counter(effect="irreversible"),
    Counter(effect="irreversible", shown="toast"),
)
GENEROUS_LIMITS = Limits(
    max_calls=100,
    max_segments=60,
    max_replans=50,
    max_error_replans=40,
    max_step_retries=10,
    retry_delay_seconds=0.05,
    max_retry_delay_seconds=0.4,
    approvals="never",
    act_timeout_seconds=10.0,
    look_timeout_seconds=10.0,
    plan_timeout_seconds=10.0,
)
"""High enough for any number of kills in a trial."""


@dataclass(frozen=True, kw_only=True)
class Assignment:
    """Everything that a worker needs to know of a run."""

    counters: tuple[Counter, ...]
    limits: Limits = GENEROUS_LIMITS
    toast_seconds: float = 1.0
    padding: int = 0
    plan_cost: Cost = ONE_CALL
    """The actual cost of each plan."""
    act_seconds: float = 0.05
    remembers: bool = False
    """Whether a new session of the office starts with what was done in earlier ones."""
    model_port: int = 0
    """Address that the planner must reach first, if any."""
    waits: bool = False
    """Whether questions wait instead of being answered at once."""
    planned_kill: PlannedKill | None = None
    must_succeed: bool = True
    """Whether the run must succeed; otherwise it must only end."""

    @property
    def task(self) -> Task:
        done = Probe(name="all_visited", settles_after=SETTLE_SECONDS)
        return Task(goal="Visit every counter once", world="office", done_when=done, limits=self.limits)


def make_usual_assignment(seed: int) -> Assignment:
    """Make an assignment with all effect classes in random order, faults at one to three counters, and approvals in half of the runs."""
    chance = random.Random(seed)
    counters = chance.sample(USUAL_COUNTERS, len(USUAL_COUNTERS))
    for number in chance.sample(range(len(counters)), chance.randint(1, 3)):
        counters[number] = replace(counters[number], fault=_pick_fault(counters[number], chance))
    limits = replace(GENEROUS_LIMITS, approvals="always" if chance.random() < 0.5 else "never")
    return Assignment(counters=tuple(counters), limits=limits)


def _pick_fault(counter: Counter, chance: random.Random) -> Fault:
    """Pick a fault. Only irreversible acts get errors without an effect: elsewhere these are plain failures, which no plan may repeat."""
    return chance.choice(FAULTS if counter.effect == "irreversible" else ("error", "timeout"))


class Clerk:
    """Plans the remaining visits on this floor, by what it sees and by the completed steps. Writes down every plan and its cost."""

    def __init__(self, assignment: Assignment, run_id: str, calls: Path) -> None:
        self._assignment = assignment
        self._run_id = run_id
        self._calls = calls

    async def plan(self, context: PlanningContext) -> PlanDraft:
        if self._assignment.model_port:
            _, writer = await asyncio.open_connection("127.0.0.1", self._assignment.model_port)
            writer.close()
        with self._calls.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"run": self._run_id, **asdict(self._assignment.plan_cost)}) + "\n")
        observation, cost = context.observation, self._assignment.plan_cost
        replan = Draft(zone=REPLAN)
        if observation.surface.title == TROUBLE:
            return PlanDraft(steps=(Draft(zone="ok", skill="dismiss"), replan), cost=cost)
        completed = {step.says for step in context.completed}
        visits = [
            self._plan_visit(int(zone.id.removeprefix("counter_")))
            for zone in observation.zones
            if zone.role == "counter" and not (zone.label in completed or zone.get("visited"))
        ]
        if not visits:
            return PlanDraft(verdict="done", detail="nothing is left to be visited here", cost=cost)
        is_last_of_floor = any(draft.transition for draft in visits)
        return PlanDraft(
            steps=(*visits, replan) if is_last_of_floor else tuple(visits), final=not is_last_of_floor, cost=cost
        )

    def _plan_visit(self, number: int) -> Draft:
        counter = self._assignment.counters[number - 1]
        label, is_last_of_floor = f"Counter {number}", number % FLOOR == 0 and number < len(self._assignment.counters)
        sign: Check = ZoneAppears(role="toast", label=f"Thanks from {number}")
        if counter.shown == "lasting":
            sign = ZoneHasState(label=label, state="visited", value=True)
        if counter.shown == "lasting" and is_last_of_floor:
            sign = SurfaceMatches(pattern=f"Floor {number // FLOOR + 1}")
        absent = ZoneHasState(label=label, state="visited", value=False)
        probe = Probe(name="visited", arguments=(("counter", number),), settles_after=SETTLE_SECONDS)
        return Draft(
            zone=f"counter_{number}",
            skill=counter.skill,
            expect=None if counter.effect == "read" else Expectation(checks=(sign,)),
            absent_when=Expectation(checks=(absent,)) if counter.effect == "reversible" else None,
            probe=probe if counter.shown == "probe" else None,
            transition=is_last_of_floor,
            says=label,
        )


class LogApprover:
    """An approver that approves everything, and answers doubts by the office's log."""

    def __init__(self, run_id: str, log: Path) -> None:
        self._run_id = run_id
        self._log = log

    async def ask(self, question: Question) -> Decision | None:
        if question.about == "approve":
            return Decision(verdict="approved", all_values=True)
        label = question.consequences[0].target.label
        done = any(
            line.what == "effect" and line.run == self._run_id and label == f"Counter {line.counter}"
            for line in read_log(self._log)
        )
        return Decision(verdict="happened" if done else "did_not_happen")
