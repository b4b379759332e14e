"""A run at a ceiling asks a person whether it may spend more, and spends exactly what was granted."""

from typing import Any

import pytest

from midcourse.domain.approval import Raise
from midcourse.domain.budget import Cost
from midcourse.domain.commands import Act, AskPerson, MakePlan, Observe, Verify
from midcourse.domain.events import ApprovalDecided, CancelAsked, PauseAsked, ResumeAsked, Resumed
from midcourse.domain.phases import Asking, Paused, Planning
from midcourse.domain.replace import replace
from midcourse.policy.spending import compute_ceiling
from tests.harness import REPLAN_STEP, Drill, a_step

ONE, ORDER = a_step("one"), a_step("order", "irreversible")
MONEY: dict[str, Any] = {"max_cost_usd": 0.5, "plan_cost_usd": 0.3}
SPENT = Cost(calls=1, microusd=300_000)


def at_the_ceiling(**more: Any) -> Drill:
    """A run that has spent $0.30 of $0.50, and whose next plan may cost as much."""
    return Drill(**(MONEY | more)).to_planning().plans(ONE, REPLAN_STEP, cost=SPENT).acts().sees("f2")


def test_a_run_that_cannot_pay_the_next_plan_asks_for_as_much_again() -> None:
    drill = at_the_ceiling()
    question = drill.pending(AskPerson)
    assert (question.about, question.steps) == ("more", ())
    assert question.more == Cost(microusd=500_000)
    assert question.detail == "$0.30 of $0.50 are spent, and the next command may take $0.30"
    assert len(drill.sent(MakePlan)) == 1


def test_after_a_yes_it_looks_and_makes_the_plan_that_it_could_not_pay() -> None:
    drill = at_the_ceiling().decides("spend_more", by="ada")
    assert drill.pending(Observe)
    drill.sees("f2")
    assert drill.pending(MakePlan).left == Cost(calls=29, tokens=2**62, microusd=700_000)
    assert drill.run.raises == (Raise(question=drill.sent(AskPerson)[0].id, more=Cost(microusd=500_000), by="ada"),)
    assert drill.run.counts.replans == 0
    assert drill.run.counts.extensions == 1, "it is the same plan, and not another"


def test_each_grant_is_asked_for_again() -> None:
    drill = at_the_ceiling().decides("spend_more").sees("f2").plans(ONE, REPLAN_STEP, cost=SPENT).acts().sees("f3")
    drill.plans(ONE, REPLAN_STEP, cost=SPENT).acts().sees("f4")
    assert isinstance(drill.phase, Asking)
    assert [question.more for question in drill.sent(AskPerson)] == [Cost(microusd=500_000)] * 2
    assert drill.decides("stop").ended[0] == "budget_exhausted"


@pytest.mark.parametrize(("by", "why"), [("ada", "more was not granted (ada)"), ("", "more was not granted")])
def test_a_no_ends_it_as_without_the_question(by: str, why: str) -> None:
    shortage = at_the_ceiling(ask_for_more=False).ended
    assert at_the_ceiling().decides("stop", by=by).ended == (shortage[0], f"{shortage[1]}; {why}")


def test_no_answer_in_time_ends_it() -> None:
    drill = at_the_ceiling().waits()
    assert drill.ended[0] == "budget_exhausted"
    assert drill.ended[1].endswith("more was not granted in time")


@pytest.mark.parametrize("limits", [{"ask_for_more": False}, {"approvals": "never"}])
def test_where_nobody_is_to_be_asked_it_ends_there(limits: dict[str, Any]) -> None:
    drill = at_the_ceiling(**limits)
    assert drill.ended == ("budget_exhausted", "$0.30 of $0.50 are spent, and the next command may take $0.30")
    assert drill.sent(AskPerson) == []


def test_a_run_of_an_earlier_format_ends_as_it_did() -> None:
    drill = Drill(**MONEY)
    drill.run = replace(drill.run, format=3)
    drill.to_planning().plans(ONE, REPLAN_STEP, cost=SPENT).acts().sees("f2")
    assert drill.ended[0] == "budget_exhausted"


@pytest.mark.parametrize("verdict", ["approved", "go_on", "send_again", "happened"])
def test_no_answer_to_another_question_raises_a_ceiling(verdict: str) -> None:
    drill = at_the_ceiling().decides(verdict)
    assert isinstance(drill.phase, Asking)
    assert drill.run.raises == ()


def test_only_the_amount_that_was_shown_is_granted() -> None:
    drill = at_the_ceiling().decides("spend_more", more=Cost(microusd=5_000_000))
    assert isinstance(drill.phase, Asking)
    assert drill.decides("spend_more", more=None).run.raises == ()


def test_an_approval_for_the_run_grants_no_money() -> None:
    drill = Drill(**MONEY).to_planning().plans(ORDER, REPLAN_STEP, cost=SPENT).decides("approved", once=False)
    drill.sees("f1").acts("ok").verifies("happened").sees("f2")
    assert drill.pending(AskPerson).about == "more"


