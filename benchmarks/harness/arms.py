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

from benchmarks.harness.baseline_loop import run_plain_replan_loop
from benchmarks.harness.replay_check import Replayed, check_replay
from midcourse.agent.agent import Agent
from midcourse.agent.wiring import SIMULATED, Job, build_planner, load_job
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
from midcourse.worlds.simulated import Drift, LoggedEffect
from midcourse.worlds.simulated.base import SimulatedWorld

TASKS = ("notepad", "order", "report", "invoice", "quest")
MUST_HAPPEN_ONCE = ("order", "invoice", "report", "quest_accepted", "quest_completed")
"""Effects that must not happen twice. A file saved twice does not matter."""
LATE_SECONDS = 3600.0


@dataclass(frozen=True, kw_only=True)
class Arm:
    """One way to run a task."""

    name: str
    segments: int | None = None
    """Maximum number of plans, the last of them made without looking; None for no limit."""
    loop: bool = False
    """The plain replan loop instead of Midcourse."""
    without: str = ""
    """The part of Midcourse that is removed: completed, replan, admission, unknown or stale."""


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
    """The outcome of one run, by the world's own log."""

    task: str
    seed: int
    claimed: bool
    """The run reported success."""
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
    return asyncio.run(_run_trial(load_cached_job(task), seed, drift, arm))


@cache
def load_cached_job(task: str) -> Job:
    return load_job(task, {})


def make_world(job: Job, seed: int, drift: Drift, clock: FakeClock) -> SimulatedWorld[Any]:
    module, _, name = SIMULATED[job.file.world.name].partition(":")
    return getattr(import_module(module), name)(**job.file.world.options, seed=seed, drift=drift, clock=clock)


async def _run_trial(job: Job, seed: int, drift: Drift, arm: Arm) -> Trial:
    clock = FakeClock()
    world = make_world(job, seed, drift, clock)
    approver = DoubtApprover(world, job)
    if arm.loop:
        return await _run_plain_trial(job, seed, world, clock, approver)
    planner = await make_planner(job, seed, arm)
    task = replace(job.task, limits=make_limits(job.task.limits, arm))
    store = MemoryStore()
    agent = Agent(
        world=world,
        planner=planner,
        approver=approver,
        store=store,
        clock=clock,
        vault=Vault(),
        settings=job.settings,
    )
    with remove_part(arm.without):
        result = await agent.run(task, run_id="trial")
        replayed = await check_replay(store)
    looks = result.extensions
    return await _judge_by_log(
        job,
        seed,
        world,
        clock,
        claimed=result.success,
        calls=result.planner_calls + looks,
        executions=result.executions,
        asked=approver.asked,
        reason=result.final_reason,
        again=replayed,
    )


