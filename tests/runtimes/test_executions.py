"""Executions of a supervisor: continued, evicted from memory, cancelled, broken and resumed."""

import asyncio
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import pytest
from temporalio.worker import Worker

from midcourse import drive
from midcourse.director.decide import ENTER, take_turn
from midcourse.director.segment import ask_planner
from midcourse.director.turn import Turn
from midcourse.domain.approval import Decision
from midcourse.domain.commands import Command
from midcourse.domain.events import Event, Planned
from midcourse.domain.moves import AskPlanner, BackOff
from midcourse.domain.run import Run
from midcourse.ports.world import Catalogue
from midcourse.replay import replay
from midcourse.runtimes.temporal import supervisor
from midcourse.runtimes.temporal.client import RunBroken
from midcourse.runtimes.temporal.supervisor import SupervisorWorkflow
from midcourse.runtimes.temporal.wire import Placement, name_queue
from midcourse.runtimes.temporal.worker import RUNNER
from tests.runtimes.fleet import Fleet, effects, event_names, order
from tests.runtimes.test_supervisor import asking, journal

pytestmark = pytest.mark.slow

YES = Decision(verdict="approved")


@pytest.fixture
async def fleet(fleet: Fleet) -> Fleet:
    fleet.placement = Placement(heartbeat_seconds=60.0, slice_seconds=0.0)
    return fleet


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """After each drive the supervisor continues in a new execution."""
    monkeypatch.setattr(supervisor, "CONTINUE_AFTER", 1)


@pytest.mark.usefixtures("short")
async def test_a_run_of_many_executions_is_asked_and_done_once(fleet: Fleet) -> None:
    cast, approver = asking()
    async with fleet.worker(drivers=1):
        handle = await fleet.begin(cast)
        await fleet.wait_for_status(handle, "asking")
        assert event_names(await fleet.history(handle.run_id)).count("ACTIVITY_TASK_SCHEDULED") == 1
        assert await handle.pause() == ""
        assert await handle.answer(approver.questions[-1], YES) == ""
        await fleet.wait_for_status(handle, "paused")
        assert await handle.resume() == ""
        assert (await handle.result()).final_reason == "goal_reached"
        listed = await fleet.list_runs()
    assert (len(approver.questions), len(effects(cast))) == (1, 1)
    assert set(listed) == {handle.run_id}
    assert (await journal(fleet, handle.run_id))[-1] == "finished"


@pytest.mark.usefixtures("short")
async def test_a_question_expires_while_no_driver_runs(fleet: Fleet) -> None:
    cast, _ = asking(approval_seconds=4.0)
    async with fleet.worker():
        handle = await fleet.begin(cast)
        result = await handle.result()
    assert (result.final_reason, result.final_detail) == ("rejected", "place_order was not approved in time")
    assert effects(cast) == ()


async def test_the_deadline_comes_while_it_is_paused(fleet: Fleet) -> None:
    cast, _ = asking(deadline_seconds=4.0)
    async with fleet.worker():
        handle = await fleet.begin(cast)
        assert await handle.pause() == ""
        result = await handle.result()
    assert result.final_reason == "deadline_exceeded"
    assert result.wall_seconds >= 4.0
    assert effects(cast) == ()


async def test_supervisors_that_do_not_fit_into_memory_are_replayed(fleet: Fleet) -> None:
    scenes = [asking() for _ in range(4)]
    async with fleet.worker(supervisors=2):
        handles = [await fleet.begin(cast) for cast, _ in scenes]
        for handle in handles:
            await fleet.wait_for_status(handle, "asking")
        for handle, (_, approver) in zip(handles, scenes, strict=True):
            assert await handle.answer(approver.questions[-1], YES) == ""
        ends = [(await handle.result()).final_reason for handle in handles]
    assert ends == ["goal_reached"] * 4
    assert [len(effects(cast)) for cast, _ in scenes] == [1] * 4


@pytest.mark.usefixtures("short")
async def test_messages_that_come_while_it_continues_are_not_lost(fleet: Fleet) -> None:
    """Every turn is a new execution, and messages do not stop."""
    handle = await fleet.begin(order())
    assert await handle.guide("advice 0") == ""
    async with fleet.worker(drivers=1):
        said = 1
        while not await handle.guide(f"advice {said}"):
            said += 1
        assert (await handle.result()).final_reason == "goal_reached"
    assert (await journal(fleet, handle.run_id)).count("guided") == said


