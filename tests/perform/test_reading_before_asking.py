"""Pages that want a model to say that it happened, from the act to the end of the run. Orders are counted in the shop's own list."""

from dataclasses import replace
from typing import Any

import pytest

from midcourse.domain.commands import AskPerson, Verify
from midcourse.domain.expectation import Expectation, TextContains
from midcourse.domain.observation import Zone
from midcourse.domain.outcome import ANSWERED_WITH_ERROR, REFUSED_BY_SERVER, Outcome
from midcourse.domain.result import Result
from midcourse.ports.verifier import Verdict
from midcourse.presentation.result import sent_effects
from midcourse.testing import Approves, Scripted, ScriptedVerifier
from tests.harness import Bench, Shop, draft, steps

UNKNOWN = Outcome(status="unknown", reason="timeout")


class Page(Shop):
    """Shows some texts, and others once an order was tried, which it stores or not. It has no probe that could tell."""

    def __init__(self, after: tuple[str, ...], before: tuple[str, ...], answer: Outcome, *, stores: bool) -> None:
        super().__init__()
        self._show(*before)

        def order(item: str) -> Outcome:
            self._show(*before, *after)
            self.orders += [item] if stores else []
            return answer

        self.on_order = order
        self.findings = [None] * 99

    def _show(self, *texts: str) -> None:
        self.zones = [Zone(id=f"t{n}", role="text", label=text) for n, text in enumerate(texts)]


async def order_on(
    *after: str,
    quote: str | None,
    before: tuple[str, ...] = (),
    answer: Outcome = UNKNOWN,
    stores: bool = True,
    **more: Any,
) -> tuple[Bench, Result, ScriptedVerifier]:
    """Order once. If a person is asked, they say that it happened."""
    page = Page(after, before, answer, stores=stores)
    verifier = ScriptedVerifier(Verdict(holds=quote is not None, quote=quote or ""))
    plan = steps(draft("order", "order", item="blue pens", **more), final=True)
    approver = Approves(doubt="happened", by="ada")
    bench = Bench(world=page, planner=Scripted(plan), verifier=verifier, approver=approver).with_limits(
        reads_words=True
    )
    result = await bench.run()
    assert len(page.orders) == int(stores)
    return bench, result, verifier


def was_asked(bench: Bench) -> bool:
    return any(command.about == "happened" for command in bench.commands(AskPerson))


async def test_new_words_of_the_page_spare_the_question_and_verify_nothing() -> None:
    bench, result, verifier = await order_on("Your order was placed", quote="your order was placed")
    assert not was_asked(bench)
    assert (result.success, result.verified, len(verifier.claims)) == (True, False, 1)
    assert verifier.claims[0].happened
    assert verifier.claims[0].before is not None
    (sent,) = await sent_effects(bench.store, "run")
    assert (sent.happened, sent.evidence) == (
        True,
        'seen by the model, not verified: the screen says now: "your order was placed"',
    )


@pytest.mark.parametrize(
    ("name", "case"),
    [
        ("it thanked before", {"before": ("Thank you",), "after": ("Thank you",), "quote": "Thank you"}),
        ("it repeats what was ordered", {"after": ("blue pens",), "quote": "blue pens"}),
        ("the words are made up", {"after": ("Please wait",), "quote": "Your order was placed"}),
        ("success beside a refusal", {"after": ("Order placed", "Card declined"), "quote": "Order placed"}),
        ("half of a refusal", {"after": ("Your order was not accepted",), "quote": "Your order was"}),
        ("no words", {"after": ("Your order was placed",), "quote": ""}),
        ("it says no", {"after": ("Your order was placed",), "quote": None}),
        (
            "an error was the answer",
            {
                "after": ("Your order was placed",),
                "quote": "Your order was placed",
                "answer": Outcome(reason=ANSWERED_WITH_ERROR, detail="POST /orders: 500"),
            },
        ),
    ],
)
async def test_otherwise_the_person_decides(name: str, case: dict[str, Any]) -> None:
    after = case.pop("after")
    bench, result, verifier = await order_on(*after, **case)
    assert was_asked(bench), name
    assert len(verifier.claims) == (0 if name == "an error was the answer" else 1)
    (sent,) = await sent_effects(bench.store, "run")
    assert (sent.happened, sent.evidence) == (True, "ada says that it happened")
    assert not result.completed[0].doubtful
    questions = [command.detail for command in bench.commands(AskPerson) if command.about == "happened"]
    assert not any("Your order" in detail for detail in questions), "the model's words are not shown as evidence"


async def test_a_refused_status_wins_over_a_page_that_says_it_worked() -> None:
    refused = replace(UNKNOWN, reason=REFUSED_BY_SERVER, detail="POST /orders: 422")
    bench, result, verifier = await order_on(
        "Your order was placed", quote="Your order was placed", answer=refused, stores=False
    )
    assert (verifier.claims, was_asked(bench)) == ([], False)
    assert not result.verified
    assert result.completed == ()


async def test_what_was_not_sent_did_not_happen_whatever_the_page_says() -> None:
    unsent = Outcome(status="no_effect", reason="offline", evidence="rule", claimed=True)
    bench, result, verifier = await order_on(
        "Your order was placed", quote="Your order was placed", answer=unsent, stores=False
    )
    assert (verifier.claims, was_asked(bench), result.completed) == ([], False, ())


async def test_a_model_that_reads_an_expectation_in_words_is_asked_no_second_time() -> None:
    expect = Expectation(says="the order is confirmed")
    bench, result, _ = await order_on("Your order was placed", quote="Order was placed", expect=expect)
    assert (was_asked(bench), result.verified) == (False, False)
    bench, _, verifier = await order_on("Please wait", quote="Please wait for us", expect=expect)
    assert was_asked(bench)
    assert not any(command.reads for command in bench.commands(Verify))
    assert len(verifier.claims) == 2


async def test_an_unmet_expectation_is_named_in_the_question_although_a_model_looked() -> None:
    expect = Expectation(checks=(TextContains(text="Receipt"),))
    bench, _, _ = await order_on("Please wait", quote=None, expect=expect)
    assert isinstance(bench.approver, Approves)
    question = bench.approver.questions[-1]
    assert question.appeared == ("Please wait",)
    assert question.unmet == ("expected the text 'Receipt': that is not to be seen",)
