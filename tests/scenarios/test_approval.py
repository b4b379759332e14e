"""Approval binds the consequence: what exactly would be sent, to whom. Unhandled means denied."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from midcourse.domain.agreement import Agreement
from midcourse.domain.approval import Decision, Question
from midcourse.domain.plan import Draft
from midcourse.errors import TaskInvalid
from midcourse.ports.approver import Approver
from midcourse.ports.planner import PlanDraft, Planner, PlanningContext
from midcourse.testing import Answers, Approves, Posts, Rejects, Scripted, Silent
from midcourse.worlds.simulated import Fault, Shop
from tests.scenarios.stage import AGAIN, Post, Stage, example, letter, plan

YES, NO = Decision(verdict="approved"), Decision(verdict="rejected")


class Meanwhile:
    """A person who answers, while somebody else does something in the world."""

    def __init__(self, happens: Callable[[Shop], object], *decisions: Decision) -> None:
        self.happens = happens
        self.shop: Shop | None = None
        self._answers = Answers(*decisions)
        self.questions: list[Question] = self._answers.questions

    async def ask(self, question: Question) -> Decision | None:
        if not self.questions and self.shop:
            self.happens(self.shop)
        return await self._answers.ask(question)


def ordering(person: Approver, **more: Any) -> Stage:
    stage = example("order", approver=person, approvals="always", **more)
    if isinstance(person, Meanwhile):
        assert isinstance(stage.world, Shop)
        person.shop = stage.world
    return stage


# --- ask and decide


async def test_a_person_is_shown_everything_that_would_be_sent_and_agrees() -> None:
    person = Approves()
    stage = ordering(person)
    played = await stage.play()
    assert played.ended == (True, True, "goal_reached")
    assert len(stage.effects) == 1
    (question,) = person.questions
    assert (question.about, question.goal, question.says) == ("approve", "Order one desk lamp", ("Place the order",))
    (consequence,) = question.consequences
    assert (consequence.skill, consequence.target.label, consequence.origin) == (
        "place_order",
        "Place order",
        "https://shop.example",
    )
    assert consequence.commit.address == "https://shop.example/orders"
    assert dict(consequence.commit.values) == {
        "item desk-lamp": 1,
        "address": "1 Harbour Street",
        "reference": "PO-1001",
        "currency": "EUR",
        "total": 49.0,
    }


async def test_nothing_is_sent_before_the_answer_and_the_world_is_looked_at_after_it() -> None:
    person = Posts()
    stage = ordering(person)
    live = stage.start()
    await stage.reach(live, "asking")
    while not person.questions:
        await asyncio.sleep(0)
    assert stage.effects == ()
    assert live.answer(person.questions[0], YES) == ""
    played = await stage.watch_to_end(live)
    assert len(stage.effects) == 1
    asked = max(n for n, phase in enumerate(played.phases) if phase == "asking")
    assert played.phases[asked + 1 : asked + 3] == ["looking", "acting"]


async def test_without_approvals_nobody_is_asked() -> None:
    person = Rejects()
    stage = example("order", approver=person, approvals="never")
    assert (await stage.play()).ended == (True, True, "goal_reached")
    assert person.questions == []


# --- no


async def test_a_rejected_order_is_not_sent_and_ends_the_run() -> None:
    stage = ordering(Rejects())
    played = await stage.play()
    assert played.ended == (False, False, "rejected")
    assert played.result.final_detail == "place_order was rejected (testing)"
    assert stage.effects == ()


class Obliging:
    """Another planner, and one thing it does when it is told to: two instead of one."""

    def __init__(self, planner: Planner) -> None:
        self._planner = planner

    async def plan(self, context: PlanningContext) -> PlanDraft:
        if context.cause == "guided" and "two" in context.guidance[-1]:
            two = Draft(zone="line_desk-lamp", skill="set_quantity", arguments=(("quantity", 2),), says="Make it two")
            return plan(two, AGAIN)
        return await self._planner.plan(context)


async def test_rejected_with_guidance_plans_again_and_asks_about_the_new_order() -> None:
    person = Answers(replace(NO, guidance="Make it two, please"), YES)
    stage = ordering(person)
    stage = replace(stage, planner=Obliging(stage.planner))
    played = await stage.play()
    (order,) = stage.effects
    assert order.get("items") == {"Desk lamp": 2}
    guided = played.contexts[2]
    assert (guided.cause, guided.guidance) == ("guided", ("Make it two, please",))
    assert [dict(question.consequences[0].commit.values)["total"] for question in person.questions] == [49.0, 98.0]
    assert played.result.budget.error_replans == 0


async def test_a_question_that_nobody_answers_expires() -> None:
    stage = ordering(Silent())
    played = await stage.play()
    assert played.ended == (False, False, "rejected")
    assert played.result.final_detail == "place_order was not approved in time"
    assert stage.effects == ()
    assert (played.result.wall_seconds, played.result.budget.wall_seconds) == (3600.0, 0.0)


async def test_a_deadline_does_not_wait_for_people() -> None:
    stage = ordering(Posts(), deadline_seconds=60.0)
    played = await stage.play()
    assert played.ended == (False, False, "deadline_exceeded")
    assert played.result.wall_seconds == 60.0
    assert stage.effects == ()


class Absent:
    async def ask(self, question: Question) -> Decision | None:
        raise ConnectionError("the chat server is down")


@pytest.mark.parametrize(
    "person", [None, Absent(), Answers(Decision(verdict="happened"))], ids=["nobody", "absent", "odd"]
)
async def test_unhandled_means_denied(person: Answers | Absent | None) -> None:
    stage = replace(ordering(Approves()), approver=person)
    played = await stage.play()
    assert played.ended == (False, False, "rejected")
    assert stage.effects == ()


# --- what an approval is for


async def test_an_approval_survives_a_replan_that_keeps_the_consequence() -> None:
    """Somebody clicks away while the person decides: the form is filled in again, and the same order needs no new yes."""
    person = Meanwhile(lambda shop: shop.go("orders"), YES)
    stage = ordering(person)
    played = await stage.play()
    assert played.ended == (True, True, "goal_reached")
    assert "error" in [plan.cause for plan in played.plans]
    assert (len(person.questions), len(stage.effects)) == (1, 1)


def three_lamps(shop: Shop) -> None:
    shop.state = replace(shop.state, basket=(("desk-lamp", 3),))


@pytest.mark.parametrize(("again", "orders"), [(YES, [{"Desk lamp": 3}]), (NO, [])], ids=["yes", "no"])
async def test_a_changed_basket_voids_the_approval_and_the_person_sees_the_difference(
    again: Decision, orders: list[dict[str, int]]
) -> None:
    person = Meanwhile(three_lamps, YES, again)
    stage = ordering(person)
    played = await stage.play()
    assert [order.get("items") for order in stage.effects] == orders
    assert played.result.success == bool(orders)
    first, second = person.questions
    assert first.changed_from is None
    assert second.changed_from == first.consequences[0]
    before, now = first.consequences[0].commit.values, second.consequences[0].commit.values
    assert dict(set(before) - set(now)) == {"item desk-lamp": 1, "total": 49.0}
    assert dict(set(now) - set(before)) == {"item desk-lamp": 3, "total": 147.0}


async def test_an_approval_expires_if_it_is_not_used() -> None:
    """Approved, then paused for two hours: the person is asked again."""
    person = Posts()
    stage = ordering(person)
    live = stage.start()
    await stage.reach(live, "asking")
    live.pause()
    live.answer(await asked(person, 1), YES)
    await stage.reach(live, "paused")
    stage.clock.advance(7200)
    live.resume()
    live.answer(await asked(person, 2), YES)
    played = await stage.watch_to_end(live)
    assert played.ended == (True, True, "goal_reached")
    assert len(stage.effects) == 1


async def asked(person: Posts, times: int) -> Question:
    while len(person.questions) < times:
        await asyncio.sleep(0)
    return person.questions[-1]


@pytest.mark.parametrize(("once", "questions"), [(True, 2), (False, 1)])
async def test_a_press_that_did_nothing_needs_a_new_yes_unless_it_was_given_for_the_run(
    once: bool, questions: int
) -> None:
    person = Approves(once)
    stage = ordering(person, faults=[Fault(kind="no_effect", skill="place_order")])
    played = await stage.play()
    assert played.ended == (True, True, "goal_reached")
    assert (len(person.questions), len(stage.effects)) == (questions, 1)


# --- several at once


async def test_one_question_lists_every_critical_step_of_the_plan() -> None:
    post, person = Post(), Approves(doubt="happened")
    planner = Scripted(plan(letter("Ada"), letter("Grace"), final=True))
    played = await Stage(world=post, planner=planner, approver=person).play()
    assert post.letters == ["Ada", "Grace"]
    assert [question.says for question in person.questions if question.about == "approve"] == [
        ("Write to Ada", "Write to Grace")
    ]
    assert played.ended == (True, False, "plan_complete")


# --- four eyes


def seen_by_four(person: Approver) -> Stage:
    stage = ordering(person)
    return replace(stage, task=replace(stage.task, by="ada", agreement=Agreement(four_eyes=True)))


async def test_four_eyes_the_starters_yes_counts_for_nothing_and_anothers_does() -> None:
    person = Posts()
    stage = seen_by_four(person)
    live = stage.start()
    await stage.reach(live, "asking")
    question = await asked(person, 1)
    assert question.not_by == "ada"
    assert live.answer(question, replace(YES, by="ada")) == "ada started the run: another person must decide"
    assert stage.effects == ()
    assert live.answer(question, replace(YES, by="grace")) == ""
    assert (await stage.watch_to_end(live)).ended == (True, True, "goal_reached")
    assert len(stage.effects) == 1


async def test_four_eyes_an_approver_that_answers_as_the_starter_leaves_the_question_open() -> None:
    stage = seen_by_four(Approves(by="ada"))
    played = await stage.play()
    assert played.ended == (False, False, "rejected")
    assert played.result.final_detail == "place_order was not approved in time"
    assert stage.effects == ()


async def test_four_eyes_need_to_know_whose_the_first_two_are() -> None:
    stage = seen_by_four(Approves())
    with pytest.raises(TaskInvalid, match="four_eyes"):
        await replace(stage, task=replace(stage.task, by=" ")).play()
