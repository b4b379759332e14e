"""The stage of the scenarios: a run in this process with simulated worlds and faults, recorded planners, and a fake clock."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from midcourse.agent.agent import Agent
from midcourse.agent.live_run import LiveRun
from midcourse.agent.wiring import Job, build_planner, load_job
from midcourse.config.settings import Settings
from midcourse.domain.budget import Cost
from midcourse.domain.commands import Act, MakePlan
from midcourse.domain.events import Answer
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
from midcourse.worlds.simulated import Arm, Desktop, Erp, Fault, LoggedEffect, Quest, Shop, Web
from midcourse.worlds.simulated.base import SimulatedWorld

WORLDS: dict[str, Callable[..., World]] = {world.name: world for world in (Arm, Desktop, Erp, Quest, Shop, Web)}
RUN = "run-1"
AGAIN = Draft(zone=REPLAN)
"""The step `__replan__`."""


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
    """A world that sends letters, irreversibly, and whose counter is closed for the first `closed` visits."""

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


def keep_session(world: Callable[..., BaseWorld], **options: Any) -> BaseWorld:
    """This world with a session that survives its process: another process can attach to it."""
    assert isinstance(world, type)
    assert issubclass(world, BaseWorld)

    class Kept(world):
        name = world.name

        async def open(self) -> str:
            await super().open()
            return "session"

        async def attach(self, handle: str) -> bool:
            return handle == "session"

    return Kept(**options)


class FunctionPlanner:
    """A planner made of a function of its context."""

    def __init__(self, think: Callable[[PlanningContext], PlanDraft]) -> None:
        self._think = think

    async def plan(self, context: PlanningContext) -> PlanDraft:
        return self._think(context)


class RecordingPlanner:
    """A planner that records the contexts that it passes to another planner."""

    def __init__(self, planner: Planner) -> None:
        self._planner = planner
        self.contexts: list[PlanningContext] = []

    async def plan(self, context: PlanningContext) -> PlanDraft:
        self.contexts.append(context)
        return await self._planner.plan(context)


@dataclass(frozen=True, kw_only=True)
class Played:
    """A finished run: its result, turns and plans, and the contexts of the planner."""

    result: Result
    turns: tuple[Progress, ...]
    plans: tuple[PlanVersion, ...]
    contexts: tuple[PlanningContext, ...]

    @property
    def ended(self) -> tuple[bool, bool, str]:
        """Success, verified and the final reason."""
        return self.result.success, self.result.verified, self.result.final_reason

    @property
    def phases(self) -> list[str]:
        """The phase after each turn."""
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
        """The kind and the number of model calls of every answer that cost any."""
        answers = [turn.event for turn in self.turns if isinstance(turn.event, Answer)]
        return [(answer.kind, answer.cost.calls) for answer in answers if answer.cost.calls]

    @property
    def most_committed(self) -> Cost:
        """The maximum of spent plus reserved, for calls, tokens and money separately."""
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
    """One run in this process, with everything it needs. Settings are given by name."""

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
        self.recorder = RecordingPlanner(self.planner)
        self._turns: list[Progress] = []
        settings = Settings.load(task={"backoff_jitter": 0.0, **self.settings})
        self.task = replace(self.task, limits=settings.limits())
        self.agent = Agent(
            world=self.world,
            planner=self.recorder,
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
        return await self.watch_to_end(self.start())

    async def resume(self) -> Played:
        """Resume the run as another process would."""
        return await self.watch_to_end(self.agent.pick_up(RUN))

    async def reach(self, live: LiveRun, phase: str) -> Progress:
        """Watch a run until it is next in this phase. The run does not stop there."""
        async for turn in live:
            self._turns.append(turn)
            if turn.run.phase.kind == phase:
                return turn
        raise AssertionError(f"the run ended without being {phase}")

    async def reach_dispatch(self, live: LiveRun) -> None:
        """Watch until an irreversible step was dispatched and the world has not answered yet."""
        while True:
            turn = await self.reach(live, "acting")
            if any(act.consequence for act in turn.commands if isinstance(act, Act)):
                return

    async def watch_to_end(self, live: LiveRun) -> Played:
        """Watch a run to its end."""
        self._turns += [turn async for turn in live]
        return Played(
            result=await live.result(),
            turns=tuple(self._turns),
            plans=await self.store.plans(RUN),
            contexts=tuple(self.recorder.contexts),
        )

    @property
    def effects(self) -> tuple[LoggedEffect, ...]:
        """The effects in the world's own log, including delayed ones."""
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
    written = build_planner(job.file.planner)
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


def without_evidence(rules: tuple[Rule, ...], *evidence: str) -> list[Rule]:
    """The same rules without some evidence, such as `probe` or `absent_when`."""
    removed: dict[str, Any] = dict.fromkeys(evidence)
    return [replace(rule, steps=tuple(replace(step, **removed) for step in rule.steps)) for rule in rules]


def notepad_of_the_seed(**more: Any) -> Stage:
    """Notepad counted as seed 000 counts: a look costs a model call, and extensions are replans."""
    given: dict[str, Any] = {"look_calls": 1, "final_looks": "last", "count_extensions": True, **more}
    return example("notepad", **given)


def endless_stage(cost: Cost = ONE_CALL, *, act_seconds: float = 0.0, **settings: object) -> Stage:
    """A run whose start menu opens and closes forever: every plan follows a verified transition, and costs this much.

    Without admission nothing detects the loop, so only the budget ends it.
    """
    settings = {"replan_admission": False, **settings}
    clock = FakeClock()
    again = replace(plan(press("Win", transition=True), AGAIN), cost=cost)
    world = Desktop(clock=clock, act_seconds=act_seconds)
    return Stage(world=world, planner=Scripted(again), clock=clock, settings=settings)


async def crash(live: LiveRun) -> None:
    """Simulate the death of the run's process by cancelling its driver."""
    waiting = asyncio.ensure_future(live.result())
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
