"""Where the scenarios are played: worlds with faults to order, planners that are listened to, time that costs nothing."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from midcourse.app.agent import Agent
from midcourse.app.live_run import LiveRun
from midcourse.app.settings.run import Settings
from midcourse.app.wiring import Job, load_job, planner_for
from midcourse.domain.budget import Cost
from midcourse.domain.command import Act, MakePlan
from midcourse.domain.event import Answer
from midcourse.domain.plan import GLOBAL, REPLAN, Draft, PlanVersion
from midcourse.domain.result import Result
from midcourse.domain.run import Run
from midcourse.domain.task import Task
from midcourse.drive import Progress
from midcourse.planners import Playbook, Rule
from midcourse.ports.approver import Approver
from midcourse.ports.closeness import ClosenessJudge
from midcourse.ports.detour import DetourPlanner
from midcourse.ports.judge import ProgressJudge
from midcourse.ports.monitor import Monitor
from midcourse.ports.outliner import Outliner
from midcourse.ports.planner import ONE_CALL, PlanDraft, Planner, PlanningContext
from midcourse.ports.reflector import Reflector
from midcourse.ports.store import Store
from midcourse.ports.world import World
from midcourse.testing import Approves, FakeClock, MemoryStore, Scripted
from midcourse.worlds.base import BaseWorld, Outcome, Scene, Zone, failed, skill
from midcourse.worlds.simulated import Arm, Desktop, Erp, Fault, Happened, Quest, Shop, Web
from midcourse.worlds.simulated.base import SimulatedWorld

WORLDS: dict[str, Callable[..., World]] = {world.name: world for world in (Arm, Desktop, Erp, Quest, Shop, Web)}
RUN = "run-1"
AGAIN = Draft(zone=REPLAN)


def press(key: str, **more: Any) -> Draft:
    """A step of the desktop that needs no zone."""
    return Draft(zone=GLOBAL, skill="press", arguments=(("key", key),), says=f"Press {key}", **more)


def type_text(text: str) -> Draft:
    return Draft(zone=GLOBAL, skill="type_text", arguments=(("text", text),), says=f"Type {text}")


def click(zone: str, **more: Any) -> Draft:
    return Draft(zone=zone, skill="click", says=f"Click {zone}", **more)


def pick(thing: str) -> Draft:
    """A step of the arm."""
    return Draft(zone=GLOBAL, skill="pick", arguments=(("object", thing),), says=f"Pick up {thing}")


def plan(*steps: Draft, final: bool | None = None) -> PlanDraft:
    return PlanDraft(steps=steps, final=final)


def letter(to: str) -> Draft:
    """A step of the post office."""
    return Draft(zone=GLOBAL, skill="send", arguments=(("to", to),), says=f"Write to {to}")


class Post(BaseWorld):
    """Letters that cannot be called back, and a counter that is closed for the first `closed` visits."""

    def __init__(self, *, closed: int = 0) -> None:
        super().__init__()
        self.letters: list[str] = []
        self._closed = closed

    def look(self) -> Scene:
        return Scene("Post office", Zone(id="counter", role="text", label=f"{len(self.letters)} letters sent"))

    @skill(effect="irreversible")
    def send(self, to: str) -> None:
        self.letters.append(to)

    @skill(effect="read")
    def visit(self, day: int) -> Outcome | None:
        return failed("closed", f"closed on day {day}") if day < self._closed else None


def kept(world: Callable[..., BaseWorld], **options: Any) -> BaseWorld:
    """This world with a session that outlives whoever works it: another process finds it as it was."""
    assert isinstance(world, type)

    class Kept(world):
        name = world.name

        async def open(self) -> str:
            await super().open()
            return "session"

        async def attach(self, handle: str) -> bool:
            return handle == "session"

    return Kept(**options)


class Thinking:
    """A planner as a function of what it is told."""

    def __init__(self, think: Callable[[PlanningContext], PlanDraft]) -> None:
        self._think = think

    async def plan(self, context: PlanningContext) -> PlanDraft:
        return self._think(context)


class Listened:
    """Another planner's answers, and what it was told each time."""

    def __init__(self, planner: Planner) -> None:
        self._planner = planner
        self.contexts: list[PlanningContext] = []

    async def plan(self, context: PlanningContext) -> PlanDraft:
        self.contexts.append(context)
        return await self._planner.plan(context)


@dataclass(frozen=True, kw_only=True)
class Played:
    """A run that is over: its result, every turn of it, its plans, and what the planner was told."""

    result: Result
    turns: tuple[Progress, ...]
    plans: tuple[PlanVersion, ...]
    contexts: tuple[PlanningContext, ...]

    @property
    def ended(self) -> tuple[bool, bool, str]:
        """Success, verified, and why it ended."""
        return self.result.success, self.result.verified, self.result.final_reason

    @property
    def phases(self) -> list[str]:
        """What was awaited, turn by turn."""
        return [turn.run.phase.kind for turn in self.turns]

    @property
    def completed(self) -> list[str]:
        return [step.says for step in self.result.completed]

    @property
    def sent(self) -> list[Act]:
        return [command for turn in self.turns for command in turn.commands if isinstance(command, Act)]

    @property
    def asked_planner(self) -> list[MakePlan]:
        return [command for turn in self.turns for command in turn.commands if isinstance(command, MakePlan)]

    @property
    def calls(self) -> list[tuple[str, int]]:
        """Every answer that cost model calls, and how many."""
        answers = [turn.event for turn in self.turns if isinstance(turn.event, Answer)]
        return [(answer.kind, answer.cost.calls) for answer in answers if answer.cost.calls]

    @property
    def most_committed(self) -> Cost:
        """The highest that spent and reserved together ever were, each for itself."""
        committed = [turn.run.budget.committed for turn in self.turns]
        return Cost(
            calls=max(cost.calls for cost in committed),
            tokens=max(cost.tokens for cost in committed),
            microusd=max(cost.microusd for cost in committed),
        )

    @property
    def final_run(self) -> Run:
        return self.turns[-1].run


