"""Budgets: the worst-case cost of a command is reserved before it is issued; ceilings and time limits end the run."""

from typing import Any

import pytest

from midcourse.domain.budget import Cost
from midcourse.domain.commands import Act, MakePlan, Observe, OpenWorld
from midcourse.domain.events import CancelAsked, Guided
from tests.harness import REPLAN_STEP, Drill, a_step

ONE = a_step("one")


def test_a_plan_reserves_its_worst_case_and_is_charged_what_it_cost() -> None:
    drill = Drill(plan_tokens=1000, plan_cost_usd=0.5, max_tokens=5000, max_cost_usd=2.0).to_planning()
    assert drill.run.budget.reserved == Cost(calls=1, tokens=1000, microusd=500_000)
    drill.plans(ONE, cost=Cost(calls=1, tokens=300, microusd=10))
    assert drill.run.budget.spent == Cost(calls=1, tokens=300, microusd=10)
    assert drill.run.budget.reserved == Cost()


def test_looks_and_acts_reserve_what_a_look_costs() -> None:
    drill = Drill(look_calls=2).to_acting(ONE, REPLAN_STEP)
    assert drill.run.budget.reserved.calls == 2
    drill.acts(cost=Cost(calls=2))
    assert drill.run.budget.reserved.calls == 2
    drill.sees("f2", cost=Cost(calls=2))
    assert drill.run.budget.spent.calls == 5


def test_a_command_beyond_the_budget_is_not_issued() -> None:
    drill = Drill(max_calls=1, ask_for_more=False).to_acting(ONE, REPLAN_STEP).acts().sees("f2")
    assert drill.ended == ("budget_exhausted", "1 of 1 calls are used, and the next command may take 1")
    assert len(drill.sent(MakePlan)) == 1


@pytest.mark.parametrize(
    ("limits", "detail"),
    [
        ({"max_tokens": 10, "plan_tokens": 11}, "0 of 10 tokens are used, and the next command may take 11"),
        ({"max_cost_usd": 0.1, "plan_cost_usd": 0.2}, "$0.00 of $0.10 are spent, and the next command may take $0.20"),
    ],
)
def test_tokens_and_money_end_a_run_too(limits: dict[str, Any], detail: str) -> None:
    assert Drill(**limits, ask_for_more=False).to_planning().ended == ("budget_exhausted", detail)


def test_an_answer_above_its_reservation_is_recorded_and_ends_the_run() -> None:
    drill = Drill().to_planning().plans(ONE, cost=Cost(calls=3))
    assert drill.ended[0] == "budget_exhausted"
    assert "more than was set aside" in drill.ended[1]
    assert drill.run.overrun == Cost(calls=2)
    assert drill.sent(Act) == []


def test_a_cost_without_a_ceiling_cannot_be_overrun() -> None:
    """A planner may report its tokens although there is no limit on them."""
    drill = Drill().to_acting(ONE, cost=Cost(calls=1, tokens=4000, microusd=900))
    assert drill.run.overrun == Cost()
    assert drill.run.budget.spent == Cost(calls=1, tokens=4000, microusd=900)
    assert drill.pending(Act)
    assert Drill(max_tokens=9000, plan_tokens=3000).to_acting(ONE, cost=Cost(calls=1, tokens=4000)).ended[0] == (
        "budget_exhausted"
    )


def test_a_negative_cost_counts_as_zero() -> None:
    drill = Drill().to_acting(ONE, cost=Cost(calls=-5, tokens=-1, microusd=-1))
    assert drill.run.budget.spent == Cost()


def test_the_reservation_of_a_command_that_is_given_up_counts_as_spent() -> None:
    drill = Drill(plan_tokens=7).to_planning().tell(CancelAsked())
    assert drill.run.budget.spent == Cost(calls=1, tokens=7)


def test_working_time_has_a_ceiling() -> None:
    drill = Drill(max_wall_seconds=100.0).to_planning().plans(ONE, after=99.0)
    assert drill.ended == ("budget_exhausted", "100 s of work are used up")


def test_a_command_may_take_no_longer_than_what_is_left() -> None:
    drill = Drill(max_wall_seconds=100.0, act_timeout_seconds=30.0).starts()
    assert drill.pending(OpenWorld).timeout == 60.0
    drill.opens()
    assert drill.pending(Observe).timeout == 60.0
    drill.sees("f1")
    assert drill.pending(MakePlan).timeout == 98.0
    drill.plans(ONE, after=90.0)
    assert drill.pending(Act).timeout == 8.0


def test_the_deadline_ends_the_run() -> None:
    drill = Drill(deadline_seconds=50.0).to_planning()
    assert drill.pending(MakePlan).timeout == 48.0
    assert drill.plans(ONE, after=48.0).ended == ("deadline_exceeded", "50 s have passed")


def test_near_a_ceiling_the_planner_is_told_to_wrap_up() -> None:
    drill = Drill(max_calls=4, wrap_up_at=0.5).to_acting(ONE, REPLAN_STEP).acts().sees("f2")
    assert [command.wrap_up for command in drill.sent(MakePlan)] == [False, False]
    drill.plans(ONE, REPLAN_STEP).acts("ok", fingerprint="f3").sees("f3")
    assert drill.pending(MakePlan).wrap_up
    assert drill.pending(MakePlan).left.calls == 2


def test_time_passes_with_every_event() -> None:
    drill = Drill().to_planning()
    before = drill.run.budget.active_seconds
    drill.tell(Guided(text="hm"), 5.0)
    assert drill.run.budget.active_seconds == before + 5.0


def test_time_beyond_the_timeout_of_a_command_is_not_working_time() -> None:
    """A worker died over it, and it took the engine a minute to find out."""
    drill = Drill(max_wall_seconds=50.0).to_planning()
    assert drill.pending(MakePlan).timeout == 48.0
    drill.plans(ONE, after=108.0)
    assert drill.run.budget.active_seconds == 50.0
    assert drill.ended == ("budget_exhausted", "50 s of work are used up")
