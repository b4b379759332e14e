"""Finding 6: a host that was away for 2.5 seconds ended every run under way. So did a model."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from midcourse import Agent, Settings
from midcourse.domain.events import Planned, WorldOpened
from midcourse.domain.expectation import Expectation, ZoneHasState
from midcourse.domain.plan import Draft
from midcourse.domain.result import Result
from midcourse.drive import Progress
from midcourse.ports.planner import PlanDraft, PlanningContext
from midcourse.store.memory import MemoryStore
from midcourse.worlds.host.lifecycle import Host, HostConfig, serve_host
from midcourse.worlds.host.registry import WorldRegistry
from midcourse.worlds.host.wire import Handle, read_host_file
from midcourse.worlds.remote import RemoteWorld

LETTERBOX = "tests.worlds.hosted:Letterbox"
AWAY_FOR = 6
"""Failed tries; there were four before a run ended."""


class SwitchedHost:
    """A host that goes and comes back where it was, without its sessions."""

    def __init__(self, folder: Path) -> None:
        self._ready = folder / "host.json"
        self._terms: dict[str, Any] = {"worlds": WorldRegistry([LETTERBOX]), "ready": self._ready}
        self._stack = AsyncExitStack()
        self._host: Host | None = None
        self.handle = Handle(url="", token="")

    async def start(self) -> None:
        self._host = await self._stack.enter_async_context(serve_host(HostConfig(**self._terms)))
        self.handle = read_host_file(self._ready)
        self._terms |= {"port": int(self.handle.url.rpartition(":")[2]), "token": self.handle.token}

    async def leave(self) -> None:
        """Accept no more sessions, and still listen."""
        assert self._host
        await self._host.sessions.end()

    async def stop(self) -> None:
        await self._stack.aclose()


@asynccontextmanager
async def switched_host(folder: Path) -> AsyncGenerator[SwitchedHost]:
    host = SwitchedHost(folder)
    await host.start()
    try:
        yield host
    finally:
        await host.stop()


@dataclass
class Posts:
    """Plans one letter. `before` is called before each plan."""

    before: Callable[[], Any] = lambda: None
    calls: int = 0
    away_for: int = 0

    async def plan(self, context: PlanningContext) -> PlanDraft:
        self.calls += 1
        if self.calls <= self.away_for:
            raise ConnectionRefusedError("nobody listens")
        if (waiting := self.before()) is not None:
            await waiting
        done = any(step.skill == "post" for step in context.completed)
        if done:
            return PlanDraft(verdict="done")
        posted = Expectation(checks=(ZoneHasState(label="Slot", state="posted", value=True),))
        return PlanDraft(steps=(Draft(zone="slot", skill="post", expect=posted),), final=True)


def agent(host: SwitchedHost, folder: Path, planner: Posts, **settings: Any) -> Agent:
    quick: dict[str, Any] = {
        "approvals": "never",
        "retry_delay_seconds": 0.01,
        "max_retry_delay_seconds": 0.02,
        "home": folder,
        **settings,
    }
    world = RemoteWorld(LETTERBOX, options={"folder": str(folder)}, host=host.handle, key="run")
    return Agent(world=world, planner=planner, settings=Settings(**quick), store=MemoryStore())


async def watched(agent: Agent, seen: Callable[[Progress], Any]) -> Result:
    live = agent.start("Post one letter")
    async for progress in live:
        if (waiting := seen(progress)) is not None:
            await waiting
    return await live.result()


def letters(folder: Path) -> int:
    file = folder / "letters"
    return len(file.read_text().splitlines()) if file.exists() else 0


class Brings:
    """Starts a host once it was missed so often."""

    def __init__(self, host: SwitchedHost) -> None:
        self._host = host
        self.missed = 0

    def __call__(self, progress: Progress) -> Any:
        if not isinstance(progress.event, WorldOpened) or progress.event.opened:
            return None
        assert progress.event.away
        self.missed += 1
        return self._host.start() if self.missed == AWAY_FOR else None


@pytest.mark.slow
async def test_a_host_that_is_away_when_a_run_begins_is_waited_for(tmp_path: Path) -> None:
    async with switched_host(tmp_path) as host:
        await host.stop()
        brings = Brings(host)
        result = await watched(agent(host, tmp_path, Posts(), max_step_retries=4, max_outage_seconds=60), brings)
    assert (result.final_reason, letters(tmp_path)) == ("plan_complete", 1)
    assert brings.missed >= AWAY_FOR


async def test_what_could_not_be_sent_is_sent_once_the_host_is_back_and_nobody_is_asked(tmp_path: Path) -> None:
    """There is no approver: a question about what happened would end the run."""
    async with switched_host(tmp_path) as host:
        planner = Posts(before=lambda: host.stop() if planner.calls == 1 else None)
        brings = Brings(host)
        result = await watched(agent(host, tmp_path, planner, max_step_retries=6, max_outage_seconds=60), brings)
    assert (result.final_reason, letters(tmp_path)) == ("plan_complete", 1)
    assert brings.missed >= AWAY_FOR


async def test_a_host_that_stays_away_ends_the_run_with_that_reason(tmp_path: Path) -> None:
    async with switched_host(tmp_path) as host:
        await host.stop()
        result = await agent(host, tmp_path, Posts(), max_step_retries=1, max_outage_seconds=0.2).run("Post one letter")
    assert result.final_reason == "outage"
    assert result.final_detail.startswith("the world's host could not be reached")
    assert letters(tmp_path) == 0


async def test_a_model_that_is_away_is_waited_for_and_costs_no_calls(tmp_path: Path) -> None:
    async with switched_host(tmp_path) as host:
        planner, failed = Posts(away_for=AWAY_FOR), list[Planned]()

        def seen(progress: Progress) -> None:
            if isinstance(progress.event, Planned) and progress.event.verdict == "transport":
                failed.append(progress.event)

        result = await watched(
            agent(host, tmp_path, planner, max_calls=1, max_step_retries=6, max_outage_seconds=60), seen
        )
    assert (result.final_reason, letters(tmp_path)) == ("plan_complete", 1)
    assert (len(failed), result.budget.calls) == (AWAY_FOR, 1)


class Flaky(MemoryStore):
    """A store that cannot be reached for a few calls, once it is switched off."""

    def __init__(self, *methods: str) -> None:
        super().__init__()
        self.left = dict.fromkeys(methods, AWAY_FOR)

    def __getattribute__(self, name: str) -> Any:
        if name in ("left", "__class__") or not self.left.get(name):
            return super().__getattribute__(name)
        self.left[name] -= 1
        raise ConnectionError("PostgreSQL: the server closed the connection")


class Hurried:
    """A clock on which waiting takes no time."""

    def __init__(self) -> None:
        self._now = 1_800_000_000.0

    def now(self) -> float:
        return self._now

    async def sleep(self, seconds: float) -> None:
        self._now += seconds
        await asyncio.sleep(0)


@pytest.mark.parametrize("method", ["save_turn", "save_observation", "save_plan", "write_ledger"])
async def test_a_local_run_waits_for_its_database(tmp_path: Path, method: str) -> None:
    async with switched_host(tmp_path) as host:
        store = Flaky(method)
        run = replace(agent(host, tmp_path, Posts(), max_step_retries=6), store=store, clock=Hurried())
        result = await run.run("Post one letter")
    assert (result.final_reason, letters(tmp_path)) == ("plan_complete", 1)
    assert not store.left[method]


async def test_a_local_run_stops_when_its_database_stays_away(tmp_path: Path) -> None:
    """Nothing could be written down, so it has not ended: it can be resumed."""
    async with switched_host(tmp_path) as host:
        run = replace(agent(host, tmp_path, Posts(), max_outage_seconds=5), store=Flaky("save_turn"), clock=Hurried())
        with pytest.raises(ConnectionError, match="PostgreSQL"):
            await run.run("Post one letter")


async def test_a_host_without_room_is_an_outage(tmp_path: Path) -> None:
    """It answers 503, as one does that is about to go."""
    async with switched_host(tmp_path) as host:
        await host.leave()
        result = await agent(host, tmp_path, Posts(), max_step_retries=1, max_outage_seconds=0.2).run("Post one letter")
    assert result.final_reason == "outage"
    assert "the host is stopping" in result.final_detail
