"""Arms that run the same tasks, worlds, seeds and planner with more or less of Midcourse."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from typing import Any
from unittest.mock import patch

from benchmarks.harness.baseline_loop import plain_replan_loop
from benchmarks.harness.replay_check import Replayed, check_replay
from midcourse.app.agent import Agent
from midcourse.app.wiring import SIMULATED, Job, load_job, planner_for
from midcourse.domain.approval import Decision, Question
from midcourse.domain.budget import Limits
from midcourse.domain.expectation import Probe
from midcourse.domain.observation import ObservationRef
from midcourse.domain.outcome import Outcome
from midcourse.domain.plan import REPLAN, Draft, Step
from midcourse.domain.result import Result
from midcourse.domain.run import Run
from midcourse.domain.skill import Effect
from midcourse.perform import Ports
from midcourse.policy.evidence import verification as verify
from midcourse.policy.evidence.verification import Sight
from midcourse.ports.planner import PlanDraft, Planner, PlanningContext
from midcourse.ports.store import Store
from midcourse.testing import FakeClock, MemoryStore
from midcourse.worlds.simulated import Drift, Happened
from midcourse.worlds.simulated.base import SimulatedWorld

TASKS = ("notepad", "order", "report", "invoice", "quest")
ONCE_ONLY = ("order", "invoice", "report", "quest_accepted", "quest_completed")
"""Effects that must not happen twice. A file saved twice does not matter."""
LONG_AFTER = 3600.0


@dataclass(frozen=True, kw_only=True)
class Arm:
    """One way to run a task."""

    name: str
    segments: int | None = None
    """Plans it may make, the last of them blind; None for no such limit."""
    loop: bool = False
    """The plain replan loop instead of Midcourse."""
    without: str = ""
    """What is taken away: completed, replan, admission, unknown, stale."""


SEGMENTS = (
    Arm(name="1 segment", segments=1),
    Arm(name="2 segments", segments=2),
    Arm(name="3 segments", segments=3),
    Arm(name="4 segments", segments=4),
    Arm(name="unlimited"),
)
PLAIN = Arm(name="plain replan loop", loop=True)
ABLATIONS = tuple(
    Arm(name=f"without {what}", without=what) for what in ("completed", "replan", "admission", "unknown", "stale")
)


@dataclass(frozen=True, kw_only=True)
class Trial:
    """What one run came to, by the world's own log."""

    task: str
    seed: int
    claimed: bool
    """It reported success."""
    happened: bool
    """The world has the effect."""
    twice: int
    """Effects that happened more than once."""
    calls: int
    """Planner calls, and looks at transitions."""
    executions: int
    asked: int
    reason: str
    again: Replayed = field(default_factory=Replayed)

    @property
    def completed(self) -> bool:
        return self.claimed and self.happened

    @property
    def false_done(self) -> bool:
        return self.claimed and not self.happened


def run_trial(task: str, seed: int, drift: Drift, arm: Arm) -> Trial:
    return asyncio.run(_trial(job_of(task), seed, drift, arm))


@cache
def job_of(task: str) -> Job:
    return load_job(task, {})


def world_of(job: Job, seed: int, drift: Drift, clock: FakeClock) -> SimulatedWorld[Any]:
    module, _, name = SIMULATED[job.file.world.name].partition(":")
    return getattr(import_module(module), name)(**job.file.world.options, seed=seed, drift=drift, clock=clock)


async def _trial(job: Job, seed: int, drift: Drift, arm: Arm) -> Trial:
    clock = FakeClock()
    world = world_of(job, seed, drift, clock)
    person = Person(world, job)
    if arm.loop:
        return await _plain_trial(job, seed, world, clock, person)
    planner = await planner_of(job, seed, arm)
    task = replace(job.task, limits=limits_of(job.task.limits, arm))
    store = MemoryStore()
    agent = Agent(
        world=world,
        planner=planner,
        approver=person,
        store=store,
        clock=clock,
        vault=Vault(),
        settings=job.settings,
    )
    with taken_away(arm.without):
        result = await agent.run(task, run_id="trial")
        replayed = await check_replay(store)
    looks = result.extensions
    return await _judged(
        job,
        seed,
        world,
        clock,
        claimed=result.success,
        calls=result.planner_calls + looks,
        executions=result.executions,
        asked=person.asked,
        reason=result.final_reason,
        again=replayed,
    )


async def _plain_trial(job: Job, seed: int, world: SimulatedWorld[Any], clock: FakeClock, person: "Person") -> Trial:
    limits = job.task.limits
    ports = Ports(
        run_id="trial",
        task=job.task,
        world=world,
        planner=planner_for(job.file.planner),
        approver=person,
        store=MemoryStore(),
        clock=clock,
        vault=Vault(),
    )
    result = await plain_replan_loop(ports, max_replans=limits.max_replans, max_calls=limits.max_calls)
    return await _judged(
        job,
        seed,
        world,
        clock,
        claimed=result.success,
        calls=result.planner_calls + result.looks,
        executions=result.executions,
        asked=0,
        reason=result.reason,
    )


async def _judged(job: Job, seed: int, world: SimulatedWorld[Any], clock: FakeClock, **told: Any) -> Trial:
    """By the world's own log, after everything that was late has arrived."""
    clock.advance(LONG_AFTER)
    times = Counter((one.effect, _same(one)) for one in world.happened() if one.effect in ONCE_ONLY)
    return Trial(
        task=job.name,
        seed=seed,
        happened=await really_done(job, world),
        twice=sum(often > 1 for often in times.values()),
        **told,
    )


