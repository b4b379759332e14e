"""Every setting has an effect: each is shown to change what a run does, from the text a user writes to the result."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

import pytest

from midcourse.app.agent import Agent
from midcourse.app.settings.run import Settings, aliases
from midcourse.domain.budget import Cost, Limits
from midcourse.domain.command import Advise, Command, MakePlan, Observe, OpenWorld, PlanTry, Wait
from midcourse.domain.detour import Option
from midcourse.domain.expectation import Condition, Expectation, SurfaceMatches
from midcourse.domain.observation import Unseen, Zone
from midcourse.domain.outcome import Outcome
from midcourse.domain.plan import REACH, REPLAN
from midcourse.domain.records.lesson import Embedding
from midcourse.domain.result import Result
from midcourse.domain.task import Task
from midcourse.drive import Progress
from midcourse.planners import SamePlan
from midcourse.ports.approver import Approver
from midcourse.ports.detour import DetourContext, DetourPlanner, TryDraft
from midcourse.ports.embedder import Embedder
from midcourse.ports.memory import Memory
from midcourse.ports.outliner import Outliner
from midcourse.ports.planner import PlanDraft, Planner, PlanningContext
from midcourse.store.memory import MemoryStore
from midcourse.store.sqlite_memory import SqliteMemory
from midcourse.testing import Approves, FakeClock, Posts, Rejects, Scripted, ScriptedOutlines
from tests.harness import ORDER_PENS, START, Shop, draft, steps
from tests.llm.test_settings import MODEL_SETTINGS

SHOWN_ELSEWHERE = {"home", "agent", "embedder", "embedder_base_url", *MODEL_SETTINGS}
"""Where runs are kept, and whose lessons: shown by the tests of the command line and of the agent. What models are asked for
what: tests/llm/test_settings.py and test_embeddings.py."""

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
    """One run under these settings, given as the text that a user would write."""
    shop, clock = world or Shop(), FakeClock(START)
    chosen = Settings.load(overrides={name: _as_text(value) for name, value in settings.items()})
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


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else str(value).lower()


# --- planners and worlds that bring a setting out


class Onwards:
    """Goes from screen to screen for ever: every plan is a step that changes something, and then the rest."""

    def __init__(self, **cost: int) -> None:
        self.cost = Cost(calls=1, **cost)
        self.contexts: list[PlanningContext] = []

    async def plan(self, context: PlanningContext) -> PlanDraft:
        self.contexts.append(context)
        return PlanDraft(steps=(NUDGE, draft(REPLAN)), cost=self.cost)


class Astray:
    """Tries something new each time, and never gets there."""

    async def plan_try(self, context: DetourContext) -> TryDraft:
        return TryDraft(step=draft("name", "fill", text=f"idea {context.label}"), options=(Option(name="more"),))


class Inventive:
    """Has another idea each time."""

    def __init__(self) -> None:
        self.ideas = 0

    async def plan(self, context: PlanningContext) -> PlanDraft:
        self.ideas += 1
        return steps(draft("name", "fill", text=f"idea {self.ideas}"))


def stubborn(reason: str, status: Any = "failed") -> Shop:
    """A shop where nothing works, always for the same reason."""
    shop = Shop()
    shop.on_call = lambda name: Outcome(status=status, reason=reason, detail="no")
    return shop


Demonstration = Callable[[], Awaitable[None]]
DEMONSTRATIONS: dict[str, Demonstration] = {}


def shows(demonstration: Demonstration) -> Demonstration:
    DEMONSTRATIONS[demonstration.__name__] = demonstration
    return demonstration


# --- ceilings


@shows
async def max_calls() -> None:
    usual, few = await play(Onwards()), await play(Onwards(), max_calls=3)
    assert usual.result.planner_calls > 3
    assert (few.reason, few.result.planner_calls) == ("budget_exhausted", 3)


@shows
async def detour_iterations() -> None:
    elsewhere = SamePlan([draft(REACH, expect=Expectation(checks=(SurfaceMatches(pattern="Nowhere"),)))])
    for most in (10, 2, 0):
        played = await play(elsewhere, detour_planner=Astray(), detour_iterations=most, max_calls=60, max_replans=0)
        assert len(played.commands(PlanTry)) == most


def asks(turn: Progress, role: str) -> bool:
    return any(isinstance(command, Advise) and command.role == role for command in turn.commands)


@shows
async def outline() -> None:
    """How many plans there were when an outline was drawn, if one was."""
    drawn: dict[str, list[int]] = {}
    for setting in ("off", "on", "auto"):
        stuck = SamePlan([draft("name", "peek"), draft(REPLAN)])
        played = await play(stuck, outliner=ScriptedOutlines(("Explore the shop",)), outline=setting, max_calls=9)
        turns = [turn.run for turn in played.turns if asks(turn, "outliner")]
        drawn[setting] = [run.counts.segments for run in turns]
    assert drawn == {"off": [], "on": [0], "auto": [2]}


@shows
async def monitor() -> None:
    """How many plans there were when the path was reviewed, if it was."""
    reviewed: dict[str, list[int]] = {}
    for setting in ("off", "path", "proposals"):
        played = await play(SamePlan([draft("name", "peek"), draft(REPLAN)]), monitor=setting, max_replans=2)
        turns = [turn.run for turn in played.turns if asks(turn, "monitor")]
        reviewed[setting] = [run.counts.segments for run in turns]
    assert reviewed == {"off": [], "path": [1, 2], "proposals": [1, 1, 2, 2, 3]}


@shows
async def max_tokens() -> None:
    usual = await play(Onwards(tokens=100), plan_tokens=100)
    few = await play(Onwards(tokens=100), plan_tokens=100, max_tokens=250)
    assert usual.result.planner_calls > 2
    assert (few.reason, few.result.planner_calls, few.result.budget.tokens) == ("budget_exhausted", 2, 200)


@shows
async def max_cost_usd() -> None:
    usual = await play(Onwards(microusd=100_000), plan_cost_usd=0.1)
    few = await play(Onwards(microusd=100_000), plan_cost_usd=0.1, max_cost_usd=0.25)
    assert usual.result.planner_calls > 2
    assert (few.reason, few.result.planner_calls, few.result.budget.cost_usd) == ("budget_exhausted", 2, 0.2)


@shows
async def max_wall_seconds() -> None:
    usual = await play(SamePlan([NUDGE]), stubborn("grasp_slipped"))
    short = await play(SamePlan([NUDGE]), stubborn("grasp_slipped"), max_wall_seconds=5)
    assert usual.result.executions == 4
    assert (short.reason, short.result.executions) == ("budget_exhausted", 2)


@shows
async def deadline_seconds() -> None:
    usual = await play(SamePlan([ORDER_PENS]), approver=Posts())
    short = await play(SamePlan([ORDER_PENS]), approver=Posts(), deadline_seconds=60)
    assert (usual.reason, usual.seconds) == ("rejected", 3600.0)
    assert (short.reason, short.seconds) == ("deadline_exceeded", 60.0)


@shows
async def max_segments() -> None:
    usual, few = await play(Onwards()), await play(Onwards(), max_segments=2)
    assert (usual.reason, usual.result.budget.segments) == ("budget_exhausted", 20)
    assert (few.reason, few.result.budget.segments) == ("budget_exhausted", 2)


@shows
async def max_replans() -> None:
    usual = await play(Inventive(), stubborn("rejected"), max_error_replans=5)
    few = await play(Inventive(), stubborn("rejected"), max_replans=1)
    assert (usual.reason, usual.result.replans) == ("replan_exhausted", 5)
    assert (few.reason, few.result.replans) == ("replan_exhausted", 1)


@shows
async def max_error_replans() -> None:
    usual = await play(Inventive(), stubborn("rejected"))
    few = await play(Inventive(), stubborn("rejected"), max_error_replans=1)
    assert usual.result.budget.error_replans == 3
    assert few.result.budget.error_replans == 1


@shows
async def max_step_retries() -> None:
    usual = await play(SamePlan([NUDGE]), stubborn("busy"))
    few = await play(SamePlan([NUDGE]), stubborn("busy"), max_step_retries=1)
    assert (usual.result.executions, few.result.executions) == (4, 2)


@shows
async def max_plan_steps() -> None:
    fills = [draft("name", "fill", text=f"{n}") for n in range(3)]
    usual, short = await play(SamePlan(fills)), await play(Scripted(steps(*fills), steps(fills[2])), max_plan_steps=2)
    assert (usual.result.planner_calls, usual.result.steps) == (1, 3)
    assert (short.result.planner_calls, short.result.steps) == (2, 3)


@shows
async def max_reopenings() -> None:
    class Vanishing(Shop):
        def look(self) -> Any:
            return Unseen(reason="world_lost") if self.looks > 0 else super().look()

    usual, once = await play(Onwards(), Vanishing()), await play(Onwards(), Vanishing(), max_reopenings=1)
    assert (usual.reason, len(usual.commands(OpenWorld))) == ("world_lost", 4)
    assert (once.reason, len(once.commands(OpenWorld))) == ("world_lost", 2)


@shows
async def count_extensions() -> None:
    usual, counted = await play(Onwards()), await play(Onwards(), count_extensions=True)
    assert usual.result.extensions == 19
    assert (counted.reason, counted.result.extensions) == ("replan_exhausted", 5)


# --- what is planned


@shows
async def visible_plans() -> None:
    class Doors(Shop):
        def look(self) -> Any:
            self.zones = [Zone(id="answer", role="text", label="Answer")] if self.title == "Help" else []
            return super().look()

    far = [draft("help", "follow"), draft("answer", "peek")]
    usual, fixed = await play(SamePlan(far), Doors()), await play(SamePlan(far), Doors(), visible_plans=0)
    assert usual.result.planner_calls > 1
    assert (fixed.reason, fixed.result.planner_calls, fixed.result.steps) == ("plan_complete", 1, 2)


@shows
async def replan_admission() -> None:
    usual = await play(SamePlan([NUDGE]), stubborn("rejected"))
    stuck = await play(SamePlan([NUDGE]), stubborn("rejected"), replan_admission=False)
    assert (usual.reason, usual.result.executions) == ("replan_no_change", 1)
    assert (stuck.reason, stuck.result.executions) == ("replan_exhausted", 4)


@shows
async def structural_stop() -> None:
    usual = await play(Inventive(), stubborn("unreachable", "unreachable"))
    patient = await play(Inventive(), stubborn("unreachable", "unreachable"), structural_stop=False)
    assert (usual.reason, usual.result.replans) == ("structural_failure", 0)
    assert (patient.reason, patient.result.replans) == ("replan_exhausted", 3)


# --- what is done about failures


@shows
async def auto_replan() -> None:
    usual, off = (
        await play(Inventive(), stubborn("rejected")),
        await play(Inventive(), stubborn("rejected"), auto_replan=False),
    )
    assert (usual.result.replans, off.reason, off.result.replans) == (3, "replan_exhausted", 0)
    assert off.result.final_detail.endswith("(auto_replan is off)")


async def triggered(name: str, reason: str, planner: Callable[[], Planner] = Inventive) -> tuple[Played, Played]:
    on: dict[str, Any] = {name: True}
    off: dict[str, Any] = {name: False}
    return await play(planner(), stubborn(reason), **on), await play(planner(), stubborn(reason), **off)


@shows
async def replan_on_critical() -> None:
    on, off = await triggered("replan_on_critical", "missing_dependency")
    assert (on.result.replans, off.reason, off.result.replans) == (3, "replan_exhausted", 0)


@shows
async def replan_on_high() -> None:
    on, off = await triggered("replan_on_high", "rejected")
    assert (on.result.replans, off.reason, off.result.replans) == (3, "replan_exhausted", 0)


@shows
async def replan_on_medium() -> None:
    on, off = await triggered("replan_on_medium", "busy")
    assert (on.result.executions, off.result.executions) == (4, 7), (
        "four plans; tried once each, or four times at first"
    )


@shows
async def replan_interval_seconds() -> None:
    usual = await play(Inventive(), stubborn("rejected"), backoff_jitter=0)
    eager = await play(Inventive(), stubborn("rejected"), replan_interval_seconds=0)
    assert [wait.seconds for wait in usual.commands(Wait)] == [5.0, 10.0]
    assert (usual.seconds, eager.seconds) == (15.0, 0.0)


@shows
async def replan_timeout_seconds() -> None:
    class Gone(Inventive):
        """Cannot be reached once it has had an idea."""

        async def plan(self, context: PlanningContext) -> PlanDraft:
            return PlanDraft(verdict="transport") if self.ideas else await super().plan(context)

    usual = await play(Gone(), stubborn("rejected"), backoff_jitter=0)
    hasty = await play(Gone(), stubborn("rejected"), backoff_jitter=0, replan_timeout_seconds=5)
    assert {command.timeout for command in usual.commands(MakePlan)} == {120.0}
    assert {command.timeout for command in hasty.commands(MakePlan)[1:]} == {5.0}


@shows
async def max_outage_seconds() -> None:
    class Gone:
        async def plan(self, context: PlanningContext) -> PlanDraft:
            raise ConnectionRefusedError("nobody there")

    usual = await play(Gone(), backoff_jitter=0)
    hasty = await play(Gone(), backoff_jitter=0, max_outage_seconds=5)
    assert (usual.reason, usual.seconds, usual.result.budget.calls) == ("outage", 600.0, 0)
    assert (hasty.reason, hasty.seconds, hasty.result.planner_calls) == ("outage", 5.0, 3)


@shows
async def human_after() -> None:
    person = Rejects()
    usual = await play(Inventive(), stubborn("rejected"), person)
    asked = await play(Inventive(), stubborn("rejected"), person, human_after=2)
    assert (usual.reason, usual.result.replans) == ("replan_exhausted", 3)
    assert (asked.reason, asked.result.replans) == ("needs_human", 2)
    assert [question.about for question in person.questions] == ["stuck"]


@shows
async def failures() -> None:
    usual = await play(SamePlan([NUDGE, draft("name", "fill", text="x")]), stubborn("rejected"))
    rules = '[{"reason": "rejected", "severity": "LOW"}]'
    lenient = await play(SamePlan([NUDGE]), stubborn("rejected"), failures=rules)
    assert usual.reason == "replan_no_change"
    assert (lenient.reason, lenient.turns[-1].run.counts.skipped) == ("plan_complete", 1)


@shows
async def wrap_up_at() -> None:
    usual, early = Onwards(), Onwards()
    await play(usual)
    await play(early, wrap_up_at=0.25)
    assert [context.wrap_up for context in usual.contexts].index(True) == 16
    assert [context.wrap_up for context in early.contexts].index(True) == 5


# --- waiting


@shows
async def retry_delay_seconds() -> None:
    usual = await play(SamePlan([NUDGE]), stubborn("grasp_slipped"), backoff_jitter=0)
    slow = await play(SamePlan([NUDGE]), stubborn("grasp_slipped"), retry_delay_seconds=5, backoff_jitter=0)
    assert [wait.seconds for wait in usual.commands(Wait)][:3] == [2.0, 4.0, 8.0]
    assert [wait.seconds for wait in slow.commands(Wait)][:3] == [5.0, 10.0, 20.0]


@shows
async def max_retry_delay_seconds() -> None:
    capped = await play(SamePlan([NUDGE]), stubborn("grasp_slipped"), max_retry_delay_seconds=3, backoff_jitter=0)
    assert [wait.seconds for wait in capped.commands(Wait)][:3] == [2.0, 3.0, 3.0]


@shows
async def backoff_jitter() -> None:
    shaken = await play(SamePlan([NUDGE]), stubborn("grasp_slipped"), backoff_jitter=1)
    waits = [wait.seconds for wait in shaken.commands(Wait)][:3]
    assert all(least < wait < 2 * least for wait, least in zip(waits, (2.0, 4.0, 8.0), strict=True))


@shows
async def step_delay_seconds() -> None:
    usual, slow = await play(SamePlan([NUDGE, NUDGE])), await play(SamePlan([NUDGE, NUDGE]), step_delay_seconds=2)
    assert (usual.seconds, slow.seconds) == (0.0, 4.0)


# --- people


@shows
async def approvals() -> None:
    asked, unasked = Approves(), Approves()
    await play(SamePlan([ORDER_PENS]), approver=asked)
    free = await play(SamePlan([ORDER_PENS]), approver=unasked, approvals="never")
    assert (len(asked.questions), len(unasked.questions)) == (1, 0)
    assert free.world.orders == ["pens"]


@shows
async def approval_policy() -> None:
    rules = Path("approvals.toml")
    rules.write_text('[[rules]]\nask = "always"\nskill = "fill"\n')
    usual, ruled = Approves(), Approves()
    plan = SamePlan([draft("name", "fill", text="Ada")])
    await play(plan, approver=usual, approvals="never")
    await play(plan, approver=ruled, approvals="never", approval_policy=rules)
    assert (len(usual.questions), len(ruled.questions)) == (0, 1)


@shows
async def approval_seconds() -> None:
    usual = await play(SamePlan([ORDER_PENS]), approver=Posts())
    short = await play(SamePlan([ORDER_PENS]), approver=Posts(), approval_seconds=30)
    assert (usual.reason, usual.seconds) == ("rejected", 3600.0)
    assert (short.reason, short.seconds) == ("rejected", 30.0)


# --- what things cost


@shows
async def look_calls() -> None:
    free, paid = await play(SamePlan([NUDGE, NUDGE])), await play(SamePlan([NUDGE, NUDGE]), look_calls=1)
    assert free.result.budget.calls == 1
    assert paid.result.budget.calls == 3


@shows
async def final_looks() -> None:
    each = await play(SamePlan([NUDGE, NUDGE, NUDGE]), look_calls=1)
    last = await play(SamePlan([NUDGE, NUDGE, NUDGE]), look_calls=1, final_looks="last")
    assert (each.result.budget.calls, last.result.budget.calls) == (4, 2)


@shows
async def plan_tokens() -> None:
    unforeseen = await play(Onwards(tokens=50), max_tokens=1000)
    foreseen = await play(Onwards(tokens=50), max_tokens=1000, plan_tokens=300)
    assert (unforeseen.reason, unforeseen.result.planner_calls) == ("budget_exhausted", 1)
    assert unforeseen.result.budget.overrun.tokens == 50
    assert (foreseen.reason, foreseen.result.planner_calls) == ("budget_exhausted", 15)
    assert foreseen.result.budget.overrun.tokens == 0


@shows
async def plan_cost_usd() -> None:
    unforeseen = await play(Onwards(microusd=50), max_cost_usd=0.001)
    foreseen = await play(Onwards(microusd=50), max_cost_usd=0.001, plan_cost_usd=0.0003)
    assert (unforeseen.result.planner_calls, unforeseen.result.budget.overrun.microusd) == (1, 50)
    assert (foreseen.result.planner_calls, foreseen.result.budget.overrun.microusd) == (15, 0)


# --- how long things may take: these wait for real, a little


class Slow(Shop):
    def __init__(self, *, look: float = 0.0, act: float = 0.0) -> None:
        super().__init__()
        self.times = {"look": look, "act": act}

    async def observe(self) -> Any:
        await asyncio.sleep(self.times["look"])
        return await super().observe()

    async def act(self, call: Any) -> Outcome:
        await asyncio.sleep(self.times["act"])
        return await super().act(call)


@shows
async def act_timeout_seconds() -> None:
    usual = await play(SamePlan([NUDGE]), Slow(act=0.1))
    hasty = await play(SamePlan([NUDGE]), Slow(act=0.1), act_timeout_seconds=0.02)
    assert (usual.reason, usual.world.title) == ("plan_complete", "Shop!")
    assert hasty.reason != "plan_complete"
    assert hasty.world.title == "Shop"


@shows
async def look_timeout_seconds() -> None:
    usual = await play(SamePlan([NUDGE]), Slow(look=0.1))
    hasty = await play(SamePlan([NUDGE]), Slow(look=0.1), look_timeout_seconds=0.02)
    assert usual.reason == "plan_complete"
    assert (hasty.reason, len(hasty.commands(Observe))) == ("world_lost", 4)


@shows
async def plan_timeout_seconds() -> None:
    class Thinking:
        async def plan(self, context: PlanningContext) -> PlanDraft:
            await asyncio.sleep(0.1)
            return steps(NUDGE)

    usual, hasty = await play(Thinking()), await play(Thinking(), plan_timeout_seconds=0.02)
    assert usual.reason == "plan_complete"
    assert hasty.reason == "outage"


@shows
async def reuse() -> None:
    seen = Expectation(checks=(SurfaceMatches(pattern="Shop!"),))
    usual = [await play(SamePlan([NUDGE]), done_when=seen) for _ in range(2)]
    reusing = [await play(SamePlan([NUDGE]), done_when=seen, reuse=True) for _ in range(2)]
    assert [played.result.planner_calls for played in usual + reusing] == [1, 1, 1, 0]
    assert [played.result.reused for played in usual + reusing] == [0, 0, 0, 1]


# --- what earlier runs learned


def stuck() -> Scripted:
    """Comes back to the same failure, whatever it tries in between."""
    other = draft("name", "fill", text="Ada")
    return Scripted(steps(NUDGE), steps(other, NUDGE), steps(draft("help", "peek"), NUDGE))


def full() -> Shop:
    shop = Shop()
    rejected = Outcome(status="failed", reason="rejected", detail="no space left")
    shop.on_call = lambda name: rejected if name == "nudge" else None
    return shop


async def experienced(runs: int, **settings: Any) -> SqliteMemory:
    """A memory of runs that met the same failure and did not get past it."""
    memory = SqliteMemory(Path("lessons.db"), agent="default")
    for _ in range(runs):
        await play(stuck(), full(), memory=memory, **settings)
    return memory


@shows
async def lessons() -> None:
    off = await experienced(6, lessons=False)
    assert not off.path.exists()
    on = await experienced(1)
    assert len(await on.lessons()) == 1


@shows
async def lesson_stop_after() -> None:
    memory = await experienced(2)
    usual = await play(stuck(), full(), memory=memory, lesson_tries=0)
    early = await play(stuck(), full(), memory=memory, lesson_tries=0, lesson_stop_after=2)
    never = await play(stuck(), full(), memory=memory, lesson_tries=0, lesson_stop_after="none")
    assert usual.result.planner_calls == never.result.planner_calls > 1
    assert (early.reason, early.result.planner_calls) == ("structural_failure", 1)


@shows
async def lesson_tries() -> None:
    memory = await experienced(2)
    stops = await play(stuck(), full(), memory=memory, lesson_stop_after=2, lesson_tries=0)
    tries = await play(stuck(), full(), memory=memory, lesson_stop_after=2, lesson_tries=1)
    assert stops.result.planner_calls == 1 < tries.result.planner_calls


@shows
async def lesson_similarity() -> None:
    class Points:
        async def embed(self, text: str) -> Embedding:
            return Embedding(model="m", values=(0.8, 0.6) if "space" in text else (1.0, 0.0))

    memory, seen = SqliteMemory(Path("lessons.db"), agent="default"), list[bool]()
    await play(
        Scripted(steps(NUDGE), steps(draft("name", "fill", text="Ada"))), full(), memory=memory, embedder=Points()
    )
    for least in (0.7, 0.9):
        planner, shop = stuck(), stubborn("rejected")
        await play(planner, shop, memory=memory, embedder=Points(), lesson_similarity=least)
        seen.append(any(context.recovery and context.recovery.similar for context in planner.contexts))
    assert seen == [True, False]


# --- all of them


@pytest.fixture(autouse=True)
def _no_settings_of_our_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in Settings.model_fields:
        monkeypatch.delenv(f"MIDCOURSE_{name.upper()}", raising=False)
    for variable in aliases().values():
        monkeypatch.delenv(variable, raising=False)


def test_every_setting_is_shown_to_have_an_effect() -> None:
    assert set(DEMONSTRATIONS) == set(Settings.model_fields) - SHOWN_ELSEWHERE
    assert {field.name for field in fields(Limits)} <= set(DEMONSTRATIONS) | set(MODEL_SETTINGS)


@pytest.mark.parametrize("name", DEMONSTRATIONS)
async def test_the_setting_has_an_effect(name: str) -> None:
    await DEMONSTRATIONS[name]()
