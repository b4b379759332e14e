"""The promises hold over whole runs in random worlds with random planners, judged by the world's own log."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field, replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midcourse.domain.budget import FREE, Limits
from midcourse.domain.commands import Act, AskPerson
from midcourse.domain.phases import Ended
from midcourse.domain.plan import GLOBAL, REPLAN
from midcourse.domain.result import Result
from midcourse.domain.run import Run
from midcourse.domain.task import Task
from midcourse.drive import Progress, is_over
from midcourse.ports.planner import Planner
from midcourse.runtimes.driver import Driver
from midcourse.testing import Erring, Garbage
from tests.harness import Bench
from tests.properties.adversary import Turn
from tests.properties.random_world import InformedApprover, RandomPages, RandomPlanner, RandomWorld
from tests.properties.test_event_orders import Failures, Permits, acting_on

SEEDS = st.integers(min_value=0, max_value=2**32)
GENEROUS = Limits(
    max_calls=40, max_replans=40, max_error_replans=40, max_segments=60, max_reopenings=20, structural_stop=False
)

UNWATCHED = replace(GENEROUS, approvals="never")


@dataclass(kw_only=True)
class SimulatedRun:
    """One run in a random world, with its records."""

    seed: int
    limits: Limits = GENEROUS
    planner: Planner | None = None
    calm: bool = False
    keeps_session: bool = True
    fences: bool = True
    world: RandomWorld = field(init=False)
    bench: Bench = field(init=False)

    def __post_init__(self) -> None:
        self.world = RandomWorld(
            RandomPages(seed=self.seed, calm=self.calm), keeps_session=self.keeps_session, fences=self.fences
        )
        self.approver = InformedApprover(self.world, self.seed)
        self.bench = Bench(
            world=self.world,
            planner=self.planner or RandomPlanner(self.seed),
            approver=self.approver,
            task=Task(goal="wander", limits=self.limits),
        )

    def run(self) -> Result:
        return asyncio.run(self.bench.run())

    def run_with_deaths(self, moments: list[int]) -> Result:
        """Kill the process at each of these moments, in the middle of a call, and let another process resume the run."""
        self.world.dies_at = moments
        return asyncio.run(self._run_lives(len(moments) + 1))

    async def _run_lives(self, lives: int) -> Result:
        for life in range(lives + 1):
            runtime = Driver(self.bench.ports, self.bench.history.append)
            body = asyncio.create_task(runtime.begin(self.bench.first()) if life == 0 else runtime.resume())
            self.world.on_death = body.cancel
            try:
                await body
            except asyncio.CancelledError:
                continue
            return await self.bench.result()
        raise AssertionError("the run never ended")

    @property
    def turns(self) -> list[Turn]:
        before: Run = self.bench.first()
        turns: list[Turn] = []
        for progress in self.bench.history:
            turns.append(Turn(before=before, event=progress.event, after=progress.run, commands=progress.commands))
            before = progress.run
        return turns


async def check_horizon(story: SimulatedRun) -> None:
    """1: every zone acted on was visible when the plan was made, and a plan ends at a transition."""
    store = story.bench.store
    plans = await store.plans("run")
    for plan in plans:
        seen = await store.observation("run", plan.observation)
        assert seen is not None
        visible = {zone.id for zone in seen.zones} | {GLOBAL, REPLAN}
        for step in plan.steps:
            assert step.zone in visible
            last = step.index == len(plan.steps) - 1
            if step.transition:
                assert (last and plan.final) or plan.steps[step.index + 1].zone == REPLAN
        assert all(step.zone != REPLAN for step in plan.steps[:-1])
        assert plan.final == (not plan.steps or plan.steps[-1].zone != REPLAN)
    planned = {step.zone for plan in plans for step in plan.steps}
    assert set(story.world.touched) <= planned


def check_effects(story: SimulatedRun, result: Result) -> None:
    """2 and 6: no irreversible effect happens twice; an undecided one is left to a person."""
    twice = [effect for effect, times in Counter(story.world.effects).items() if times > 1]
    assert not twice, f"{twice} in {story.world.effects}"
    if result.success:
        assert not any(step.doubtful for step in result.completed)
    if any(step.doubtful for step in result.completed):
        asked = story.bench.commands(AskPerson)
        given_up = ("budget_exhausted", "deadline_exceeded", "world_lost", "outage", "cancelled")
        assert result.final_reason in given_up or any(question.about == "happened" for question in asked)


def check_seen(story: SimulatedRun) -> None:
    """5: no act follows a stale observation."""
    for turn in story.turns:
        for _ in turn.sent(Act):
            step = acting_on(turn.after)
            assert turn.after.seen is not None
            assert not turn.after.seen.stale or (step.place == "global" and step.effect != "irreversible")


def check_budget(result: Result, run: Run) -> None:
    """4: the run stays within every ceiling."""
    used = result.budget
    assert used.calls <= used.max_calls
    assert used.segments <= used.max_segments
    assert used.replans <= used.max_replans
    assert used.error_replans <= used.max_error_replans
    assert used.wall_seconds <= used.max_wall_seconds
    assert used.overrun == FREE
    assert run.budget.reserved == FREE


def check_all(story: SimulatedRun, result: Result) -> None:
    asyncio.run(_check_all(story, result))


async def _check_all(story: SimulatedRun, result: Result) -> None:
    run, _ = await story.bench.store.load("run")
    assert is_over(run)
    assert isinstance(run.phase, Ended)
    assert result.final_reason == run.phase.reason
    assert result.final_reason != "internal_error"
    assert result.final_detail
    await check_horizon(story)
    check_effects(story, result)
    check_seen(story)
    check_budget(result, run)


@given(SEEDS)
def test_random_runs_keep_every_promise(seed: int) -> None:
    """Promises 1 to 7 and 10, with an approver, under random limits, also in worlds without faults."""
    chance = Random(seed)
    story = SimulatedRun(
        seed=seed, calm=chance.random() < 0.2, limits=GENEROUS if chance.random() < 0.6 else make_narrow_limits(chance)
    )
    check_all(story, story.run())
    failures, permits = Failures(), Permits()
    for turn in story.turns:
        failures.check(turn)
        if story.limits.approvals == "always":
            permits.check(turn)
    if story.limits.approvals == "always":
        assert all(effect in story.approver.allowed for effect in story.world.effects), "7: the approver was not asked"


def make_narrow_limits(chance: Random) -> Limits:
    return Limits(
        max_calls=chance.choice((1, 2, 5, 9)),
        max_segments=chance.choice((1, 2, 4)),
        max_replans=chance.choice((0, 1, 3)),
        max_error_replans=chance.choice((0, 1)),
        max_step_retries=chance.choice((0, 1, 2)),
        look_calls=chance.choice((0, 1, 2)),
        max_wall_seconds=chance.choice((5.0, 20.0, 3600.0)),
        count_extensions=chance.choice((True, False)),
        final_looks=chance.choice(("each", "last")),
        approvals=chance.choice(("always", "never")),
    )


@given(SEEDS)
def test_random_runs_without_approvals_keep_every_promise(seed: int) -> None:
    """In a world that can bar late acts, and in one that cannot."""
    fences = seed % 3 != 0
    story = SimulatedRun(seed=seed, limits=UNWATCHED, fences=fences)
    result = story.run()
    if not fences:
        story.world.settle()
    check_all(story, result)
    failures = Failures()
    for turn in story.turns:
        failures.check(turn)


@given(SEEDS)
def test_a_bad_planner_breaks_no_promise(seed: int) -> None:
    """A planner that errs, or one that emits garbage: its costs may be garbage, too, which ends the run."""
    chance = Random(seed)
    garbage = chance.random() < 0.5
    planner = Garbage(seed) if garbage else Erring(RandomPlanner(seed), 0.6, seed)
    story = SimulatedRun(seed=seed, planner=planner, limits=chance.choice((GENEROUS, UNWATCHED)))
    result = story.run()
    if not garbage or result.budget.overrun == FREE:
        check_all(story, result)
    else:
        assert result.final_reason != "internal_error"
        asyncio.run(check_horizon(story))
        check_effects(story, result)


# --- the process dies


@given(SEEDS, st.lists(st.integers(min_value=1, max_value=60), min_size=1, max_size=4, unique=True))
def test_nothing_irreversible_happens_twice_whenever_the_process_dies(seed: int, moments: list[int]) -> None:
    """Resumed in the same session or in a new one."""
    story = SimulatedRun(seed=seed, limits=UNWATCHED, keeps_session=seed % 2 == 0)
    check_all(story, story.run_with_deaths(moments))


class Killed(BaseException):
    """The process is killed between two turns."""


@given(SEEDS, st.integers(min_value=1, max_value=60))
def test_a_run_goes_on_from_any_turn(seed: int, turn: int) -> None:
    """Killed right after a turn was stored, before any of its commands was started."""
    story = SimulatedRun(seed=seed)

    def listen(progress: Progress) -> None:
        story.bench.history.append(progress)
        if len(story.bench.history) == turn:
            raise Killed

    async def run_twice() -> Result:
        try:
            await Driver(story.bench.ports, listen).begin(story.bench.first())
        except Killed:
            run, _ = await story.bench.store.load("run")
            if not is_over(run):
                await Driver(story.bench.ports, story.bench.history.append).resume()
        return await story.bench.result()

    check_all(story, asyncio.run(run_twice()))


@pytest.mark.slow
def test_random_runs_cover_many_kinds_of_events() -> None:
    """The random runs above contain orders, doubts, questions and many kinds of ends."""
    ends: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    for seed in range(120):
        story = SimulatedRun(seed=seed)
        result = story.run()
        ends[result.final_reason] += 1
        seen["effects"] += len(story.world.effects)
        seen["doubtful"] += sum(step.doubtful for step in result.completed)
        for progress in story.bench.history:
            seen[progress.event.kind] += 1
            seen.update(command.kind for command in progress.commands)
    assert len(ends) >= 5, ends
    for kind in ("effects", "act", "verify", "ask_person", "wait", "verified", "make_plan"):
        assert seen[kind] >= 20, (kind, seen)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_same_seed_gives_the_same_run(seed: int) -> None:
    first, second = SimulatedRun(seed=seed), SimulatedRun(seed=seed)
    assert first.run() == second.run()
    assert first.world.effects == second.world.effects
