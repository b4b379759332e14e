"""Runs under settings given as text, as a user writes them, and planners and worlds that show the effect of a setting."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from midcourse.agent.agent import Agent
from midcourse.config.settings import Settings
from midcourse.domain.budget import Cost
from midcourse.domain.commands import Command
from midcourse.domain.detour import Option
from midcourse.domain.expectation import Condition
from midcourse.domain.outcome import Outcome
from midcourse.domain.plan import REPLAN
from midcourse.domain.result import Result
from midcourse.domain.task import Task
from midcourse.drive import Progress
from midcourse.ports.approver import Approver
from midcourse.ports.detour import DetourContext, DetourPlanner, TryDraft
from midcourse.ports.memory import Embedder, Memory
from midcourse.ports.outliner import Outliner
from midcourse.ports.planner import PlanDraft, Planner, PlanningContext
from midcourse.store.memory import MemoryStore
from midcourse.testing import Approves, FakeClock
from tests.harness import START, Shop, draft, steps

C = TypeVar("C", bound=Command)
NUDGE = draft("order", "nudge")


@dataclass(frozen=True, kw_only=True)
class Played:
    result: Result
    turns: list[Progress]
    seconds: float
    world: Shop

    @property
    def reason(self) -> str:
        return self.result.final_reason

    def commands(self, kind: type[C]) -> list[C]:
        return [command for turn in self.turns for command in turn.commands if isinstance(command, kind)]


async def play(
    planner: Planner,
    world: Shop | None = None,
    approver: Approver | None = None,
    done_when: Condition | None = None,
    memory: Memory | None = None,
    embedder: Embedder | None = None,
    detour_planner: DetourPlanner | None = None,
    outliner: Outliner | None = None,
    **settings: object,
) -> Played:
    """Play one run under these settings, given as the text that a user would write."""
    shop, clock = world or Shop(), FakeClock(START)
    chosen = Settings.load(overrides={name: _format(value) for name, value in settings.items()})
    agent = Agent(
        world=shop,
        planner=planner,
        approver=approver or Approves(),
        detour_planner=detour_planner,
        outliner=outliner,
        settings=chosen,
        store=MemoryStore(),
        clock=clock,
        memory=memory,
        embedder=embedder,
    )
    live = agent.start(Task(goal="show it", done_when=done_when, limits=chosen.limits(), agreement=chosen.agreement()))
    turns = [turn async for turn in live]
    return Played(result=await live.result(), turns=turns, seconds=clock.now() - START, world=shop)


def _format(value: object) -> str:
    return value if isinstance(value, str) else str(value).lower()


# --- planners and worlds that show the effect of a setting


class EndlessPlanner:
    """Never finishes: every plan is one step that changes the screen, then a replan."""

    def __init__(self, **cost: Any) -> None:
        self.cost = Cost(calls=1, **cost)
        self.contexts: list[PlanningContext] = []

    async def plan(self, context: PlanningContext) -> PlanDraft:
        self.contexts.append(context)
        return PlanDraft(steps=(NUDGE, draft(REPLAN)), cost=self.cost)


class AimlessDetourPlanner:
    """Makes a new try each time and never reaches the target."""

    async def plan_try(self, context: DetourContext) -> TryDraft:
        return TryDraft(step=draft("name", "fill", text=f"idea {context.label}"), options=(Option(name="more"),))


class NewIdeaPlanner:
    """Plans a different step each time."""

    def __init__(self) -> None:
        self.ideas = 0

    async def plan(self, context: PlanningContext) -> PlanDraft:
        self.ideas += 1
        return steps(draft("name", "fill", text=f"idea {self.ideas}"))


def failing_shop(reason: str, status: Any = "failed") -> Shop:
    """A shop where every call fails for the same reason."""
    shop = Shop()
    shop.on_call = lambda name: Outcome(status=status, reason=reason, detail="no")
    return shop


Demonstration = Callable[[], Awaitable[None]]
DEMONSTRATIONS: dict[str, Demonstration] = {}


def register(demonstration: Demonstration) -> Demonstration:
    DEMONSTRATIONS[demonstration.__name__] = demonstration
    return demonstration
