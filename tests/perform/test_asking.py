"""The command AskPerson: what the approver is shown, and how the answer is used."""

from dataclasses import dataclass
from typing import Any

import pytest

from midcourse.domain.approval import Decision, OutcomeAnswer, Question
from midcourse.domain.commands import AskedStep, AskPerson
from midcourse.domain.events import ApprovalDecided, PersonAsked, Planned
from midcourse.domain.outcome import Outcome
from midcourse.domain.records.ledger import LedgerEntry
from midcourse.domain.replace import replace
from midcourse.domain.run import Run
from midcourse.perform import Performer
from midcourse.perform.asking import build_question
from midcourse.testing import Answers
from tests.harness import ORDER_PENS, Bench, draft

HAPPENED = OutcomeAnswer(version=1, index=1, happened=True, by="ada", command=7)
YES = Decision(verdict="approved", once=False, guidance="fine", by="ada")


@dataclass(kw_only=True)
class Told(Bench):
    """A bench whose run already has answers about outcomes."""

    answers: tuple[OutcomeAnswer, ...] = ()

    def first(self) -> Run:
        return replace(super().first(), outcome_answers=self.answers)


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


@pytest.mark.parametrize(("answers", "dropped"), [((), ("Say hello", "order Order")), ((HAPPENED,), ())])
async def test_what_a_person_confirmed_is_not_shown_as_dropped(
    answers: tuple[OutcomeAnswer, ...], dropped: tuple[str, ...]
) -> None:
    bench = Told(approver=Answers(YES), answers=answers)
    await bench.prepare()
    await bench.make_plan(draft("name", "fill", "Say hello", text="Ada"), ORDER_PENS)
    entry = LedgerEntry(command=7, version=1, index=1, call="order", seen="o101", outcome=Outcome(status="unknown"))
    await bench.store.write_ledger("run", entry)
    before = await bench.store.plan("run", 1)
    assert before is not None
    form = replace(before.steps[1], version=2, index=0, call="other", says="Send the form", skill="submit")
    await bench.store.save_plan(
        "run", replace(before, version=2, parent=1, cause="error", steps=(form,), made_by=before.made_by + 1)
    )
    asked = AskedStep(version=2, index=0, consequence="")
    question = await build_question(bench.ports, AskPerson(id=9, about="approve", steps=(asked,), expires_at=99.0))
    assert question.revision is not None
    assert (question.revision.dropped, question.revision.new) == (dropped, ("Send the form",))
