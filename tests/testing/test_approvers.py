"""The stand-ins for people answer what they are asked."""

import asyncio
from dataclasses import replace

import pytest

from midcourse.domain.approval import Decision
from midcourse.ports.approver import Approver
from midcourse.testing import Answers, Approves, Posts, Rejects, Silent
from midcourse.testing.conformance.approver import APPROVE, HAPPENED, ApproverConformance, check_decision


class TestApproves(ApproverConformance):
    def make_approver(self) -> Approver:
        return Approves()


class TestRejects(ApproverConformance):
    def make_approver(self) -> Approver:
        return Rejects("do it tomorrow")


class TestPosts(ApproverConformance):
    def make_approver(self) -> Approver:
        return Posts()


class TestAnswersThatRunOut(ApproverConformance):
    def make_approver(self) -> Approver:
        return Answers()


async def test_an_approver_approves_once_or_for_the_run():
    assert await Approves().ask(APPROVE) == Decision(verdict="approved", once=True, by="testing", all_values=True)
    assert await Approves(once=False).ask(APPROVE) == Decision(
        verdict="approved", once=False, by="testing", all_values=True
    )


async def test_an_approver_does_not_make_up_what_happened():
    assert await Approves().ask(HAPPENED) == Decision(verdict="stop", by="testing")
    assert await Approves(doubt="did_not_happen").ask(HAPPENED) == Decision(verdict="did_not_happen", by="testing")


async def test_rejecting_says_what_to_do_instead():
    decision = await Rejects("use the other account").ask(APPROVE)
    assert decision == Decision(verdict="rejected", guidance="use the other account", by="testing")


async def test_answers_come_in_order_and_run_out():
    first, second = Decision(verdict="approved"), Decision(verdict="rejected")
    approver = Answers(first, second)
    later = replace(APPROVE, id=8)
    assert [await approver.ask(APPROVE), await approver.ask(later), await approver.ask(APPROVE)] == [
        first,
        second,
        None,
    ]
    assert approver.questions == [APPROVE, later, APPROVE]


async def test_a_silent_approver_never_answers():
    approver = Silent()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(approver.ask(APPROVE), 0.05)
    assert approver.questions == [APPROVE]


async def test_a_posted_question_is_kept():
    approver = Posts()
    assert await approver.ask(APPROVE) is None
    assert approver.questions == [APPROVE]


def test_the_suite_tells_an_answer_that_does_not_fit():
    check_decision(HAPPENED, Decision(verdict="happened"))
    with pytest.raises(AssertionError, match="does not answer 'happened'"):
        check_decision(HAPPENED, Decision(verdict="approved"))
    with pytest.raises(AssertionError, match="a Decision or None"):
        check_decision(APPROVE, True)


def test_the_suite_tells_an_approver_that_does_not_answer():
    class TooSlow(ApproverConformance):
        patience = 0.05

        def make_approver(self) -> Approver:
            return Silent()

    TooSlow().test_asking_can_be_given_up()
    with pytest.raises(TimeoutError):
        TooSlow().test_may_this_be_done()
