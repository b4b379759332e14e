"""Plays a story on either runtime and collects its turns without times, result, plans, lessons and effects."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, cast

from midcourse.codec import encode
from midcourse.config.defaults import EnvironmentVault
from midcourse.domain.commands import Command
from midcourse.domain.events import Event
from midcourse.domain.plan import PlanVersion
from midcourse.domain.result import Result
from midcourse.perform import Lessons
from midcourse.ports.controls import Request
from midcourse.ports.memory import Memory
from midcourse.ports.planner import PlanDraft, Planner, PlanningContext
from midcourse.ports.store import Store
from midcourse.ports.world import Call, World
from midcourse.runtimes.temporal.attributes import derive_status
from midcourse.worlds.base import Outcome
from midcourse.worlds.simulated.base import SimulatedWorld
from tests.parity.stories import Story, use_real_clock
from tests.runtimes.fleet import Cast, Fleet
from tests.scenarios.stage import Post, Stage
from tests.scenarios.test_recovery import Disk

TIMES = ("at", "sent_at", "timeout", "seconds", "expires_at", "wall_seconds", "audit")
WITHIN = re.compile(r"within [\d.]+ s")
WAITING = ("asking", "paused")

Tell: TypeAlias = Callable[[Request], Awaitable[str]]
Status: TypeAlias = Callable[[], Awaitable[str]]


@dataclass(frozen=True, kw_only=True)
class Played:
    """The comparable records of a run."""

    turns: list[tuple[Any, Any]]
    """Each event and the commands that followed from it."""
    result: Any
    effects: list[Any]
    plans: list[Any]
    """Every version, with what it was made from."""
    lessons: list[Any]
    """The lessons in memory after the run."""
    replies: list[str]
    """The replies to the requests of the cues."""


async def play_locally(story: Story, run_id: str, store: Store, memory: Memory) -> Played:
    script = Script(story)
    stage = script.stage
    agent = replace(stage.agent, world=script.world, planner=script.planner, store=store, memory=memory)
    live = agent.start(stage.task, run_id=run_id)
    standing = "running"

    async def tell(request: Request) -> str:
        return live.tell(request)

    async def status() -> str:
        return standing

    async with script.deliver_cues(tell, status):
        async for turn in live:
            standing = derive_status(turn.run)
    return await script.collect(store, memory, run_id, await live.result())


async def play_on_fleet(fleet: Fleet, story: Story, run_id: str, memory: Memory) -> Played:
    script = Script(story)
    stage = script.stage
    handle = fleet.runs.handle(run_id)

    async def status() -> str:
        return (await handle.describe()).status

    ports = stage.agent.build_ports(stage.store, run_id, stage.task)
    parts = Cast(
        world=script.world,
        planner=script.planner,
        approver=ports.approver,
        task=stage.task,
        vault=EnvironmentVault(),
        outliner=ports.outliner,
        progress_judge=ports.progress_judge,
        monitor=ports.monitor,
        reflector=stage.reflector,
        detour_planner=ports.detour_planner,
        closeness_judge=ports.closeness_judge,
        lessons=Lessons(memory=memory),
    )
    await fleet.begin(parts, run_id)
    async with script.deliver_cues(handle.tell, status):
        result = await handle.result()
    return await script.collect(fleet.store, memory, run_id, result)


class Script:
    """Sends the request of each cue to the runtime at its moment."""

    def __init__(self, story: Story) -> None:
        self.stage: Stage = use_real_clock(story.make())
        self.world = cast(World, _CuedWorld(self.stage.world, self))
        self.planner: Planner = _CuedPlanner(self.stage.planner, self)
        self._cues = story.cues
        self._tell: Tell | None = None
        self._replies: list[str] = []

    @asynccontextmanager
    async def deliver_cues(self, tell: Tell, status: Status) -> AsyncGenerator[None]:
        self._tell = tell
        watching = asyncio.create_task(self._watch(status))
        try:
            yield
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
        if watching.done() and not watching.cancelled():
            watching.result()

    async def cue(self, when: str) -> None:
        for cue in self._cues:
            if cue.when == when:
                assert self._tell is not None, "the run has started"
                self._replies.append(await self._tell(cue.says(self.stage)))

    async def _watch(self, status: Status) -> None:
        for cue in self._cues:
            if cue.when in WAITING:
                while await status() != cue.when:
                    await asyncio.sleep(0.01)
                assert self._tell is not None
                self._replies.append(await self._tell(cue.says(self.stage)))

    async def collect(self, store: Store, memory: Memory, run_id: str, result: Result) -> Played:
        assert len(self._replies) == len(self._cues), "every cue was delivered"
        return Played(
            turns=[
                (_encode_without_times(row.event, Event), _encode_without_times(row.commands, tuple[Command, ...]))
                for row in await store.journal(run_id)
            ],
            result=_encode_without_times(result, Result),
            effects=self._effects(),
            plans=[_encode_without_times(plan, PlanVersion) for plan in await store.plans(run_id)],
            lessons=sorted((lesson.signature, lesson.track, lesson.fix.text) for lesson in await memory.lessons()),
            replies=self._replies,
        )

    def _effects(self) -> list[Any]:
        """The effects in the world's own log."""
        match self.stage.world:
            case SimulatedWorld():
                return [(effect.effect, effect.values) for effect in self.stage.effects]
            case Post() as post:
                return list(post.letters)
            case Disk() as disk:
                return list(disk.written)
            case _:
                return []


class _CuedWorld:
    """A world that reports its acts to the script."""

    def __init__(self, world: World, script: Script) -> None:
        self._world = world
        self._script = script
        self._acts = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._world, name)

    async def act(self, call: Call) -> Outcome:
        self._acts += 1
        await self._script.cue(f"act {self._acts}")
        return await self._world.act(call)


class _CuedPlanner:
    """A planner that reports its calls to the script."""

    def __init__(self, planner: Planner, script: Script) -> None:
        self._planner = planner
        self._script = script
        self._plans = 0

    async def plan(self, context: PlanningContext) -> PlanDraft:
        self._plans += 1
        await self._script.cue(f"plan {self._plans}")
        return await self._planner.plan(context)


def _encode_without_times(value: object, kind: Any) -> Any:
    return _without_times(json.loads(encode(value, kind)))


def _without_times(value: Any) -> Any:
    match value:
        case dict():
            pairs = cast("dict[str, Any]", value).items()
            return {name: _without_times(item) for name, item in pairs if name not in TIMES}
        case list():
            return [_without_times(item) for item in cast("list[Any]", value)]
        case str():
            return WITHIN.sub("within a while", value)
        case _:
            return value