@dataclass(kw_only=True)
class Stage:
    """All that one run needs, in this process. Settings are given by name."""

    world: World
    planner: Planner
    task: Task = field(default_factory=lambda: Task(goal="Do what the scenario says"))
    approver: Approver | None = None
    detour_planner: DetourPlanner | None = None
    closeness_judge: ClosenessJudge | None = None
    outliner: Outliner | None = None
    progress_judge: ProgressJudge | None = None
    monitor: Monitor | None = None
    reflector: Reflector | None = None
    clock: FakeClock = field(default_factory=FakeClock)
    store: Store = field(default_factory=MemoryStore)
    settings: Mapping[str, object] = field(default_factory=dict[str, object])

    def __post_init__(self) -> None:
        self.listened = Listened(self.planner)
        self._turns: list[Progress] = []
        settings = Settings.load(task={"backoff_jitter": 0.0, **self.settings})
        self.task = replace(self.task, limits=settings.limits())
        self.agent = Agent(
            world=self.world,
            planner=self.listened,
            approver=self.approver,
            detour_planner=self.detour_planner,
            closeness_judge=self.closeness_judge,
            outliner=self.outliner,
            progress_judge=self.progress_judge,
            monitor=self.monitor,
            reflector=self.reflector,
            settings=settings,
            store=self.store,
            clock=self.clock,
        )

    def start(self) -> LiveRun:
        return self.agent.start(self.task, run_id=RUN)

    async def play(self) -> Played:
        return await self.played(self.start())

    async def resumed(self) -> Played:
        """The same run in what might as well be another process."""
        return await self.played(self.agent.pick_up(RUN))

    async def reach(self, live: LiveRun, phase: str) -> Progress:
        """Watch a run until it is next in this phase. It goes on meanwhile: what takes time takes it on the clock."""
        async for turn in live:
            self._turns.append(turn)
            if turn.run.phase.kind == phase:
                return turn
        raise AssertionError(f"the run ended without being {phase}")

    async def reach_dispatch(self, live: LiveRun) -> None:
        """Until an irreversible step is on its way with nothing left to ask, and the world has not answered yet."""
        while True:
            turn = await self.reach(live, "acting")
            if any(act.consequence for act in turn.commands if isinstance(act, Act)):
                return

    async def played(self, live: LiveRun) -> Played:
        """Watch a run to its end."""
        self._turns += [turn async for turn in live]
        return Played(
            result=await live.result(),
            turns=tuple(self._turns),
            plans=await self.store.plans(RUN),
            contexts=tuple(self.listened.contexts),
        )

    @property
    def effects(self) -> tuple[Happened, ...]:
        """What the world itself says has happened, or is on its way."""
        assert isinstance(self.world, SimulatedWorld)
        return self.world.effects.present(float("inf"))


@cache
def _job(name: str) -> Job:
    return load_job(name, {})


def example(
    name: str,
    *,
    faults: Sequence[Fault] = (),
    world: Callable[..., World] | None = None,
    options: Mapping[str, Any] | None = None,
    planner: Planner | None = None,
    rules: Callable[[tuple[Rule, ...]], Iterable[Rule]] | None = None,
    approver: Approver | None = None,
    clock: FakeClock | None = None,
    **settings: object,
) -> Stage:
    """One of the tasks that ship with Midcourse, its world in this process.

    `world` takes the place of the task's own, `options` are for either, and `rules` rewrites the playbook's rules.
    """
    job = _job(name)
    clock = clock or FakeClock()
    make = world or WORLDS[job.file.world.name]
    written = planner_for(job.file.planner)
    if rules is not None:
        assert isinstance(written, Playbook)
        written = Playbook(rules(written.rules))
    return Stage(
        world=make(clock=clock, faults=faults, **{**job.file.world.options, **(options or {})}),
        planner=planner or written,
        task=job.file.task,
        approver=approver or Approves(),
        clock=clock,
        settings={**job.file.settings, **settings},
    )


def without(rules: tuple[Rule, ...], *evidence: str) -> list[Rule]:
    """The same rules with less to go by: no `probe`, say, or no `absent_when`."""
    nothing: dict[str, Any] = dict.fromkeys(evidence)
    return [replace(rule, steps=tuple(replace(step, **nothing) for step in rule.steps)) for rule in rules]


def notepad_of_the_seed(**more: Any) -> Stage:
    """Notepad counted as seed 000 counts: a look costs a model call, and extensions are replans."""
    return example("notepad", **{"look_calls": 1, "final_looks": "last", "count_extensions": True} | more)


def endless(cost: Cost = ONE_CALL, *, act_seconds: float = 0.0, **settings: object) -> Stage:
    """The start menu opens and closes for ever: every plan follows a verified transition, and costs this much.

    With nobody to notice that it goes round in a circle, only the budget ends it.
    """
    settings = {"replan_admission": False, **settings}
    clock = FakeClock()
    again = replace(plan(press("Win", transition=True), AGAIN), cost=cost)
    world = Desktop(clock=clock, act_seconds=act_seconds)
    return Stage(world=world, planner=Scripted(again), clock=clock, settings=settings)


async def crash(live: LiveRun) -> None:
    """End the run's process, as far as a process can end inside another."""
    waiting = asyncio.ensure_future(live.result())
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
