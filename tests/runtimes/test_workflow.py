"""A run as a workflow: driven to its end, told what to do, continued in new executions, evicted, broken and mended."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from midcourse import drive
from midcourse.director.decide import decide
from midcourse.domain.approval import Decision
from midcourse.domain.command import Command
from midcourse.domain.event import Event, PauseAsked, Planned
from midcourse.domain.run import Run
from midcourse.ports.world import Catalogue
from midcourse.runtimes.temporal.client import RunBroken
from midcourse.testing import Posts
from tests.runtimes.fleet import Cast, Fleet, effects, kinds, order

pytestmark = pytest.mark.slow

YES = Decision(verdict="approved")


def asking(**limits: Any) -> tuple[Cast, Posts]:
    """An order that a person has to agree to, and whoever is asked."""
    person = Posts()
    return replace(order(approvals="always", **limits), approver=person), person


async def journal(fleet: Fleet, run_id: str) -> list[str]:
    """What happened, without gaps."""
    rows = await fleet.store.journal(run_id)
    assert [row.seq for row in rows] == list(range(1, len(rows) + 1))
    run, _ = await fleet.store.load(run_id)
    assert run.seq == len(rows)
    return [row.event.kind for row in rows]


async def test_an_order_is_placed_once_and_everything_is_written_down(fleet: Fleet) -> None:
    cast = order()
    async with fleet.worker():
        handle = await fleet.begin(cast)
        result = await handle.result()
    assert (result.success, result.verified, result.final_reason) == (True, True, "goal_reached")
    assert len(effects(cast)) == 1
    happened = await journal(fleet, handle.run_id)
    assert (happened[:3], happened[-1]) == (["started", "world_opened", "observed"], "finished")
    assert [(one.id, one.phase, one.final_reason) for one in await fleet.store.runs()] == [
        (handle.run_id, "ended", "goal_reached")
    ]


async def test_a_fleet_without_workers_is_noticed(fleet: Fleet) -> None:
    handle = await fleet.begin(order())
    assert (await handle.describe()).waits_for_worker
    assert not await fleet.runs.has_workers()
    async with fleet.worker():
        assert (await handle.result()).success
        assert await fleet.runs.has_workers()
    assert not (await handle.describe()).waits_for_worker


# --- what people say


async def test_a_question_waits_for_its_answer_and_takes_no_other(fleet: Fleet) -> None:
    cast, person = asking()
    async with fleet.worker():
        handle = await fleet.begin(cast)
        await fleet.until(handle, "asking")
        (question,) = person.questions
        before = await fleet.history(handle.run_id)
        other = question.id + 1
        assert (
            await handle.answer(replace(question, id=other), YES)
            == f"question {other} is not open; question {question.id} is"
        )
        assert len((await fleet.history(handle.run_id)).events) == len(before.events), "refused, and not in the history"
        assert await handle.answer(question, YES) == ""
        assert (await handle.result()).final_reason == "goal_reached"
        assert await handle.answer(question, YES) == "the run has ended: goal_reached"
    assert len(effects(cast)) == 1


async def test_pause_guidance_and_resume_are_in_the_journal_at_their_places(fleet: Fleet) -> None:
    cast, person = asking()
    async with fleet.worker():
        handle = await fleet.begin(cast)
        await fleet.until(handle, "asking")
        assert await handle.pause() == ""
        assert await handle.answer(person.questions[-1], YES) == ""
        await fleet.until(handle, "paused")
        assert await handle.guide("Be quick") == ""
        assert effects(cast) == ()
        assert await handle.resume() == ""
        assert (await handle.result()).final_reason == "goal_reached"
    happened = await journal(fleet, handle.run_id)
    place = happened.index("person_asked")
    assert happened[place : place + 7] == [
        "person_asked",
        "pause_asked",
        "approval_decided",
        "recorded",
        "guided",
        "resume_asked",
        "observed",
    ]


@pytest.mark.parametrize("through", ["us", "the engine"])
async def test_a_cancel_ends_the_run_and_writes_its_result(fleet: Fleet, through: str) -> None:
    cast, _ = asking()
    async with fleet.worker():
        handle = await fleet.begin(cast)
        await fleet.until(handle, "asking")
        if through == "us":
            assert await handle.cancel() == ""
        else:
            await fleet.execution(handle.run_id).cancel()
        assert (await handle.result()).final_reason == "cancelled"
    assert effects(cast) == ()
    assert (await handle.describe()).final_reason == "cancelled"


async def test_a_run_that_nobody_works_for_says_so(fleet: Fleet) -> None:
    handle = await fleet.begin(order())
    with pytest.raises(TimeoutError, match="no worker answered"):
        await handle.tell(PauseAsked(), seconds=0.5)
    assert await fleet.runs.handle("no-such-run").cancel() == "run no-such-run is not driven here"


# --- executions


async def test_it_continues_at_every_quiet_point_and_nothing_is_asked_or_done_twice(fleet: Fleet) -> None:
    fleet.pace = replace(fleet.pace, continue_after=1, rest_after=1)
    cast, person = asking()
    async with fleet.worker():
        handle = await fleet.begin(cast)
        await fleet.until(handle, "asking")
        assert kinds(await fleet.history(handle.run_id)).count("ACTIVITY_TASK_SCHEDULED") == 0, (
            "it waits in a short one"
        )
        assert await handle.pause() == ""
        assert await handle.answer(person.questions[-1], YES) == ""
        await fleet.until(handle, "paused")
        assert await handle.resume() == ""
        assert (await handle.result()).final_reason == "goal_reached"
        listed = [one.run async for one in fleet.runs.runs()]
    assert (len(person.questions), len(effects(cast))) == (1, 1)
    assert listed == [handle.run_id]
    assert (await journal(fleet, handle.run_id))[-1] == "finished"


async def test_a_question_expires_in_a_later_execution_than_it_was_asked_in(fleet: Fleet) -> None:
    fleet.pace = replace(fleet.pace, continue_after=1, rest_after=1)
    cast, _ = asking(approval_seconds=1.0)
    async with fleet.worker():
        handle = await fleet.begin(cast)
        result = await handle.result()
    assert (result.final_reason, result.final_detail) == ("rejected", "place_order was not approved in time")
    assert effects(cast) == ()


async def test_runs_that_do_not_fit_into_memory_are_replayed(fleet: Fleet) -> None:
    scenes = [asking() for _ in range(4)]
    async with fleet.worker(runs=2):
        handles = [await fleet.begin(cast) for cast, _ in scenes]
        for handle in handles:
            await fleet.until(handle, "asking")
        for handle, (_, person) in zip(handles, scenes, strict=True):
            assert await handle.answer(person.questions[-1], YES) == ""
        ends = [(await handle.result()).final_reason for handle in handles]
    assert ends == ["goal_reached"] * 4
    assert [len(effects(cast)) for cast, _ in scenes] == [1] * 4


async def test_words_that_come_while_it_continues_are_not_lost(fleet: Fleet) -> None:
    """Every turn is a new execution, and people do not stop talking."""
    fleet.pace = replace(fleet.pace, continue_after=1, rest_after=1)
    handle = await fleet.begin(order())
    first = asyncio.create_task(handle.guide("advice 0"))  # before anybody works, so that it does not come too late
    async with fleet.worker():
        assert await first == ""
        said = 1
        while not await handle.guide(f"advice {said}"):
            said += 1
        assert (await handle.result()).final_reason == "goal_reached"
    assert (await journal(fleet, handle.run_id)).count("guided") == said


# --- broken and mended


class Unwell:
    """A world with a bug: nobody can ask what it is able to do."""

    def __init__(self, world: Any) -> None:
        self._world = world
        self.well = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._world, name)

    def catalogue(self) -> Catalogue:
        if self.well:
            return self._world.catalogue()
        raise TypeError("a bug of an adapter")


async def test_a_bug_breaks_the_execution_once_and_the_run_goes_on_when_it_is_mended(fleet: Fleet) -> None:
    cast = order()
    unwell = Unwell(cast.world)
    async with fleet.worker():
        handle = await fleet.begin(replace(cast, world=unwell))
        with pytest.raises(RunBroken, match="make_plan failed: TypeError: a bug of an adapter"):
            await handle.result()
        assert (await handle.describe()).status == "broken"
        assert await handle.pause() == f"run {handle.run_id} is not driven here"
        unwell.well = True
        assert await fleet.runs.resume(handle.run_id, world="shop") == ""
        result = await handle.result()
    assert (result.final_reason, len(effects(cast))) == ("goal_reached", 1)
    assert "resumed" in await journal(fleet, handle.run_id)


async def test_a_run_that_was_entered_and_never_started_is_started_by_resume(fleet: Fleet) -> None:
    cast = order()
    run = fleet.enter(cast)
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


async def test_a_bug_of_the_director_breaks_the_execution_and_is_not_tried_for_ever(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    cast = order()

    def unsound(run: Run, event: Event) -> tuple[Run, tuple[Command, ...]]:
        if isinstance(event, Planned):
            raise ZeroDivisionError("a bug of ours")
        return decide(run, event)

    async with fleet.worker():
        with monkeypatch.context() as changed:
            changed.setattr(drive, "decide", unsound)
            handle = await fleet.begin(cast)
            with pytest.raises(RunBroken, match="ZeroDivisionError: a bug of ours"):
                await handle.result()
        assert await fleet.runs.resume(handle.run_id, world="shop") == ""
        assert (await handle.result()).final_reason == "goal_reached"
    assert len(effects(cast)) == 1


# --- time


async def test_the_deadline_comes_while_it_is_paused(fleet: Fleet) -> None:
    cast, _ = asking(deadline_seconds=3.0)
    async with fleet.worker():
        handle = await fleet.begin(cast)
        assert await handle.pause() == ""
        result = await handle.result()
    assert result.final_reason == "deadline_exceeded"
    assert result.wall_seconds >= 3.0
    assert effects(cast) == ()
