"""Before a person is asked whether something happened, a model looks at the screen, once."""

from dataclasses import replace
from typing import Any

import pytest

from midcourse.domain.budget import Cost
from midcourse.domain.commands import Act, AskPerson, Verify
from midcourse.domain.outcome import REFUSED_BY_SERVER
from midcourse.domain.phases import Asking, BackingOff, Verifying
from tests.harness import REPLAN_STEP, Drill, a_step

ORDER = a_step("order", "irreversible")


def doubted(
    step: Any = ORDER, *, reason: str = "no_evidence", run: dict[str, Any] | None = None, **limits: Any
) -> Drill:
    """An act is in doubt, and the rules have not decided it."""
    drill = Drill(approvals="never", **{"reads_words": True, **limits}).to_acting(step, REPLAN_STEP)
    drill.run = replace(drill.run, **(run or {}))
    return drill.acts("unknown", reason=reason).verifies("undecided", detail="there is no probe")


def reads(drill: Drill) -> list[bool]:
    return [check.reads for check in drill.sent(Verify)]


def test_a_model_is_asked_once_and_then_the_person() -> None:
    drill = doubted()
    assert isinstance(drill.phase, Verifying)
    assert reads(drill) == [False, True]
    assert drill.run.budget.reserved == Cost(calls=1)
    drill.verifies("undecided", detail="there is no probe", cost=Cost(calls=1))
    assert isinstance(drill.phase, Asking)
    assert drill.sent(AskPerson)[-1].detail == "there is no probe"
    drill.looks_again()
    assert reads(drill) == [False, True, False], "nothing is read while a person is asked"
    drill.decides("did_not_happen")
    assert reads(drill) == [False, True, False, False]


def test_what_it_has_seen_is_never_sent_again_and_asks_nobody() -> None:
    drill = doubted().verifies("happened", evidence="model", detail='the screen says now: "Order 7"')
    assert drill.run.counts.completed == 1
    assert drill.run.finished_irreversible == ("i-order",)
    assert (len(drill.sent(Act)), drill.sent(AskPerson)) == (1, [])


def test_the_rules_still_come_first() -> None:
    drill = doubted().verifies("too_early", seconds=3.0)
    assert isinstance(drill.phase, BackingOff)
    drill.waits().verifies("did_not_happen", evidence="probe")
    assert drill.sent(AskPerson) == []


@pytest.mark.parametrize(
    "without",
    [
        {"reads_words": False},
        {"max_calls": 2},  # one is used for the plan, and one more must stay for the next
        {"run": {"format": 3}},
        {"step": replace(ORDER, reads=True), "max_calls": 40},  # a model has read what it expects already
    ],
)
def test_otherwise_the_person_is_asked_at_once(without: dict[str, Any]) -> None:
    drill = doubted(**without)
    assert isinstance(drill.phase, Asking)
    assert not any(reads(drill))


def test_what_the_server_refused_is_not_asked_about() -> None:
    drill = doubted(reason=REFUSED_BY_SERVER)
    assert not any(reads(drill))
    assert drill.sent(AskPerson) == []