async def test_an_execution_that_is_cancelled_while_no_worker_has_it_cancels_the_run(fleet: Fleet) -> None:
    cast = order()
    handle = await fleet.begin(cast)
    async with Worker(
        fleet.client, task_queue=name_queue(fleet.tenant), workflows=[SupervisorWorkflow], workflow_runner=RUNNER
    ):
        while "ACTIVITY_TASK_SCHEDULED" not in event_names(await fleet.history(handle.run_id)):
            await asyncio.sleep(0.02)
        await fleet.execution(handle.run_id).cancel()
        while event_names(await fleet.history(handle.run_id)).count("ACTIVITY_TASK_SCHEDULED") < 2:
            await asyncio.sleep(0.02)
    async with fleet.worker():
        assert (await handle.result()).final_reason == "cancelled"
    assert effects(cast) == ()


# --- deploys


def hesitate(run: Run, move: AskPlanner) -> Turn:
    """Another director's first plan: it waits a moment before it."""
    if move.turn == 0:
        return run, BackOff(seconds=0.01, then=replace(move, turn=1))
    return ask_planner(run, move)


async def test_a_run_continues_under_another_director(fleet: Fleet) -> None:
    cast, approver = asking()
    with patch.dict(ENTER, {AskPlanner: hesitate}):
        async with fleet.worker():
            handle = await fleet.begin(cast)
            await fleet.wait_for_status(handle, "asking")
    rows = await fleet.store.journal(handle.run_id)
    assert replay(await fleet.store.initial_state(handle.run_id), rows).verdict != "identical", "the directors differ"
    async with fleet.worker():
        assert await handle.answer(approver.questions[-1], YES) == ""
        assert (await handle.result()).final_reason == "goal_reached"
    assert len(effects(cast)) == 1
    assert (await fleet.store.journal(handle.run_id))[: len(rows)] == rows


# --- broken and resumed


class Unwell:
    """A world with a bug: it cannot say what it is able to do."""

    def __init__(self, world: Any) -> None:
        self._world = world
        self.well = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._world, name)

    def catalogue(self) -> Catalogue:
        if self.well:
            return self._world.catalogue()
        raise TypeError("a bug of an adapter")


async def test_a_bug_breaks_the_execution_once_and_the_run_goes_on_when_it_is_fixed(fleet: Fleet) -> None:
    cast = order()
    unwell: Any = Unwell(cast.world)
    async with fleet.worker():
        handle = await fleet.begin(replace(cast, world=unwell))
        with pytest.raises(RunBroken, match="TypeError: a bug of an adapter"):
            await handle.result()
        assert (await handle.describe()).status == "broken"
        assert await handle.pause() == f"run {handle.run_id} is not driven here"
        unwell.well = True
        assert await fleet.runs.resume(handle.run_id, world="shop") == ""
        result = await handle.result()
    assert (result.final_reason, len(effects(cast))) == ("goal_reached", 1)
    assert "resumed" in await journal(fleet, handle.run_id)


async def test_a_bug_of_the_director_breaks_the_execution_and_is_not_tried_for_ever(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    cast = order()

    def unsound(run: Run, event: Event) -> tuple[Run, tuple[Command, ...]]:
        if isinstance(event, Planned):
            raise ZeroDivisionError("a bug of ours")
        return take_turn(run, event)

    async with fleet.worker():
        with monkeypatch.context() as changed:
            changed.setattr(drive, "take_turn", unsound)
            handle = await fleet.begin(cast)
            with pytest.raises(RunBroken, match="ZeroDivisionError: a bug of ours"):
                await handle.result()
        assert await fleet.runs.resume(handle.run_id, world="shop") == ""
        assert (await handle.result()).final_reason == "goal_reached"
    assert len(effects(cast)) == 1


async def test_a_run_that_was_entered_and_never_started_is_started_by_resume(fleet: Fleet) -> None:
    cast = order()
    run = fleet.add_run(cast)
    await fleet.store.begin(run, cast.task)
    async with fleet.worker():
        assert await fleet.runs.resume(run.id, world="shop") == ""
        assert await fleet.runs.resume(run.id, world="shop") == "", "it is driven already, and not paused"
        assert (await fleet.runs.handle(run.id).result()).final_reason == "goal_reached"
    assert len(effects(cast)) == 1


async def test_beginning_twice_drives_it_once(fleet: Fleet) -> None:
    cast = order()
    async with fleet.worker():
        handle = await fleet.begin(cast)
        again, _ = await fleet.store.load(handle.run_id)
        await asyncio.gather(*(fleet.runs.start(again, world="shop") for _ in range(3)))
        assert (await handle.result()).final_reason == "goal_reached"
        await fleet.runs.start(again, world="shop")
    assert len(effects(cast)) == 1
    assert (await journal(fleet, handle.run_id)).count("started") == 1
