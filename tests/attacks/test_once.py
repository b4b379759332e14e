"""Duplicate detection: no token, nonce, timestamp or fresh key makes the same order another one, and no probe is believed twice."""

import asyncio
from dataclasses import replace
from typing import get_args

import pytest

from benchmarks.approvals.token_shop import Fresh, TokenShop
from midcourse.agent.agent import Agent
from midcourse.config.settings import Settings
from midcourse.domain.approval import Decision, Question
from midcourse.domain.argument import Arguments
from midcourse.domain.budget import Approvals, Limits
from midcourse.domain.expectation import Expectation, Probe, SurfaceMatches
from midcourse.domain.plan import GLOBAL, Draft
from midcourse.domain.result import Result
from midcourse.domain.task import Task
from midcourse.ports.approver import Approver
from midcourse.ports.planner import PlanDraft, PlanningContext
from midcourse.testing import Approves, FakeClock, MemoryStore

LIMITS = Limits(max_calls=500, max_segments=500, max_replans=500, retry_delay_seconds=0.1, replan_interval_seconds=0.0)
THANKS = Expectation(checks=(SurfaceMatches(pattern="Thank you*"),))
LAMP = ("lamp", "1", "spring")
FRESH: tuple[Fresh, ...] = get_args(Fresh)


def order(evidence: str = "probe", sku: str = "lamp") -> Draft:
    probe = Probe(name="exists", arguments=(("sku", sku),)) if evidence == "probe" else None
    return Draft(zone="order", skill="order", expect=THANKS, probe=probe)


class Insists:
    """Places the order wherever it sees the form, as often as it is asked."""

    def __init__(self, evidence: str) -> None:
        self._step = order(evidence)

    async def plan(self, context: PlanningContext) -> PlanDraft:
        done = context.observation.surface.title.startswith("Thank you")
        return PlanDraft(verdict="done") if done else PlanDraft(steps=(self._step,), final=False)


class Shops:
    """Orders one thing after the other: a change on the page, then the order, for each change of the list."""

    def __init__(self, changes: list[Draft]) -> None:
        self._left = [step for change in changes for step in (change, order("person"))]

    async def plan(self, context: PlanningContext) -> PlanDraft:
        return PlanDraft(steps=(self._left.pop(0),), final=False) if self._left else PlanDraft(verdict="done")


class SendsAgain(Approves):
    """Says yes also to a repetition, so often."""

    def __init__(self, times: int) -> None:
        super().__init__(doubt="happened")
        self._times = times

    async def ask(self, question: Question) -> Decision | None:
        answer = await super().ask(question)
        if question.about != "repeat" or self._times == 0:
            return answer
        self._times -= 1
        return Decision(verdict="send_again", by="testing")


def run(world: TokenShop, planner: object, person: Approver, approvals: Approvals, limits: Limits = LIMITS) -> Result:
    task = Task(goal="Order one lamp", limits=replace(limits, approvals=approvals))
    agent = Agent(
        world=world,
        planner=planner,  # pyrefly: ignore[bad-argument-type]
        approver=person,
        store=MemoryStore(),
        clock=FakeClock(),
        settings=Settings.load(),
    )
    return asyncio.run(agent.run(task))


@pytest.mark.parametrize("approvals", ["never", "always", "adaptive"])
@pytest.mark.parametrize("evidence", ["probe", "person"])
@pytest.mark.parametrize("fresh", FRESH)
def test_a_shop_that_stores_and_says_try_again_gets_one_order(
    fresh: Fresh, evidence: str, approvals: Approvals
) -> None:
    world, person = TokenShop(fresh), Approves(doubt="happened")
    result = run(world, Insists(evidence), person, approvals)
    assert world.orders == [LAMP]
    assert result.final_reason == "replan_no_change"
    assert ("repeat" in [question.about for question in person.questions]) == (approvals != "never")


def test_an_approval_for_the_run_does_not_send_a_repeat() -> None:
    world, person = TokenShop("token"), Approves(once=False, doubt="happened")
    run(world, Insists("person"), person, "always")
    assert world.orders == [LAMP]


def test_an_unreadable_form_counts_as_the_same() -> None:
    world, person = TokenShop("unnamed", rereadable=False), Approves(doubt="happened")
    run(world, Insists("person"), person, "always")
    assert world.orders == [LAMP]


def test_only_an_answer_to_that_question_sends_it_again_and_only_once() -> None:
    world, person = TokenShop("token"), SendsAgain(1)
    run(world, Insists("person"), person, "always")
    assert world.orders == [LAMP] * 2
    asked = [question for question in person.questions if question.about == "repeat"]
    assert len(asked) >= 2
    assert asked[0].earlier[0].finding == "exists"
    assert asked[0].earlier[0].at > 0
    assert asked[0].before[0] is not None, "it is compared with what was sent"


def test_what_a_person_says_did_not_happen_may_be_sent_again() -> None:
    world, person = TokenShop("token"), Approves(doubt="did_not_happen")
    run(world, Insists("person"), person, "never", replace(LIMITS, max_replans=3, max_error_replans=3))
    assert len(world.orders) > 1
    assert "repeat" not in [question.about for question in person.questions]


# --- controls: what is another order is sent


def changes(what: str, times: int) -> list[Draft]:
    def draft(number: int) -> Draft:
        if what == "sku":
            arguments: Arguments = (("sku", f"lamp-{number}"),)
            return Draft(zone=GLOBAL, skill="show", arguments=arguments)
        if what == "query":
            return Draft(zone=GLOBAL, skill="visit", arguments=(("campaign", f"{number}"),))
        return Draft(zone="quantity", skill="enter", arguments=(("text", f"{number}"),))

    return [draft(number) for number in range(times)]


@pytest.mark.parametrize("what", ["sku", "query", "quantity"])
@pytest.mark.parametrize("fresh", ["token", "unnamed", "key"])
def test_orders_that_differ_in_one_constant_or_typed_value_are_all_sent(what: str, fresh: Fresh) -> None:
    world, person = TokenShop(fresh, says="try_again"), Approves(doubt="happened")
    run(world, Shops(changes(what, 12)), person, "always")
    assert len(set(world.orders)) == len(world.orders) == 12
    assert "repeat" not in [question.about for question in person.questions]


# --- a probe that is wrong


@pytest.mark.parametrize("approvals", ["never", "always", "adaptive"])
@pytest.mark.parametrize("fresh", ["token", "unnamed"])
def test_a_probe_that_reports_absent_is_believed_once(fresh: Fresh, approvals: Approvals) -> None:
    world, person = TokenShop(fresh, probe_lies=True), Approves(doubt="stop")
    result = run(world, Insists("probe"), person, approvals)
    assert len(world.orders) == 2
    assert result.final_reason == "needs_human"
    asked = [question for question in person.questions if question.about == "happened"]
    assert len(asked) == 1
    assert [one.finding for one in asked[0].earlier] == ["reported_absent"] * 2
    assert asked[0].earlier[0].at < asked[0].earlier[1].at


def test_a_finding_of_a_person_counts_more_than_the_probe() -> None:
    world, person = TokenShop("token", probe_lies=True), Approves(doubt="happened")
    run(world, Insists("probe"), person, "always")
    assert len(world.orders) == 2
    repeats = [question for question in person.questions if question.about == "repeat"]
    assert repeats
    assert repeats[0].earlier[0].finding == "exists"
