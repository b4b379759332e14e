"""A click that was not recognised as an order: what it would send is held, shown, and sent only as it was shown."""

from dataclasses import replace
from typing import Any

import pytest

from midcourse.domain.approval import CommitSet, Decision
from midcourse.domain.expectation import Expectation, TextContains
from midcourse.domain.observation import HELD_FOR
from midcourse.domain.outcome import Outcome
from midcourse.domain.plan import GLOBAL, Draft
from midcourse.domain.skill import Catalogue, Parameter
from midcourse.domain.task import Task
from midcourse.planners import SamePlan
from midcourse.ports.planner import PlanDraft
from midcourse.ports.world import Call
from midcourse.testing import Approves, Rejects, Scripted
from midcourse.testing.approvers import Answers
from midcourse.worlds.base import BaseWorld, Scene, Zone, skill
from tests.scenarios.stage import RUN, Played, Stage

ORDERED = Expectation(checks=(TextContains(text="Thank you"),))
CONTINUE = Draft(zone="b", skill="click", expect=ORDERED, transition=False)


class Page(BaseWorld):
    """Its button says 'Continue' and places an order: the way a browser's outbox holds it is here in a few lines."""

    def __init__(
        self,
        *,
        answer: Outcome | None = None,
        changes: bool = False,
        renamed: bool = False,
        redirects: int = 0,
        optimistic: bool = False,
    ) -> None:
        super().__init__()
        self.clicks = 0
        self.waiting: str | None = None
        self.sent: list[str] = []
        self.went: list[str] = []
        self._answer = answer
        self._changes = changes
        self._renamed = renamed
        self._redirects = redirects
        self._optimistic = optimistic
        """Whether the page hides its button and says thanks before anything was sent."""

    def look(self) -> Scene:
        if self._optimistic and self.waiting:
            return Scene(
                "Thank you", Zone(id="request1", role="request", label="POST /orders", state={HELD_FOR: "click"})
            )
        label = "Sending…" if self._renamed and self.waiting else "Continue"
        return Scene(
            "Thank you" if len(self.sent) > self._redirects and not self._answer else "Basket",
            Zone(id="b", role="button", label=label),
        )

    @skill(commit_set="commit_of_click")
    def click(self, zone: Zone) -> Outcome:
        self.clicks += 1
        self.waiting = "order=pens"
        return Outcome(status="no_effect", reason="would_send", detail="POST /orders")

    def commit_of_click(self, zone: Zone) -> CommitSet | None:
        if self.waiting is None:
            return None
        if self._changes:
            self.waiting += "!"
        return CommitSet(values=(("body", self.waiting),), address="POST /orders")

    @skill
    def navigate(self, url: str) -> None:
        self.went.append(url)

    def catalogue(self) -> Catalogue:
        known = super().catalogue()
        url = Parameter(name="url", destination=True, vouched=("http://shop/orders/*",))
        skills = tuple(replace(one, parameters=(url,)) if one.name == "navigate" else one for one in known.skills)
        return replace(known, skills=skills)

    async def commit_set(self, call: Call) -> CommitSet | None:
        if self._optimistic and self.waiting and call.skill == "click":
            return self.commit_of_click(Zone(id="b", role="button", label="Continue"))
        return await super().commit_set(call)

    async def act(self, call: Call) -> Outcome:
        if call.skill == "click" and self.waiting is not None:
            if not call.allowed:
                return Outcome(status="no_effect", reason="would_send")
            self.sent.append(self.waiting)
            if len(self.sent) <= self._redirects:
                self.waiting = f"order=pens, redirected {len(self.sent)} times"
                return Outcome(status="unknown", reason="would_send", detail="307")
            self.waiting = None
            return self._answer or Outcome()
        return await super().act(call)


async def played(world: Page, approver: Any, *steps: Draft, **settings: Any) -> Played:
    return await Stage(world=world, planner=SamePlan(steps or (CONTINUE,)), approver=approver, settings=settings).play()


async def test_the_person_sees_the_request_and_then_it_is_sent_without_a_second_click() -> None:
    world, person = Page(), Approves()
    assert (await played(world, person)).result.success
    assert (world.clicks, world.sent) == (1, ["order=pens"])
    (question,) = person.questions
    (shown,) = question.consequences
    assert (shown.effect, shown.commit.address, shown.commit.values) == (
        "irreversible",
        "POST /orders",
        (("body", "order=pens"),),
    )


async def test_a_button_renamed_by_the_click_is_still_the_approved_one() -> None:
    world, person = Page(renamed=True), Approves()
    assert (await played(world, person)).result.success
    assert (world.clicks, world.sent, len(person.questions)) == (1, ["order=pens"], 1)


async def test_a_button_hidden_by_the_click_is_still_the_approved_one() -> None:
    world, person = Page(optimistic=True, answer=Outcome(evidence="response")), Approves()
    assert (await played(world, person, replace(CONTINUE, expect=None))).result.success
    assert (world.clicks, world.sent, len(person.questions)) == (1, ["order=pens"], 1)


async def test_rejected_nothing_is_sent() -> None:
    world = Page()
    assert (await played(world, Rejects())).result.final_reason == "rejected"
    assert (world.clicks, world.sent) == (1, [])


