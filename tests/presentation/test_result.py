"""What a person reads at the end of a run: what supports it, what nothing checked, and what to do next."""

from dataclasses import replace

import pytest

from midcourse.domain.budget import Cost
from midcourse.domain.outcome import CompletedStep, Evidence
from midcourse.domain.records.summary import Sending
from midcourse.domain.result import BudgetUsed, Result
from midcourse.presentation.result import describe_checks, describe_values, headline, suggest_next, tone_of

USED = BudgetUsed(
    calls=1, max_calls=9, segments=1, max_segments=9, replans=0, max_replans=9, error_replans=0, max_error_replans=9,
    tokens=0, max_tokens=None, cost_usd=0.0, max_cost_usd=None, wall_seconds=1.0, max_wall_seconds=9.0, overrun=Cost(),
)  # fmt: skip
ORDERED = Result(
    run="lamp",
    goal="Order one desk lamp",
    success=True,
    verified=False,
    final_reason="plan_complete",
    final_detail="",
    replans=0,
    extensions=0,
    steps=1,
    executions=1,
    planner_calls=1,
    wall_seconds=1.0,
    completed=(),
    attempts=(),
    budget=USED,
    sending="effects",
    shown_by="",
)
PLACED = CompletedStep(version=1, index=0, skill="click", target="Order", says="Place the order", irreversible=True)


@pytest.mark.parametrize(
    ("shown_by", "words"),
    [
        ("expectation", "done, and the screen shows it"),
        ("probe", "done, and a look afterwards found it"),
        ("response", "done, and it was accepted"),
        ("model", "done, and a model saw it on the screen"),
        ("person", "done, as a person says"),
        ("", "done, but nothing checked it"),
        (None, "done, not verified"),
    ],
)
def test_a_headline_says_what_supports_it(shown_by: Evidence | None, words: str) -> None:
    result = replace(ORDERED, shown_by=shown_by)
    assert (headline(result), tone_of(result)) == (words, "doubt")
    assert any("nothing" in line for line in describe_checks(result))


def test_a_step_in_doubt_outweighs_what_was_seen() -> None:
    result = replace(ORDERED, shown_by="expectation", completed=(replace(PLACED, doubtful=True),))
    assert headline(result) == "done, but a step may not have happened"


@pytest.mark.parametrize(
    ("sending", "sent"), [("nothing", "nothing was sent"), ("sign_in", "nothing but a sign-in was sent")]
)
def test_a_question_that_was_answered_is_no_unverified_order(sending: Sending, sent: str) -> None:
    result = replace(ORDERED, sending=sending, shown_by=None, answer="The mug, for 8 EUR.")
    assert (headline(result), tone_of(result)) == (f"answered; {sent}", "plain")
    assert describe_checks(result) == ("nothing checked the answer: it is what the model says",)
    assert suggest_next(result, False) == f"midcourse show {result.run} lists what it looked at"
    silent = replace(result, answer="")
    assert (headline(silent), tone_of(silent)) == (f"done, but nothing checked it; {sent}", "doubt")
    assert "--sends" in suggest_next(silent, False)


def test_an_effect_that_was_not_verified_is_looked_at_where_it_should_be() -> None:
    advice = suggest_next(ORDERED, False, "https://shop.example/orders")
    assert advice == "look yourself whether it is there: https://shop.example/orders; midcourse show lamp"
    assert suggest_next(replace(ORDERED, verified=True), False) == "midcourse show lamp"


def test_a_verified_run_says_by_what() -> None:
    found = replace(ORDERED, verified=True, shown_by="probe")
    assert (headline(found), describe_checks(found)) == (
        "done, and verified",
        ("it was looked up afterwards: what was sent last is there",),
    )
    assert describe_checks(replace(found, final_reason="goal_reached")) == ("the task's own check holds",)


def test_a_text_that_was_only_read_for_the_answer_is_cut_and_shown_once() -> None:
    page, given = "x" * 3_000, "y" * 300
    data = (("text", page), ("minutes", page), ("summary", given))
    result = replace(ORDERED, answer="On 9 February.", data=data, sources=(("summary", ""),))
    (names, shown), summary = describe_values(result)
    assert (names, len(shown) < 250, summary) == ("text, minutes", True, ("summary", given))
    assert "of 3000 characters: `midcourse show lamp --json` prints all" in shown
    assert [name for name, _ in describe_values(replace(result, answer=""))] == ["text", "minutes", "summary"]


def test_what_may_have_happened_is_not_called_a_failure_and_is_not_to_be_repeated() -> None:
    unclear = replace(ORDERED, success=False, final_reason="needs_human")
    assert headline(unclear) == "unclear: it may have happened"
    advice = suggest_next(unclear, unattended=False, page="https://shop.example/checkout/confirm")
    assert advice.startswith("first find out whether it happened")
    assert "checkout/confirm" not in advice  # there it could be done again