@pytest.mark.parametrize(
    ("limits", "more"),
    [
        ({"max_calls": 1}, Cost(calls=1)),
        ({"max_tokens": 100, "plan_tokens": 60}, Cost(tokens=100)),
        ({"max_calls": 1, "max_cost_usd": 0.5, "plan_cost_usd": 0.3}, Cost(calls=1, microusd=500_000)),
    ],
)
def test_calls_and_tokens_are_asked_for_like_money(limits: dict[str, Any], more: Cost) -> None:
    spent = Cost(calls=1, tokens=60, microusd=300_000)
    drill = Drill(**limits).to_planning().plans(ONE, REPLAN_STEP, cost=spent).acts().sees("f2")
    assert drill.pending(AskPerson).more == more
    assert isinstance(drill.decides("spend_more").sees("f2").phase, Planning)


def test_what_is_asked_for_is_enough_for_the_next_command() -> None:
    drill = Drill(max_cost_usd=0.1, plan_cost_usd=0.35).to_planning()
    assert drill.pending(AskPerson).more == Cost(microusd=350_000 - 100_000)
    assert isinstance(drill.decides("spend_more").sees("f1").phase, Planning)


def test_it_is_also_enough_for_the_look_that_follows_an_answer() -> None:
    drill = Drill(max_calls=2, look_calls=1).starts().opens().sees("f1", cost=Cost())
    drill.plans(ONE, REPLAN_STEP, cost=Cost(calls=1))
    assert drill.run.budget.spent == Cost(calls=1)
    drill.acts(cost=Cost(calls=1), fingerprint="f2")
    if not isinstance(drill.phase, Asking):
        drill.sees("f2", cost=Cost(calls=1))
    assert drill.pending(AskPerson).more == Cost(calls=2)
    drill.decides("spend_more").sees("f2", cost=Cost(calls=1))
    assert isinstance(drill.phase, Planning)


def test_a_step_that_was_approved_and_cannot_be_paid_is_not_sent_before_the_answer() -> None:
    drill = Drill(max_calls=1, look_calls=1).to_planning().plans(ORDER, cost=Cost(calls=1)).decides("approved")
    assert drill.pending(AskPerson).about == "more"
    assert drill.sent(Act) == []
    drill.decides("spend_more").sees("f1", cost=Cost(calls=1))
    assert drill.pending(Act).consequence == "c-order"


def test_a_doubt_does_not_wait_for_money() -> None:
    """What shows whether it happened may be gone when the answer comes, so that the check is made or the run ends, as before."""
    drill = Drill(**MONEY, approvals="always").to_planning().plans(ORDER, cost=SPENT).decides("approved").sees("f1")
    drill.acts("unknown")
    assert drill.pending(Verify)
    assert [question.about for question in drill.sent(AskPerson)] == ["approve"]


def test_a_late_yes_grants_nothing() -> None:
    drill = at_the_ceiling(approval_seconds=600.0)
    drill.decides("spend_more", after=601.0)
    assert drill.ended[0] == "budget_exhausted"
    assert drill.run.raises == ()


def test_nothing_is_asked_when_the_time_is_used_up_as_well() -> None:
    drill = Drill(**MONEY, max_wall_seconds=60.0).to_planning().plans(ONE, REPLAN_STEP, cost=SPENT).acts()
    assert drill.sees("f2", after=60.0).ended[0] == "budget_exhausted"
    assert drill.sent(AskPerson) == []


def test_the_person_who_started_it_grants_nothing_where_two_are_required() -> None:
    drill = at_the_ceiling()
    drill.run = replace(drill.run, not_by="ada")
    assert drill.decides("spend_more", by="Ada").run.raises == ()
    assert drill.decides("spend_more", by="bob").run.raises[0].by == "bob"


def test_the_question_can_be_cancelled_paused_and_outlives_its_process() -> None:
    assert at_the_ceiling().tell(CancelAsked()).ended[0] == "cancelled"
    paused = at_the_ceiling().tell(PauseAsked()).decides("spend_more")
    assert isinstance(paused.phase, Paused)
    assert isinstance(paused.tell(ResumeAsked()).sees("f2").phase, Planning)
    resumed = at_the_ceiling().tell(Resumed(world="kept"))
    assert isinstance(resumed.decides("spend_more").sees("f2").phase, Planning)


def test_a_run_is_not_near_a_ceiling_that_was_raised() -> None:
    drill = at_the_ceiling(wrap_up_at=0.6).decides("spend_more").sees("f2")
    assert compute_ceiling(drill.run).microusd == 1_000_000
    assert not drill.pending(MakePlan).wrap_up


def test_a_yes_to_an_earlier_question_grants_nothing_now() -> None:
    drill = at_the_ceiling()
    first = drill.pending(AskPerson)
    drill.decides("spend_more").sees("f2")
    drill.tell(ApprovalDecided(question=first.id, verdict="spend_more", more=first.more))
    assert len(drill.run.raises) == 1