async def _run_plain_trial(
    job: Job, seed: int, world: SimulatedWorld[Any], clock: FakeClock, approver: "DoubtApprover"
) -> Trial:
    limits = job.task.limits
    ports = Ports(
        run_id="trial",
        task=job.task,
        world=world,
        planner=build_planner(job.file.planner),
        approver=approver,
        store=MemoryStore(),
        clock=clock,
        vault=Vault(),
    )
    result = await run_plain_replan_loop(ports, max_replans=limits.max_replans, max_calls=limits.max_calls)
    return await _judge_by_log(
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


async def _judge_by_log(job: Job, seed: int, world: SimulatedWorld[Any], clock: FakeClock, **reported: Any) -> Trial:
    """Judge a run by the world's own log, after late effects have arrived."""
    clock.advance(LATE_SECONDS)
    counts = Counter((entry.effect, _identify(entry)) for entry in world.happened() if entry.effect in MUST_HAPPEN_ONCE)
    return Trial(
        task=job.name,
        seed=seed,
        happened=await is_done(job, world),
        twice=sum(times > 1 for times in counts.values()),
        **reported,
    )


def _identify(entry: LoggedEffect) -> str:
    """Return what identifies an effect: all its values except a number that the back end assigned."""
    values = {name: value for name, value in entry.values.items() if name != "number" or entry.effect == "invoice"}
    return repr(sorted(values.items(), key=lambda pair: pair[0]))


async def is_done(job: Job, world: SimulatedWorld[Any]) -> bool:
    condition = job.task.done_when
    assert isinstance(condition, Probe), f"{job.name} is done by a probe"
    inputs = dict(job.task.inputs)
    arguments = tuple(
        (name, inputs[value.name] if not isinstance(value, str | int | float | bool | None) else value)
        for name, value in condition.arguments
    )
    return await world.probe(condition.name, arguments) == "present"


class DoubtApprover:
    """An approver that rejects requests for approval, and answers all other questions by looking for the effect."""

    def __init__(self, world: SimulatedWorld[Any], job: Job) -> None:
        self._world = world
        self._job = job
        self.asked = 0

    async def ask(self, question: Question) -> Decision:
        self.asked += 1
        if question.about == "approve":
            return Decision(verdict="rejected", by="the benchmark")
        is_there = await is_done(self._job, self._world)
        return Decision(verdict="happened" if is_there else "did_not_happen", by="the benchmark")


class Vault:
    def reveal(self, name: str) -> str:
        return "lovelace"  # the password of every simulated application


# --- arms


def make_limits(limits: Limits, arm: Arm) -> Limits:
    if arm.segments is not None:
        limits = replace(limits, max_segments=arm.segments, visible_plans=arm.segments - 1)
    if arm.without == "admission":
        limits = replace(limits, replan_admission=False)
    return limits


async def make_planner(job: Job, seed: int, arm: Arm) -> Planner:
    planner = build_planner(job.file.planner)
    if arm.segments is not None:
        return Blind(planner, await record_nominal_steps(job, seed))
    if arm.without == "completed":
        return Forgetful(planner)
    if arm.without == "replan":
        return IgnoringTransitions(planner)
    return planner


async def record_nominal_steps(job: Job, seed: int) -> tuple[Draft, ...]:
    """Run the task in this world without drift, and return its steps."""
    clock, store = FakeClock(), MemoryStore()
    world = make_world(job, seed, Drift(), clock)
    agent = Agent(
        world=world,
        planner=build_planner(job.file.planner),
        store=store,
        clock=clock,
        vault=Vault(),
        settings=job.settings,
    )
    result = await agent.run(job.task, run_id="nominal")
    assert result.verified, f"{job.name} does not even work in a world without trouble: {result.final_detail}"
    return tuple(_make_draft(step) for step in await list_completed_steps(store, result))


async def list_completed_steps(store: Store, result: Result) -> tuple[Step, ...]:
    """Return the completed steps of a run, in order."""
    plans = {plan.version: plan for plan in await store.plans(result.run)}
    return tuple(plans[done.version].steps[done.index] for done in result.completed)


def _make_draft(step: Step) -> Draft:
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
    """A planner that plans all remaining nominal steps as soon as it may plan beyond what is visible."""

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
    """A planner that is not shown the completed steps."""

    planner: Planner

    async def plan(self, context: PlanningContext) -> PlanDraft:
        return await self.planner.plan(replace(context, completed=()))


@dataclass(frozen=True)
class IgnoringTransitions:
    """A planner without transitions: no step announces that the screen will change."""

    planner: Planner

    async def plan(self, context: PlanningContext) -> PlanDraft:
        draft = await self.planner.plan(context)
        steps = tuple(replace(step, transition=False) for step in draft.steps if step.zone != REPLAN)
        return replace(draft, steps=steps, final=None)


@contextmanager
def remove_part(what: str) -> Iterator[None]:
    """Run the body with one part of Midcourse patched out."""
    with ExitStack() as stack:
        if what == "unknown":
            stack.enter_context(patch("midcourse.perform.acting.judge", _believe_the_report))
        if what == "stale":
            for module in ("segment", "acting", "control"):
                stack.enter_context(patch(f"midcourse.director.{module}.update_seen", _see_without_marking))
        yield


def _believe_the_report(effect: Effect, report: Outcome, sight: Sight, *, guessed: bool = False) -> Outcome:
    if effect != "irreversible":
        return verify.judge(effect, report, sight, guessed=guessed)
    if report.status == "ok":
        return replace(report, evidence="expectation")
    return replace(report, status="no_effect", reason="no_effect", evidence="absent_when")


def _see_without_marking(run: Run, seen: ObservationRef | None) -> Run:
    return replace(run, seen=seen or run.seen, look_first=False)