def _same(one: Happened) -> str:
    """What makes two effects the same one: all but the number that the back end gave it."""
    given = {name: value for name, value in one.values.items() if name != "number" or one.effect == "invoice"}
    return repr(sorted(given.items(), key=lambda pair: pair[0]))


async def really_done(job: Job, world: SimulatedWorld[Any]) -> bool:
    condition = job.task.done_when
    assert isinstance(condition, Probe), f"{job.name} is done by a probe"
    inputs = dict(job.task.inputs)
    arguments = tuple(
        (name, inputs[value.name] if not isinstance(value, str | int | float | bool | None) else value)
        for name, value in condition.arguments
    )
    return await world.probe(condition.name, arguments) == "present"


class Person:
    """Answers doubts by looking at the effect. Approves nothing in advance."""

    def __init__(self, world: SimulatedWorld[Any], job: Job) -> None:
        self._world = world
        self._job = job
        self.asked = 0

    async def ask(self, question: Question) -> Decision:
        self.asked += 1
        if question.about == "approve":
            return Decision(verdict="rejected", by="the benchmark")
        there = await really_done(self._job, self._world)
        return Decision(verdict="happened" if there else "did_not_happen", by="the benchmark")


class Vault:
    def reveal(self, name: str) -> str:
        return "lovelace"  # what every simulated application takes


# --- arms


def limits_of(limits: Limits, arm: Arm) -> Limits:
    if arm.segments is not None:
        limits = replace(limits, max_segments=arm.segments, visible_plans=arm.segments - 1)
    if arm.without == "admission":
        limits = replace(limits, replan_admission=False)
    return limits


async def planner_of(job: Job, seed: int, arm: Arm) -> Planner:
    planner = planner_for(job.file.planner)
    if arm.segments is not None:
        return Blind(planner, await nominal_steps(job, seed))
    if arm.without == "completed":
        return Forgetful(planner)
    if arm.without == "replan":
        return Unlooking(planner)
    return planner


async def nominal_steps(job: Job, seed: int) -> tuple[Draft, ...]:
    """The steps of the task in this world if nothing goes wrong."""
    clock, store = FakeClock(), MemoryStore()
    world = world_of(job, seed, Drift(), clock)
    agent = Agent(
        world=world,
        planner=planner_for(job.file.planner),
        store=store,
        clock=clock,
        vault=Vault(),
        settings=job.settings,
    )
    result = await agent.run(job.task, run_id="nominal")
    assert result.verified, f"{job.name} does not even work in a world without trouble: {result.final_detail}"
    return tuple(_as_draft(step) for step in await steps_walked(store, result))


async def steps_walked(store: Store, result: Result) -> tuple[Step, ...]:
    """Of this run, those that went well, in order."""
    plans = {plan.version: plan for plan in await store.plans(result.run)}
    return tuple(plans[done.version].steps[done.index] for done in result.completed)


def _as_draft(step: Step) -> Draft:
    return Draft(
        zone=step.zone,
        skill=step.skill,
        arguments=step.arguments,
        expect=step.expect,
        absent_when=step.absent_when,
        probe=step.probe,
        transition=step.transition,
        says=step.says,
    )


@dataclass(frozen=True)
class Blind:
    """Plans the rest by heart as soon as it may go beyond what is visible."""

    planner: Planner
    nominal: tuple[Draft, ...]

    async def plan(self, context: PlanningContext) -> PlanDraft:
        if not context.beyond:
            return await self.planner.plan(context)
        done = Counter(step.says for step in context.completed)
        rest: list[Draft] = []
        for step in self.nominal:
            if done[step.says]:
                done[step.says] -= 1
            else:
                rest.append(step)
        return PlanDraft(steps=tuple(rest), final=True) if rest else PlanDraft(verdict="done")


@dataclass(frozen=True)
class Forgetful:
    """Does not learn what is finished."""

    planner: Planner

    async def plan(self, context: PlanningContext) -> PlanDraft:
        return await self.planner.plan(replace(context, completed=()))


@dataclass(frozen=True)
class Unlooking:
    """Takes no transition into account: no step announces that the screen will change."""

    planner: Planner

    async def plan(self, context: PlanningContext) -> PlanDraft:
        draft = await self.planner.plan(context)
        steps = tuple(replace(step, transition=False) for step in draft.steps if step.zone != REPLAN)
        return replace(draft, steps=steps, final=None)


@contextmanager
def taken_away(what: str) -> Iterator[None]:
    """Midcourse without one of its parts, for as long as this lasts."""
    with ExitStack() as stack:
        if what == "unknown":
            stack.enter_context(patch("midcourse.perform.acting.judge", _believe_the_report))
        if what == "stale":
            for module in ("segment", "acting", "control"):
                stack.enter_context(patch(f"midcourse.director.{module}.update_seen", _see_without_marking))
        yield


def _believe_the_report(effect: Effect, report: Outcome, sight: Sight) -> Outcome:
    if effect != "irreversible":
        return verify.judge(effect, report, sight)
    if report.status == "ok":
        return replace(report, evidence="expectation")
    return replace(report, status="no_effect", reason="no_effect", evidence="absent_when")


def _see_without_marking(run: Run, seen: ObservationRef | None) -> Run:
    return replace(run, seen=seen or run.seen, look_first=False)
