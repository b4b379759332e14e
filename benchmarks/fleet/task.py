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

SETTLES = 1.0
"""Longer than anything comes late in the office."""
FAULTS: tuple[Fault, ...] = ("error", "timeout", "late", "refused")
USUAL = (
    Counter(effect="read"),
    Counter(effect="set_state"),
    Counter(effect="reversible"),
    Counter(effect="reversible"),
    Counter(effect="irreversible", shown="probe"),
    Counter(effect="irreversible", shown="probe"),
    Counter(effect="irreversible"),
    Counter(effect="irreversible", shown="toast"),
)
PATIENT = Limits(
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
"""Room for as many kills as may come."""


@dataclass(frozen=True, kw_only=True)
class Assignment:
    """Everything that a worker needs to know of a run."""

    counters: tuple[Counter, ...]
    limits: Limits = PATIENT
    toast_seconds: float = 1.0
    padding: int = 0
    plan_cost: Cost = ONE_CALL
    """What each plan really costs."""
    act_seconds: float = 0.05
    remembers: bool = False
    """Whether the office knows in a new session what was done in the last."""
    model_port: int = 0
    """Address that the planner must reach first, if any."""
    waits: bool = False
    """No person answers: questions wait."""
    planned_kill: PlannedKill | None = None
    must_succeed: bool = True
    """Otherwise it only has to come to an end."""

    @property
    def task(self) -> Task:
        done = Probe(name="all_visited", settles_after=SETTLES)
        return Task(goal="Visit every counter once", world="office", done_when=done, limits=self.limits)


def usual_assignment(seed: int) -> Assignment:
    """All effect classes in any order, trouble at one to three counters, and every other run asks for approvals."""
    chance = random.Random(seed)
    counters = chance.sample(USUAL, len(USUAL))
    for number in chance.sample(range(len(counters)), chance.randint(1, 3)):
        counters[number] = replace(counters[number], fault=_fault(counters[number], chance))
    limits = replace(PATIENT, approvals="always" if chance.random() < 0.5 else "never")
    return Assignment(counters=tuple(counters), limits=limits)


def _fault(counter: Counter, chance: random.Random) -> Fault:
    """What shows an error and did nothing, or not yet, looks like a plain failure, which no plan may repeat."""
    return chance.choice(FAULTS if counter.effect == "irreversible" else ("error", "timeout"))


class Clerk:
    """Plans the visits that are left on this floor, as far as one can see or remember. Notes every plan it is paid for."""

    def __init__(self, assignment: Assignment, run_id: str, calls: Path) -> None:
        self._errand = assignment
        self._run_id = run_id
        self._calls = calls

    async def plan(self, context: PlanningContext) -> PlanDraft:
        if self._errand.model_port:
            _, writer = await asyncio.open_connection("127.0.0.1", self._errand.model_port)
            writer.close()
        with self._calls.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"run": self._run_id, **asdict(self._errand.plan_cost)}) + "\n")
        seen, cost = context.observation, self._errand.plan_cost
        again = Draft(zone=REPLAN)
        if seen.surface.title == TROUBLE:
            return PlanDraft(steps=(Draft(zone="ok", skill="dismiss"), again), cost=cost)
        said = {step.says for step in context.completed}
        left = [
            self._visit(int(zone.id.removeprefix("counter_")))
            for zone in seen.zones
            if zone.role == "counter" and not (zone.label in said or zone.get("visited"))
        ]
        if not left:
            return PlanDraft(verdict="done", detail="nothing is left to be visited here", cost=cost)
        leads_on = any(draft.transition for draft in left)
        return PlanDraft(steps=(*left, again) if leads_on else tuple(left), final=not leads_on, cost=cost)

    def _visit(self, number: int) -> Draft:
        counter = self._errand.counters[number - 1]
        label, leads_on = f"Counter {number}", number % FLOOR == 0 and number < len(self._errand.counters)
        sign: Check = ZoneAppears(role="toast", label=f"Thanks from {number}")
        if counter.shown == "lasting":
            sign = ZoneHasState(label=label, state="visited", value=True)
        if counter.shown == "lasting" and leads_on:
            sign = SurfaceMatches(pattern=f"Floor {number // FLOOR + 1}")
        absent = ZoneHasState(label=label, state="visited", value=False)
        asked = Probe(name="visited", arguments=(("counter", number),), settles_after=SETTLES)
        return Draft(
            zone=f"counter_{number}",
            skill=counter.skill,
            expect=None if counter.effect == "read" else Expectation(checks=(sign,)),
            absent_when=Expectation(checks=(absent,)) if counter.effect == "reversible" else None,
            probe=asked if counter.shown == "probe" else None,
            transition=leads_on,
            says=label,
        )


class Witness:
    """A person who approves everything, and answers doubts by the office's log."""

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