async def test_a_page_that_says_thanks_for_what_was_rejected_does_not_reach_the_goal() -> None:
    world, task = Page(optimistic=True), Task(goal="Order pens", done_when=ORDERED)
    planner = Scripted(PlanDraft(steps=(CONTINUE,)), PlanDraft(verdict="done"))
    stage = Stage(world=world, planner=planner, approver=Rejects("Not today"), task=task)
    result = (await stage.play()).result
    assert world.sent == []
    assert (result.success, result.verified) == (False, False)
    assert "POST /orders has not been sent" in planner.contexts[-1].why


async def test_a_request_that_keeps_changing_is_never_sent() -> None:
    world, person = Page(changes=True), Approves()
    assert not (await played(world, person)).result.success
    assert world.sent == []


async def test_without_evidence_it_is_an_unknown_like_any_irreversible_act() -> None:
    world, person = Page(), Answers(Decision(verdict="approved"), Decision(verdict="stop"))
    result = (await played(world, person, replace(CONTINUE, expect=None))).result
    assert [question.about for question in person.questions] == ["approve", "happened"]
    assert result.final_reason == "needs_human"
    assert world.sent == ["order=pens"]


async def test_the_same_order_is_not_sent_by_a_second_click() -> None:
    world = Page()
    result = (await played(world, Approves(once=False), CONTINUE, CONTINUE)).result
    assert world.sent == ["order=pens"]
    assert not result.success


async def test_an_order_that_did_not_happen_is_clicked_and_shown_again() -> None:
    """Nothing waits any more by then: only another click can tell what would be sent."""
    yes, no = Decision(verdict="approved"), Decision(verdict="did_not_happen")
    world, person = Page(answer=Outcome()), Answers(yes, no, yes, Decision(verdict="stop"))
    await played(world, person, retry_delay_seconds=0.0)
    assert [question.about for question in person.questions] == ["approve", "happened", "approve", "happened"]
    assert {question.consequences[0].commit.address for question in person.questions} == {"POST /orders"}
    assert (world.clicks, world.sent) == (2, ["order=pens", "order=pens"])


@pytest.mark.parametrize(
    ("evidence", "asked"), [("rule", ["approve"]), ("", ["approve", "happened"]), ("probe", ["approve", "happened"])]
)
async def test_only_a_declared_rule_makes_the_worlds_word_evidence(evidence: Any, asked: list[str]) -> None:
    """'422 with field errors means not stored' decides it; a world that merely says so does not."""
    refused = Outcome(status="no_effect", reason="rejected_by_form", detail="quantity is missing", evidence=evidence)
    person = Answers(Decision(verdict="approved"), Decision(verdict="stop"))
    await played(Page(answer=refused), person)
    assert [question.about for question in person.questions[:2]] == asked


# --- what is redirected


async def test_what_a_server_asks_for_elsewhere_is_shown_before_it_is_sent() -> None:
    world, person = Page(redirects=1), Approves()
    stage = Stage(world=world, planner=SamePlan((CONTINUE,)), approver=person)
    assert (await stage.play()).result.success
    assert world.sent == ["order=pens", "order=pens, redirected 1 times"]
    assert [question.about for question in person.questions] == ["approve", "approve"]
    ledger = [entry for entry in await stage.store.ledger(RUN) if entry.dispatched_at is not None]
    assert [(entry.outcome.status, entry.outcome.reason) for entry in ledger if entry.outcome] == [
        ("unknown", "redirected"),
        ("ok", ""),
    ]
    assert len({entry.identity for entry in ledger}) == 2


async def test_one_approval_for_all_of_the_run_does_not_cover_where_it_is_redirected_to() -> None:
    world, person = Page(redirects=1), Answers(Decision(verdict="approved", once=False), Decision(verdict="rejected"))
    assert (await played(world, person)).result.final_reason == "rejected"
    assert world.sent == ["order=pens"]


async def test_what_was_redirected_may_have_happened_and_is_not_sent_again() -> None:
    yes, no = Decision(verdict="approved"), Decision(verdict="rejected", guidance="Try again")
    world, person = Page(redirects=1), Answers(yes, no, yes, yes, yes)
    await played(world, person, CONTINUE, CONTINUE)
    assert world.sent.count("order=pens") == 1


async def test_redirects_without_end_come_to_an_end() -> None:
    world = Page(redirects=100)
    assert not (await played(world, Approves(), max_calls=1)).result.success
    assert len(world.sent) <= 3


# --- destinations


def navigate(url: str) -> Draft:
    return Draft(zone=GLOBAL, skill="navigate", arguments=(("url", url),))


async def gone(url: str, approver: Any) -> Page:
    world = Page()
    task = Task(goal="See http://shop/help, then stop.", inputs=(("page", "http://shop/cart"),))
    await Stage(world=world, planner=SamePlan([navigate(url)]), approver=approver, task=task).play()
    return world


@pytest.mark.parametrize("url", ["http://shop/help", "http://shop/cart", "http://shop/orders/7"])
async def test_a_destination_that_somebody_vouches_for_needs_no_person(url: str) -> None:
    person = Rejects()
    assert (await gone(url, person)).went == [url]
    assert person.questions == []


@pytest.mark.parametrize(
    "url", ["http://shop/hel", "http://shop/help/../admin", "http://evil/?http://shop/help", "http://shop/orders"]
)
async def test_a_destination_that_only_the_plan_names_asks(url: str) -> None:
    person = Rejects()
    assert (await gone(url, person)).went == []
    assert [question.about for question in person.questions] == ["approve"]
    assert (await gone(url, Approves())).went == [url]
