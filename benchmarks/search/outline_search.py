"""One search for a dialog in a generated application, by a planner that may get an outline and its progress."""

import asyncio
from collections import deque
from dataclasses import dataclass, replace
from random import Random

from benchmarks.search.episodes import SETTINGS, make_goal
from benchmarks.search.generated import Generated, generate_application, related
from benchmarks.search.searcher import Searcher, describe_aim, way_out
from midcourse.agent.agent import Agent
from midcourse.config.settings import Settings
from midcourse.domain.outline import Outlines
from midcourse.domain.plan import REPLAN, Draft
from midcourse.domain.task import Task
from midcourse.policy.detour.closeness import words_of
from midcourse.policy.evidence.verification import holds
from midcourse.ports.judge import Judgement, ProgressContext
from midcourse.ports.outliner import OutlineDraft, OutliningContext
from midcourse.ports.planner import ONE_CALL, PlanDraft, PlanningContext
from midcourse.testing import FakeClock, MemoryStore
from midcourse.worlds.simulated.application import MAIN, Stack, Windows

RIGHT = 0.75
"""How often the outliner knows the next menu or entry. Otherwise it names another of the same window."""

Way = tuple[tuple[str, str, tuple[str, ...]], ...]
"""What to open one after another: its label, the view behind it, and the labels beside it."""


@dataclass(frozen=True, kw_only=True)
class Search:
    """The result of one search. `reached` is what the application itself reports."""

    reached: bool
    calls: int
    plans: int
    drawn: bool
    regressions: int


class Explorer:
    """One act, then look again: what the current goal names first, then what has most to do with the task."""

    def __init__(self, made: Generated) -> None:
        self._goal = make_goal(made)
        self._searcher = Searcher(related=related)
        self._tried: dict[str, list[str]] = {}

    async def plan(self, context: PlanningContext) -> PlanDraft:
        seen = context.observation
        if self._goal.expect and holds(self._goal.expect, seen):
            return PlanDraft(verdict="done", detail="it is there")
        tried = self._tried.setdefault(seen.fingerprint, [])
        ideas = [draft for draft in self._searcher.ideas(seen, describe_aim(self._goal)) if draft.says not in tried]
        named = _named(context)
        ideas.sort(key=lambda draft: -len(named & words_of(draft.says)))
        draft = next(iter((*ideas, *way_out(context))))
        tried.append(draft.says)
        return PlanDraft(steps=(replace(draft, transition=True), Draft(zone=REPLAN)))


def _named(context: PlanningContext) -> frozenset[str]:
    outline = context.outline
    if outline is None or outline.current > len(outline.goals):
        return frozenset()
    return words_of(outline.goals[outline.current - 1].says) - words_of("click find entry")


class Expert:
    """Draws an outline of the way as far as it knows such applications."""

    def __init__(self, way: Way, seed: int) -> None:
        chance = Random(f"outline {seed}")
        self._labels = [label if chance.random() < RIGHT else chance.choice(beside) for label, _, beside in way]

    async def outline(self, context: OutliningContext) -> OutlineDraft:
        return OutlineDraft(goals=tuple(f"Find entry {n}, {label}" for n, label in enumerate(self._labels, 1)))


class ErringJudge:
    """Knows the real progress, and reports a wrong number at the given rate. It points at the title."""

    def __init__(self, world: Windows, way: Way, *, error: float, seed: int) -> None:
        self._world = world
        self._way = way
        self._error = error
        self._chance = Random(f"judge {seed}")

    async def judge(self, context: ProgressContext) -> Judgement:
        opened = [n for n, (_, view, _) in enumerate(self._way, 1) if view in self._world.state.stack]
        current = max(opened, default=0) + 1
        if self._chance.random() < self._error:
            current = self._chance.randint(1, len(self._way) + 1)
        return Judgement(current=current, evidence=context.observation.surface.title, cost=ONE_CALL)


def way_to(made: Generated) -> Way:
    """The shortest, by clicks."""
    application = made.application
    queue, seen = deque[tuple[Stack, Way]]([((MAIN,), ())]), set[Stack]([(MAIN,)])
    while queue:
        stack, way = queue.popleft()
        if made.goal in stack:
            return way
        for view in application.usable(stack):
            labels = tuple(control.label for control in view.controls if control.opens or control.context)
            for control in view.controls:
                into = control.opens or control.context
                nxt = application.open_view(stack, into, view) if into else stack
                if nxt not in seen:
                    seen.add(nxt)
                    queue.append((nxt, (*way, (control.label, into, labels))))
    raise AssertionError("the goal can always be reached")


def run_search(outline: Outlines, error: float, seed: int) -> Search:
    return asyncio.run(_run(outline, error, seed))


async def _run(outline: Outlines, error: float, seed: int) -> Search:
    made = generate_application(seed)
    world, way, goal = Windows(made.application, seed=seed), way_to(made), make_goal(made)
    settings = Settings.load(task={**SETTINGS, "outline": outline})
    agent = Agent(
        world=world,
        planner=Explorer(made),
        outliner=Expert(way, seed),
        progress_judge=ErringJudge(world, way, error=error, seed=seed),
        settings=settings,
        store=MemoryStore(),
        clock=FakeClock(),
    )
    live = agent.start(Task(goal=goal.says, done_when=goal.expect, limits=settings.limits()), run_id="run")
    turns = [turn async for turn in live]
    run = turns[-1].run
    return Search(
        reached=made.goal in world.state.stack,
        calls=run.budget.spent.calls,
        plans=run.counts.segments,
        drawn=run.outline is not None,
        regressions=run.outline.regressed if run.outline else 0,
    )
