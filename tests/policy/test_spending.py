"""Budgets: whether the run can afford a command."""

from dataclasses import replace
from typing import Any

import pytest

from midcourse.domain.budget import Budget, Cost, Limits
from midcourse.domain.run import Counts, Run
from midcourse.policy.spending import (
    can_afford,
    compute_max_cost,
    convert_to_microusd,
    is_near_ceiling,
    is_past_deadline,
    remaining_cost,
    seconds_left,
    seconds_to_deadline,
    worst_plan,
)


def a_run(spent: Cost | None = None, reserved: Cost | None = None, **limits: Any) -> Run:
    budget = Budget(spent=spent or Cost(), reserved=reserved or Cost())
    return Run(id="run", limits=Limits(**limits), budget=budget, now=1000.0, started_at=1000.0)


def test_a_reservation_reduces_what_is_left() -> None:
    run = a_run(Cost(calls=20), Cost(calls=9), max_calls=30)
    assert remaining_cost(run).calls == 1
    assert can_afford(run, Cost(calls=1))
    assert not can_afford(run, Cost(calls=2))


def test_tokens_and_money_have_ceilings_only_if_set() -> None:
    much = Cost(tokens=10**12, microusd=10**15)
    assert can_afford(a_run(), much)
    assert not can_afford(a_run(max_tokens=10), Cost(tokens=11))
    assert can_afford(a_run(max_tokens=10), Cost(tokens=10))
    assert not can_afford(a_run(max_cost_usd=0.5), Cost(microusd=500_001))
    assert compute_max_cost(Limits(max_cost_usd=0.1)).microusd == 100_000


def test_a_plan_reserves_a_call_and_what_it_may_take() -> None:
    assert worst_plan(Limits()) == Cost(calls=1)
    assert worst_plan(Limits(plan_tokens=7, plan_cost_usd=0.02)) == Cost(calls=1, tokens=7, microusd=20_000)
    assert convert_to_microusd(0.1 + 0.2) == 300_000


@pytest.mark.parametrize(
    ("run", "near"),
    [
        (a_run(Cost(calls=7), max_calls=10), False),
        (a_run(Cost(calls=8), max_calls=10), True),
        (a_run(Cost(calls=5), Cost(calls=3), max_calls=10), True),
        (a_run(Cost(calls=5), max_calls=10, wrap_up_at=0.5), True),
        (a_run(Cost(tokens=80), max_tokens=100), True),
        (a_run(Cost(tokens=80)), False),
        (a_run(Cost(microusd=800_000), max_cost_usd=1.0), True),
        (replace(a_run(), counts=Counts(versions=16)), True),
        (replace(a_run(), counts=Counts(versions=15)), False),
        (replace(a_run(), budget=Budget(active_seconds=2880.0)), True),
    ],
)
def test_near_any_ceiling_the_planner_wraps_up(run: Run, near: bool) -> None:
    assert is_near_ceiling(run) is near


def test_time_is_bounded_by_work_and_by_the_deadline() -> None:
    run = replace(a_run(max_wall_seconds=60.0), budget=Budget(active_seconds=10.0))
    assert seconds_left(run) == 50.0
    assert seconds_to_deadline(run) == float("inf")
    assert not is_past_deadline(run)
    tight = replace(run, limits=replace(run.limits, deadline_seconds=30.0))
    assert seconds_left(tight) == 30.0
    late = replace(tight, now=1030.0)
    assert seconds_left(late) == 0.0
    assert is_past_deadline(late)


def test_costs_are_added_subtracted_and_compared() -> None:
    one, other = Cost(calls=1, tokens=2, microusd=3), Cost(calls=10, tokens=20, microusd=30)
    assert one.plus(other) == Cost(calls=11, tokens=22, microusd=33)
    assert one.plus(other).minus(other) == one
    assert one.within(other)
    assert not replace(one, microusd=31).within(other)
