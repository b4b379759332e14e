"""Conformance suite for approvers: inputs that each must accept, and the shape of its answers.

    class TestMine(ApproverConformance):
        def make_approver(self) -> Approver:
            return MyApprover()

An approver that waits for a person may take its time; one under test is given `patience` seconds.
"""

import asyncio
from dataclasses import replace

from midcourse.domain.approval import VERDICTS, CommitSet, Consequence, Decision, Earlier, Question
from midcourse.domain.argument import Reference
from midcourse.domain.budget import Cost
from midcourse.domain.plan import Target
from midcourse.ports.approver import Approver

ORDER = Consequence(
    skill="place_order",
    arguments=(("note", "leave at the door"), ("password", Reference(source="secret", name="shop_password"))),
    effect="irreversible",
    target=Target(surface="Catalogue", role="button", label="Place order"),
    origin="shop.example",
    commit=CommitSet(values=(("sku", "A-7"), ("quantity", 3), ("gift", False)), address="https://shop.example/orders"),
)
APPROVE = Question(
    run="r1",
    id=7,
    about="approve",
    goal="Order what the list says",
    consequences=(ORDER,),
    says=("Place the order",),
    expires_at=4_000_000_000.0,
)
HAPPENED = replace(APPROVE, about="happened", detail="the page said 504")
REPEAT = replace(APPROVE, about="repeat", earlier=(Earlier(at=1_800_000_000.0, finding="exists"),), before=(ORDER,))
ASKED = replace(APPROVE, about="question", consequences=(), says=(), detail="Which of the two accounts?")
MORE = replace(
    APPROVE,
    about="more",
    consequences=(),
    says=(),
    detail="$0.48 of $0.50 are spent, and the next command may take $0.05",
    more=Cost(microusd=500_000),
)
STUCK = replace(APPROVE, about="stuck", consequences=(), says=(), detail="fill failed: rejected")


class ApproverConformance:
    """Tests that every approver must pass. Subclass it as `Test…` and define `make_approver`."""

    patience = 5.0

    def make_approver(self) -> Approver:
        raise NotImplementedError("a conformance suite needs to know what to test")

    def test_may_this_be_done(self) -> None:
        self._answers(APPROVE)

    def test_may_all_of_these_be_done(self) -> None:
        self._answers(replace(APPROVE, consequences=(ORDER,) * 20, says=("Place the order",) * 20))

    def test_may_it_be_done_although_it_changed(self) -> None:
        was = replace(ORDER, commit=replace(ORDER.commit, values=(("sku", "A-7"), ("quantity", 1), ("gift", False))))
        self._answers(replace(APPROVE, changed_from=was))

    def test_did_it_happen(self) -> None:
        self._answers(HAPPENED)

    def test_should_it_be_sent_again(self) -> None:
        self._answers(REPEAT)

    def test_how_should_it_go_on(self) -> None:
        self._answers(STUCK)

    def test_may_it_spend_more(self) -> None:
        self._answers(MORE)

    def test_what_does_the_user_know(self) -> None:
        self._answers(ASKED)

    def test_text_that_is_hard_to_show(self) -> None:
        odd = "\x00\x1b[2J[red]\u202e\n"
        strange = replace(ORDER, target=Target(surface=odd, role="", label=odd), commit=CommitSet(values=((odd, odd),)))
        self._answers(replace(APPROVE, goal=odd, consequences=(strange,), says=("",), detail=odd))

    def test_a_question_that_has_expired(self) -> None:
        self._answers(replace(APPROVE, expires_at=0.0))

    def test_one_approver_is_asked_again_and_again(self) -> None:
        self._answers(APPROVE, HAPPENED, replace(APPROVE, id=8))

    def test_asking_can_be_given_up(self) -> None:
        approver = self.make_approver()

        async def give_up() -> None:
            asking = asyncio.create_task(approver.ask(APPROVE))
            await asyncio.sleep(0)
            asking.cancel()
            done, _ = await asyncio.wait([asking], timeout=self.patience)
            assert done, "an approver that is cancelled must stop asking"

        asyncio.run(give_up())

    def _answers(self, *questions: Question) -> None:
        approver = self.make_approver()

        async def ask() -> None:
            for question in questions:
                async with asyncio.timeout(self.patience):
                    check_decision(question, await approver.ask(question))

        asyncio.run(ask())


def check_decision(question: Question, decision: object) -> None:
    """Whether this answers the question, or leaves it open."""
    if decision is None:
        return
    assert isinstance(decision, Decision), f"an approver returns a Decision or None, not {decision!r}"
    fitting = VERDICTS[question.about]
    assert decision.verdict in fitting, f"'{decision.verdict}' does not answer '{question.about}': use one of {fitting}"
