"""A session that ends with the order: signing in again shows whether the order exists, and no person is asked."""

import pytest

from midcourse.domain.approval import Decision
from midcourse.domain.expectation import Probe
from midcourse.domain.outcome import Outcome
from midcourse.domain.plan import GLOBAL, Draft
from midcourse.ports.planner import PlanDraft, PlanningContext
from midcourse.ports.world import Finding
from midcourse.testing import Answers, Approves
from midcourse.worlds.base import BaseWorld, Scene, Zone, probe, skill
from tests.scenarios.stage import AGAIN, FunctionPlanner, Stage, plan

ORDER_BLINDLY = Draft(zone=GLOBAL, skill="order", says="Place the order", transition=True)
ORDER = Draft(
    zone=GLOBAL, skill="order", says="Place the order", probe=Probe(name="ordered", arguments=()), transition=True
)
SIGN_IN = Draft(zone=GLOBAL, skill="sign_in", says="Sign in")


class Shop(BaseWorld):
    """A shop whose session ends with the first order, before or after it is stored."""

    def __init__(self, *, stores: bool, opens: bool = True) -> None:
        super().__init__()
        self.orders = 0
        self.signed_in = True
        self._stores = stores
        self._opens = opens

    def look(self) -> Scene:
        title = "Shop" if self.signed_in else "Sign in"
        return Scene(title, Zone(id="title", role="heading", label=title))

    @skill(effect="irreversible")
    def order(self) -> Outcome:
        self.orders += self._stores
        self._stores, self.signed_in = True, False
        return Outcome(status="unknown", reason="signed_out", detail="redirected to the sign-in")

    @skill
    def sign_in(self) -> None:
        self.signed_in = self._opens

    @probe
    def ordered(self) -> Finding:
        return "elsewhere" if not self.signed_in else "present" if self.orders else "absent"


def think(context: PlanningContext) -> PlanDraft:
    if context.observation.surface.title == "Sign in":
        return plan(SIGN_IN, AGAIN)
    ordered = any(step.says == ORDER.says for step in context.completed)
    return PlanDraft(verdict="done") if ordered else plan(ORDER, final=True)


@pytest.mark.parametrize("stored", [True, False])
async def test_the_run_signs_in_and_looks_before_it_asks(stored: bool) -> None:
    shop, approver = Shop(stores=stored), Approves()
    played = await Stage(world=shop, planner=FunctionPlanner(think), approver=approver).play()
    assert played.result.success
    assert shop.orders == 1
    assert {question.about for question in approver.questions} == {"approve"}


async def test_a_person_is_asked_once_signing_in_has_not_helped() -> None:
    shop, approver = Shop(stores=True, opens=False), Approves()
    await Stage(world=shop, planner=FunctionPlanner(think), approver=approver).play()
    assert shop.orders == 1
    assert [question.about for question in approver.questions] == ["approve", "happened"]


class ShopWithAccount(Shop):
    """A shop that stays on the page of the order when the session ends: the form to sign in is on another page."""

    def __init__(self, *, stores: bool, opens: bool = True) -> None:
        super().__init__(stores=stores, opens=opens)
        self.in_account = False
        self.sign_ins = 0

    def look(self) -> Scene:
        title = "Shop" if self.signed_in else "Sign in" if self.in_account else "Your cart is empty"
        return Scene(title, Zone(id="title", role="heading", label=title))

    @skill
    def open_account(self) -> None:
        self.in_account = True

    @skill
    def sign_in(self) -> None:
        self.sign_ins += 1
        self.signed_in = self._opens


def think_of_account(context: PlanningContext) -> PlanDraft:
    if context.observation.surface.title == "Your cart is empty":
        return plan(Draft(zone=GLOBAL, skill="open_account", says="Open the account"), AGAIN)
    return think(context)


@pytest.mark.parametrize("stored", [True, False])
async def test_the_run_opens_the_page_to_sign_in_and_signs_in_before_it_asks(stored: bool) -> None:
    """Found in pretix: one plan opens the customer's account, and only the next one can sign in there."""
    shop, approver = ShopWithAccount(stores=stored), Approves()
    played = await Stage(world=shop, planner=FunctionPlanner(think_of_account), approver=approver).play()
    assert played.result.success
    assert shop.orders == 1
    assert {question.about for question in approver.questions} == {"approve"}


async def test_a_person_is_asked_as_soon_as_a_plan_has_not_led_to_another_page() -> None:
    shop, approver = ShopWithAccount(stores=True, opens=False), Approves()
    await Stage(world=shop, planner=FunctionPlanner(think_of_account), approver=approver).play()
    assert (shop.orders, shop.sign_ins) == (1, 1)
    assert [question.about for question in approver.questions] == ["approve", "happened"]


def think_blindly(context: PlanningContext) -> PlanDraft:
    """As `think`, without a probe, and sure that it is done once it was tried."""
    if context.observation.surface.title == "Sign in":
        return plan(SIGN_IN, AGAIN)
    return PlanDraft(verdict="done") if context.version > 1 else plan(ORDER_BLINDLY, final=True)


async def test_without_a_probe_a_person_is_asked_only_before_it_ends() -> None:
    shop, approver = Shop(stores=True), Approves(doubt="happened")
    played = await Stage(world=shop, planner=FunctionPlanner(think_blindly), approver=approver).play()
    assert [question.about for question in approver.questions] == ["approve", "happened"]
    assert played.phases.index("planning") < len(played.phases) - 1 - played.phases[::-1].index("asking")
    assert (played.result.success, shop.orders) == (True, 1)


async def test_without_a_probe_a_plan_that_insists_is_refused_until_a_person_has_said_that_it_did_not_happen() -> None:
    def insist(context: PlanningContext) -> PlanDraft:
        if context.observation.surface.title == "Sign in":
            return plan(SIGN_IN, AGAIN)
        return plan(ORDER_BLINDLY, final=True)

    shop = Shop(stores=False)
    person = Answers(Decision(verdict="approved"), Decision(verdict="did_not_happen"), Decision(verdict="approved"))
    await Stage(world=shop, planner=FunctionPlanner(insist), approver=person).play()
    assert [question.about for question in person.questions][:3] == ["approve", "happened", "approve"]
    assert shop.orders == 1
