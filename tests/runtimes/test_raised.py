"""What is not an `Exception`, raised by a port: the run ends or rests within its limits, and sends nothing twice."""

import asyncio
import dataclasses
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Literal, cast

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from midcourse import Agent, BaseWorld, Draft, Scene, Settings, Zone, probe, skill
from midcourse.containment import CallAborted, Contained
from midcourse.domain.approval import Decision, Question
from midcourse.domain.events import Acted
from midcourse.domain.records.ledger import LedgerEntry
from midcourse.perform import Ports
from midcourse.planners import SamePlan
from midcourse.ports.driving import SharedStore
from midcourse.ports.planner import PlanDraft, PlanningContext
from midcourse.runtimes.temporal.wire import Placement
from midcourse.runtimes.temporal.worker import Drivers
from midcourse.store.sqlite import SqliteStore
from midcourse.testing import Approves, FakeClock, MemoryStore

Place = Literal["skill", "async skill", "look", "probe", "planner", "approver", "store", "world"]
PLACES: tuple[Place, ...] = ("skill", "async skill", "look", "probe", "planner", "approver", "store", "world")


class Timeout(BaseException):
    """As those of gevent, func_timeout and others."""


def raise_cancelled() -> None:
    raise asyncio.CancelledError


def cancel_itself() -> None:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()


def raise_generator_exit() -> None:
    raise GeneratorExit


def raise_timeout() -> None:
    raise Timeout("3 seconds")


def raise_group() -> None:
    raise BaseExceptionGroup("two tasks", [Timeout("3 seconds"), ValueError("7")])


def raise_interrupt() -> None:
    raise KeyboardInterrupt


def raise_exit() -> None:
    raise SystemExit(3)


def raise_interrupt_in_group() -> None:
    raise BaseExceptionGroup("two tasks", [KeyboardInterrupt(), ValueError("7")])


STRAYS = (raise_cancelled, cancel_itself, raise_generator_exit, raise_timeout, raise_group)
EXITS = (raise_interrupt, raise_exit, raise_interrupt_in_group)


class Counter(BaseWorld):
    """Sells lamps. `orders` is its own log."""

    def __init__(self, place: Place, fails: Callable[[], None]) -> None:
        super().__init__()
        self.place: Place | None = place
        self.plain = place == "skill"
        self.fails = fails
        self.orders: list[str] = []

    async def may_fail(self, *places: Place) -> None:
        if self.place in places:
            self.fails()
            await asyncio.sleep(0)

    async def look(self) -> Scene:
        await self.may_fail("look")
        return Scene("Counter", Zone(id="order", role="button", label="Order"))

    @probe
    async def ordered(self) -> bool:
        await self.may_fail("probe")
        return bool(self.orders)

    @skill(effect="irreversible", probe="ordered")
    async def order(self, zone: Zone) -> None:
        self.orders.append("lamp")
        await self.may_fail("async skill")
        if self.place in ("probe", "look"):
            raise TimeoutError("no answer")  # so that the probe is asked

    @skill(effect="irreversible", probe="ordered")
    def order_plainly(self, zone: Zone) -> None:
        self.orders.append("lamp")
        if self.place == "skill":
            self.fails()

    async def close(self) -> None:
        await self.may_fail("world")


class FailingPlanner(SamePlan):
    def __init__(self, world: Counter) -> None:
        super().__init__([Draft(zone="order", skill="order_plainly" if world.plain else "order")])
        self._counter = world

    async def plan(self, context: PlanningContext) -> PlanDraft:
        await self._counter.may_fail("planner")
        return await super().plan(context)


class FailingApprover(Approves):
    def __init__(self, world: Counter) -> None:
        super().__init__()
        self._counter = world

    async def ask(self, question: Question) -> Decision | None:
        await self._counter.may_fail("approver")
        return await super().ask(question)


class FailingStore(SqliteStore):
    counter: Counter

    async def write_ledger(self, run_id: str, entry: LedgerEntry) -> None:
        await super().write_ledger(run_id, entry)
        await self.counter.may_fail("store")


def build(world: Counter, folder: Path, clock: FakeClock) -> tuple[Agent, FailingStore]:
    store = FailingStore(folder / "runs.db")
    store.counter = world
    overrides = {"home": str(folder), "max_calls": "12", "deadline_seconds": "600", "max_wall_seconds": "600"}
    settings = Settings.load(overrides=overrides)
    agent = Agent(
        world, FailingPlanner(world), approver=FailingApprover(world), settings=settings, store=store, clock=clock
    )
    return agent, store


ENDS: dict[Place, tuple[set[str], int]] = {
    "skill": ({"plan_complete"}, 1),
    "async skill": ({"plan_complete"}, 1),
    "look": ({"world_lost"}, 0),
    "probe": ({"needs_human"}, 1),
    "planner": ({"replan_exhausted", "budget_exhausted"}, 0),
    "approver": ({"rejected"}, 0),
    "world": ({"plan_complete"}, 1),
}
"""How a run may end if this port always fails, and how many orders there are then."""


