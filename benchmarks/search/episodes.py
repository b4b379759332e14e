"""One search for a dialog in a generated application: by a detour, by replanning, at random."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

from benchmarks.harness.replay_check import Replayed, check_replay
from benchmarks.search.generated import Generated, generate_application, related
from benchmarks.search.searcher import NoisyJudge, RandomTries, Replanner, Searcher
from midcourse.agent.agent import Agent
from midcourse.config.settings import Settings
from midcourse.domain.detour import Goal, Tried
from midcourse.domain.expectation import Expectation, SurfaceMatches
from midcourse.domain.observation import Observation
from midcourse.domain.run import Run
from midcourse.domain.task import Task
from midcourse.drive import Progress
from midcourse.ports.closeness import ClosenessJudge, WordOverlap
from midcourse.ports.detour import DetourPlanner
from midcourse.testing import FakeClock, MemoryStore
from midcourse.worlds.simulated.application import AppState, Windows

MAX_CALLS = 24
"""The same for every arm. A try costs one call, a judgement another."""
SETTINGS = {"max_calls": MAX_CALLS, "max_segments": MAX_CALLS, "max_replans": MAX_CALLS}


@dataclass(frozen=True, kw_only=True)
class Arm:
    name: str
    detours: bool = True
    random: bool = False
    options: int = 1
    words: bool = False
    """Judged by the words on the screen, without a model, instead of by a judge with noise."""


DETOUR = Arm(name="detour")
RANDOM = Arm(name="random tries", random=True)
REPLAN = Arm(name="replan only", detours=False)
NO_OPTIONS = Arm(name="detour without options", options=0)
WORDS = Arm(name="detour, judged by words", words=True)
ARMS = {arm.name: arm for arm in (DETOUR, NO_OPTIONS, RANDOM, WORDS, REPLAN)}


@dataclass(frozen=True, kw_only=True)
class Episode:
    """The result of one episode. `reached` is what the world reports, `claimed` what the run reports."""

    reached: bool
    claimed: bool
    by_detour: bool
    """Reached without a new plan."""
    distance: int
    iterations: int
    acts: int
    calls: int
    cancelled: str
    """Why the detour was given up, if it was."""
    explored: int
    explored_well: int
    """Tries that followed a hint, and those of them that led nearer or there."""
    held: int
    """Tries that would have sent something."""
    reverts: int
    verified: int
    done_already: int
    flagged: int
    unlike: int
    """Reverts that counted as verified although the application was not as before, seen or unseen."""
    sent: int
    again: Replayed = field(default_factory=Replayed)


class Kept(MemoryStore):
    """Remembers what the application was really like at each look."""

    def __init__(self, world: Windows) -> None:
        super().__init__()
        self.states: dict[str, AppState] = {}
        self._world = world

    async def save_observation(self, run_id: str, observation: Observation) -> None:
        await super().save_observation(run_id, observation)
        self.states[observation.id] = self._world.state


def run_episode(arm: Arm, noise: float, seed: int) -> Episode:
    return asyncio.run(_run(arm, noise, seed))


async def _run(arm: Arm, noise: float, seed: int) -> Episode:
    made = generate_application(seed)
    world = Windows(made.application, seed=seed)
    store, goal = Kept(world), make_goal(made)
    searcher = Searcher(related=related, options=arm.options)
    settings = Settings.load(task=SETTINGS)
    planner: DetourPlanner = RandomTries(seed) if arm.random else searcher
    judge: ClosenessJudge = NoisyJudge(lambda: world.steps_to(made.goal), noise=noise, seed=seed)
    agent = Agent(
        world=world,
        planner=Replanner(searcher, goal, aims_first=arm.detours),
        detour_planner=planner if arm.detours else None,
        closeness_judge=WordOverlap() if arm.words else judge,
        settings=settings,
        store=store,
        clock=FakeClock(),
    )
    distance = world.steps_to(made.goal)
    live = agent.start(Task(goal=goal.says, done_when=goal.expect, limits=settings.limits()), run_id="run")
    turns = [turn async for turn in live]
    result = await live.result()
    return measured(
        turns,
        reached=made.goal in world.state.stack,
        claimed=result.success,
        distance=distance,
        sent=len(world.happened("sent")),
        redone=await check_replay(store),
        alike=lambda one, other: store.states[one] == store.states[other],
    )


def make_goal(made: Generated) -> Goal:
    says = f"'{made.title}' is open"
    return Goal(says=says, expect=Expectation(checks=(SurfaceMatches(pattern=made.title),), says=says))


def measured(
    turns: list[Progress],
    *,
    reached: bool,
    claimed: bool,
    distance: int,
    sent: int,
    redone: Replayed,
    alike: Callable[[str, str], bool],
) -> Episode:
    """The run's counts beside those of its world. `alike`: was the world really the same at these two looks?"""
    final = turns[-1].run
    tries = _tries(turns)
    hinted = [one for one in tries if one.explores]
    cancelled = _cancelled(final)
    reverts = [revert for before, turn in pairwise(turns) if (revert := _revert(alike, before, turn))]
    return Episode(
        reached=reached,
        claimed=claimed,
        by_detour=reached and final.counts.detours > 0 and not cancelled,
        distance=distance,
        iterations=final.counts.tries,
        acts=final.counts.executions,
        calls=final.budget.spent.calls,
        cancelled=cancelled,
        explored=len(hinted),
        explored_well=sum(one.progress > 0 or (one.choice is None and reached) for one in hinted),
        held=sum(one.failed == "not_harmless" for one in tries),
        reverts=final.counts.reverts,
        verified=len(reverts),
        done_already=sum(acts == 0 for acts, _ in reverts),
        flagged=sum(attempt.count for attempt in final.attempts if attempt.reason == "revert_unverified"),
        unlike=sum(not same for _, same in reverts),
        sent=sent,
        again=redone,
    )


def _tries(turns: list[Progress]) -> tuple[Tried, ...]:
    detours = [turn.run.detour for turn in turns if turn.run.detour]
    if not detours:
        return ()
    return (*detours[-1].tries, *((detours[-1].trying,) if detours[-1].trying else ()))


def _cancelled(run: Run) -> str:
    reasons = ("detour_cancelled", "revert_unverified")
    return next((attempt.reason for attempt in run.attempts if attempt.reason in reasons), "")


def _revert(alike: Callable[[str, str], bool], before: Progress, after: Progress) -> tuple[int, bool] | None:
    """A revert that this turn completed: how many acts it took, and whether the application is really as it was."""
    was, now, seen = before.run.detour, after.run.detour, after.run.seen
    if now is None or seen is None:
        return None
    known = {one.label for one in was.tries if one.reverted} if was else set[str]()
    back = [one for one in now.tries if one.reverted and one.label not in known]
    if not back or now.reverting is not None:
        return None
    acts = was.reverting.acts + 1 if was and was.reverting else 0
    return acts, alike(back[0].seen, seen.id)
