"""The command AskPerson: what the approver is shown, and how the answer is used."""

from typing import Any

import pytest

from midcourse.domain.approval import Decision, Question
from midcourse.domain.commands import AskedStep, AskPerson
from midcourse.domain.events import ApprovalDecided, PersonAsked, Planned
from midcourse.perform import Performer
from midcourse.testing import Answers
from tests.harness import ORDER_PENS, Bench, draft

YES = Decision(verdict="approved", once=False, guidance="fine", by="ada")


class Approver:
    def __init__(self, answer: Any) -> None:
        self.answer = answer

    async def ask(self, question: Question) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


async def ask(approver: Any, about: Any = "approve", **more: Any) -> tuple[Any, Planned]:
    bench = Bench(approver=approver)
    await bench.prepare()
    planned = await bench.make_plan(ORDER_PENS, draft("order", "submit", "Send the form"))
    asked = tuple(
        AskedStep(version=step.version, index=step.index, consequence=step.consequence)
        for step in planned.steps
        if step.consequence
    )
    command = AskPerson(id=9, about=about, steps=asked, expires_at=99.0, **more)
    return await Performer(bench.ports).perform(command), planned


async def test_a_person_sees_what_would_happen_in_full() -> None:
    approver = Answers(YES)
    await ask(approver, detail="look twice")
    (question,) = approver.questions
    assert (question.run, question.id, question.about, question.goal) == ("run", 9, "approve", "order pens")
    (first,) = question.consequences
    assert (first.skill, first.effect, first.origin) == ("order", "irreversible", "https://shop.test")
    assert first.target.label == "Order"
    assert first.commit.values == (("item", "pens"),)
    assert question.says == ("order Order",)
    assert (question.expires_at, question.detail, question.changed_from) == (99.0, "look twice", None)


async def test_a_person_is_asked_about_a_step_of_which_nothing_was_read() -> None:
    """It was lost before its commit set was known, and could not be barred: the step itself is all there is to show."""
    approver = Answers(YES)
    bench = Bench(approver=approver)
    await bench.prepare()
    planned = await bench.make_plan(draft("name", "fill", text="Ada"), draft("order", "submit", "Send the form"))
    assert planned.steps[1].consequence == ""
    asked = AskedStep(version=1, index=1, consequence="")
    await Performer(bench.ports).perform(AskPerson(id=9, about="happened", steps=(asked,), expires_at=99.0))
    (question,) = approver.questions
    assert (question.consequences[0].skill, question.consequences[0].target.label) == ("submit", "Order")
    assert question.says == ("Send the form",)


async def test_a_person_sees_what_has_changed() -> None:
    approver = Answers(YES, YES)
    _, planned = await ask(Answers(YES))
    await ask(approver, changed_from=planned.steps[0].consequence)
    (question,) = approver.questions
    assert question.changed_from is not None
    assert question.changed_from.commit.values == (("item", "pens"),)


async def test_a_decision_is_passed_on() -> None:
    event, planned = await ask(Answers(YES))
    shown = (planned.steps[0].consequence,)
    assert event == ApprovalDecided(question=9, verdict="approved", once=False, guidance="fine", by="ada", shown=shown)


async def test_no_decision_yet_means_later() -> None:
    event, _ = await ask(Answers(None))
    assert event == PersonAsked(answers=9)


@pytest.mark.parametrize(("about", "verdict"), [("approve", "rejected"), ("happened", "stop")])
@pytest.mark.parametrize(
    "answer",
    [
        RuntimeError("no terminal"),
        "yes",
        True,
        Decision(verdict="perhaps"),  # pyrefly: ignore[bad-argument-type]
        Decision(verdict="approved", guidance=None),  # pyrefly: ignore[bad-argument-type]
    ],
    ids=repr,
)
async def test_unhandled_means_denied(about: Any, verdict: str, answer: Any) -> None:
    event, _ = await ask(Approver(answer), about)
    assert isinstance(event, ApprovalDecided)
    assert event.verdict == verdict
    assert event.by


@pytest.mark.parametrize(
    ("about", "wrong", "verdict"), [("approve", "happened", "rejected"), ("happened", "approved", "stop")]
)
async def test_a_verdict_that_does_not_fit_the_question_is_a_no(about: Any, wrong: Any, verdict: str) -> None:
    event, _ = await ask(Answers(Decision(verdict=wrong)), about)
    assert event.verdict == verdict