@pytest.mark.parametrize("fails", STRAYS)
@pytest.mark.parametrize("place", PLACES)
async def test_run_ends_within_its_limits(place: Place, fails: Callable[[], None], tmp_path: Path) -> None:
    world = Counter(place, fails)
    agent, store = build(world, tmp_path, FakeClock())
    try:
        async with asyncio.timeout(60):
            result = await agent.run("Order a lamp", run_id="r")
    except CallAborted:
        # Without its store a run cannot even end: every exception of a store is raised. And nobody answers for an approver.
        assert place == "store" or (fails is cancel_itself and place in ("approver", "world"))
    else:
        reasons, orders = ENDS.get(place, ({"needs_human"}, 0))
        assert (result.final_reason in reasons, len(world.orders)) == (True, orders), result
        assert result.final_reason != "plan_complete" or not result.completed[0].doubtful
    assert store.is_claimed("r") is False
    world.place = None
    if await store.result("r") is None:
        assert (await agent.resume("r")).success
        assert world.orders == ["lamp"]
    store.close()


@pytest.mark.parametrize("fails", EXITS)
@pytest.mark.parametrize("place", PLACES)
def test_exit_of_the_process_is_raised_again_after_the_turn_is_stored(
    place: Place, fails: Callable[[], None], tmp_path: Path
) -> None:
    """The process may go on, as a REPL or a test session does: the run is free, and can be resumed in it."""
    world = Counter(place, fails)
    agent, store = build(world, tmp_path, FakeClock())
    with pytest.raises((KeyboardInterrupt, SystemExit, BaseExceptionGroup)):
        asyncio.run(asyncio.wait_for(agent.run("Order a lamp", run_id="r"), 60))
    assert store.is_claimed("r") is False
    acted = [row.event for row in asyncio.run(store.journal("r")) if isinstance(row.event, Acted)]
    if "skill" in place:
        assert [(event.status, event.reason) for event in acted] == [("unknown", "lost")]
    world.place = None
    agent = replace(agent, clock=FakeClock())  # a clock belongs to one event loop
    assert asyncio.run(asyncio.wait_for(agent.resume("r"), 60)).success
    assert world.orders == ["lamp"]
    store.close()


async def test_cancelling_a_run_passes_through_its_calls(tmp_path: Path) -> None:
    """The cancellation that a run was sent is no answer of a skill: the act stays as it was, and is looked for when the run is resumed."""
    begun = asyncio.Event()

    class Slow(Counter):
        async def may_fail(self, *places: Place) -> None:
            if "async skill" in places and not begun.is_set():
                begun.set()
                await asyncio.sleep(60)

    world = Slow("async skill", raise_timeout)
    agent, store = build(world, tmp_path, FakeClock())
    running = asyncio.create_task(agent.run("Order a lamp", run_id="r"))
    await begun.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not [row for row in await store.journal("r") if isinstance(row.event, Acted)]
    assert (await agent.resume("r")).success
    assert world.orders == ["lamp"]
    store.close()


async def test_time_limit_of_a_call_is_a_timeout() -> None:
    with pytest.raises(TimeoutError):
        async with Contained(0.01):
            await asyncio.sleep(60)
    begun = False
    with pytest.raises(TimeoutError):
        async with Contained(0):
            begun = True
    assert not begun


def test_closed_coroutine_only_cleans_up() -> None:
    """Garbage collection closes the coroutines of a loop that was torn down. Nothing may be carried out then."""
    went_on: list[str] = []

    async def call() -> None:
        try:
            async with Contained():
                await asyncio.Event().wait()
        except CallAborted:
            went_on.append("as after a failed call")

    loop, coroutine = asyncio.new_event_loop(), call()
    loop.set_exception_handler(lambda loop, context: None)  # it would tell of the task that was left pending
    task = loop.create_task(coroutine)
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    coroutine.close()
    assert (went_on, task.done()) == ([], False)


async def test_host_may_contain_an_exit() -> None:
    with pytest.raises(CallAborted, match="SystemExit: 3"):
        async with Contained(keeps_process=True):
            raise SystemExit(3)


@pytest.mark.parametrize("fails", [raise_cancelled, raise_generator_exit, raise_timeout])
async def test_activity_fails_if_its_ports_cannot_be_built(fails: Callable[[], None]) -> None:
    """Temporal would never hear of an activity whose task ended with `GeneratorExit`, and would retry a cancelled one for ever."""

    async def build_ports(run_id: str) -> Ports:
        fails()
        raise AssertionError("it fails")

    drivers = Drivers(store=cast(SharedStore, MemoryStore()), build_ports=build_ports, most=1, most_held=1)
    environment = ActivityEnvironment()
    environment.info = dataclasses.replace(
        environment.info, workflow_id="default/r", heartbeat_timeout=timedelta(seconds=60)
    )
    with pytest.raises(ApplicationError) as failed:
        await environment.run(drivers.drive, Placement())
    assert (failed.value.type, failed.value.non_retryable) == ("CallAborted", True)
