"""Pause, resume, cancel and guidance, while something is under way. An act is never broken off."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from midcourse.agent.live_run import LiveRun
from midcourse.domain.approval import Decision
from midcourse.domain.events import Acted, ApprovalDecided, Observed
from midcourse.ports.planner import PlanDraft, PlanningContext
from midcourse.testing import Posts
from midcourse.worlds.base import Zone
from midcourse.worlds.simulated import Fault, Shop
from tests.scenarios.stage import RUN, Stage, example, plan, press

SLOW = {"act_seconds": 10.0}
"""Every act takes ten seconds: time to say something."""


async def during_the_first_act(stage: Stage) -> LiveRun:
    live = stage.start()
    await stage.reach(live, "acting")
    return live


async def during_the_order(**more: Any) -> tuple[Stage, LiveRun]:
    """'Place order' is being pressed, and the shop has not answered yet."""
    stage = example("order", options=SLOW, **more)
    live = stage.start()
    await stage.reach_dispatch(live)
    return stage, live


# --- pause and resume


async def test_a_pause_waits_for_the_step_under_way_and_costs_no_working_time() -> None:
    stage = example("notepad", options=SLOW)
    live = await during_the_first_act(stage)
    assert live.pause() == ""
    paused = await stage.reach(live, "paused")
    assert isinstance(paused.event, Acted)
    assert paused.run.counts.completed == 1
    stage.clock.advance(3600)
    live.resume()
    played = await stage.watch_to_end(live)
    assert played.ended == (True, True, "goal_reached")
    assert (played.result.wall_seconds, played.result.budget.wall_seconds) == (3600 + 110, 110)


async def test_nothing_is_done_while_paused_and_the_world_is_looked_at_afterwards() -> None:
    stage = example("notepad", options=SLOW)
    live = await during_the_first_act(stage)
    live.pause()
    paused = await stage.reach(live, "paused")
    for _ in range(200):
        await asyncio.sleep(0)
    live.resume()
    resumed = await stage.reach(live, "looking")
    assert resumed.event.kind == "resume_asked"
    assert resumed.run.counts.executions == paused.run.counts.executions
    assert isinstance((await stage.reach(live, "acting")).event, Observed)
    await stage.watch_to_end(live)
    assert len(stage.effects) == 1


async def test_what_a_person_did_during_the_pause_is_seen() -> None:
    """A take-over is a pause in which a person acts: here they put another lamp into the basket."""
    stage = example("order", options=SLOW)
    live = await during_the_first_act(stage)
    live.pause()
    await stage.reach(live, "paused")
    assert isinstance(stage.world, Shop)
    stage.world.set_quantity(Zone(id="product_desk-lamp", role="product", label="Desk lamp"), 2)
    live.resume()
    seen = (await stage.reach(live, "acting")).run.seen
    assert seen is not None
    observation = await stage.store.observation(RUN, seen.id)
    assert observation is not None
    lamp = observation.zone("product_desk-lamp")
    assert lamp is not None
    assert lamp.get("quantity") == 2
    await stage.watch_to_end(live)
    assert [order.get("items") for order in stage.effects] == [{"Desk lamp": 2}]


async def test_a_resume_that_comes_before_the_pause_has_begun_undoes_it() -> None:
    stage = example("notepad", options=SLOW)
    live = await during_the_first_act(stage)
    live.pause()
    live.resume()
    played = await stage.watch_to_end(live)
    assert "paused" not in played.phases
    assert played.ended == (True, True, "goal_reached")


async def test_the_deadline_comes_during_a_pause_too() -> None:
    stage = example("notepad", options=SLOW, deadline_seconds=600.0)
    live = await during_the_first_act(stage)
    live.pause()
    played = await stage.watch_to_end(live)
    assert played.ended == (False, False, "deadline_exceeded")
    assert played.result.wall_seconds == 600.0
    assert played.completed == ["Press the Windows key"]


# --- cancel


async def test_a_cancel_waits_for_the_order_that_is_under_way_and_says_that_it_was_placed() -> None:
    stage, live = await during_the_order()
    assert stage.effects == ()
    live.cancel()
    played = await stage.watch_to_end(live)
    assert played.ended == (False, False, "cancelled")
    assert len(stage.effects) == 1
    assert played.completed[-1] == "Place the order"


async def test_a_cancel_does_not_leave_an_order_in_doubt() -> None:
    """504 comes after the cancel: it is still found out whether the order exists."""
    stage, live = await during_the_order(faults=[Fault(kind="stored_but_error")])
    live.cancel()
    played = await stage.watch_to_end(live)
    assert played.ended == (False, False, "cancelled")
    assert "verifying" in played.phases
    assert [step.doubtful for step in played.result.completed if step.irreversible] == [False]
    assert len(stage.effects) == 1


class Pondering:
    """Never comes to an answer."""

    async def plan(self, context: PlanningContext) -> PlanDraft:
        await asyncio.Event().wait()
        return plan(press("Win"))


async def test_a_cancel_does_not_wait_for_the_planner_but_its_call_is_charged() -> None:
    stage = example("notepad", planner=Pondering())
    live = stage.start()
    await stage.reach(live, "planning")
    live.cancel()
    played = await stage.watch_to_end(live)
    assert played.ended == (False, False, "cancelled")
    assert (played.result.budget.calls, played.result.executions) == (1, 0)


async def test_a_cancel_while_a_person_is_asked() -> None:
    stage = example("order", approver=Posts(), approvals="always")
    live = stage.start()
    await stage.reach(live, "asking")
    live.cancel()
    played = await stage.watch_to_end(live)
    assert played.ended == (False, False, "cancelled")
    assert stage.effects == ()


async def test_a_cancel_ends_a_pause() -> None:
    stage = example("notepad", options=SLOW)
    live = await during_the_first_act(stage)
    live.pause()
    await stage.reach(live, "paused")
    live.cancel()
    assert (await stage.watch_to_end(live)).ended == (False, False, "cancelled")


async def test_a_cancel_before_anything_has_begun() -> None:
    stage = example("notepad")
    live = stage.start()
    live.cancel()
    played = await stage.watch_to_end(live)
    assert played.ended == (False, False, "cancelled")
    assert played.result.executions == 0


# --- guidance


async def test_guidance_enters_the_next_plan_and_forces_none() -> None:
    stage = example("notepad", options=SLOW)
    live = await during_the_first_act(stage)
    live.guide("Save it in Documents, not on the Desktop")
    played = await stage.watch_to_end(live)
    guidance = [context.guidance for context in played.contexts]
    assert guidance == [(), *[("Save it in Documents, not on the Desktop",)] * 2]
    assert [plan.cause for plan in played.plans] == ["initial", "adaptive", "adaptive"]


# --- too late, or to no purpose


@pytest.mark.parametrize("say", [LiveRun.pause, LiveRun.resume, LiveRun.cancel, lambda live: live.guide("hurry")])
async def test_after_the_end_everything_is_refused_with_a_reason(say: Any) -> None:
    stage = example("notepad")
    live = stage.start()
    played = await stage.watch_to_end(live)
    assert say(live) == "the run has ended: goal_reached"
    assert (await live.result()) == played.result


async def test_an_answer_that_nobody_waits_for_is_refused_with_a_reason() -> None:
    person = Posts()
    stage = example("order", approver=person, approvals="always")
    live = stage.start()
    yes = Decision(verdict="approved")
    await stage.reach(live, "acting")
    assert live.tell(ApprovalDecided(question=1, verdict="approved")) == "no question is open"
    await stage.reach(live, "asking")
    while not person.questions:
        await asyncio.sleep(0)
    (question,) = person.questions
    number = question.id
    assert live.answer(replace(question, id=number + 100), yes).endswith(f"is not open; question {number} is")
    refused = live.answer(question, Decision(verdict="happened"))
    assert refused == f"question {number} takes approved, changed, rejected, take_over, not happened"
    assert live.answer(question, yes) == ""
    assert (await stage.watch_to_end(live)).ended == (True, True, "goal_reached")
