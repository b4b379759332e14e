"""Costs are booked by role, plan and model, add up, and stay short."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midcourse.domain.budget import FREE, Cost, Spent, total
from midcourse.policy.spending import MOST_LINES, add_costs

costs = st.builds(Cost, calls=st.integers(0, 9), tokens=st.integers(0, 10**6), microusd=st.integers(0, 10**6))
spendings = st.builds(
    Spent,
    role=st.sampled_from(["planner", "verifier", ""]),
    version=st.integers(0, 100),
    model=st.sampled_from(["a", "b"]),
    cost=costs,
)


@pytest.mark.slow
@given(st.lists(spendings, max_size=200))
def test_booked_costs_add_up_in_a_bounded_number_of_lines(all_of_it: list[Spent]):
    lines: tuple[Spent, ...] = ()
    for spent in all_of_it:
        lines = add_costs(lines, (spent,))
        assert len(lines) <= MOST_LINES
    assert total(lines) == total(tuple(all_of_it))
    assert len({(line.role, line.version, line.model) for line in lines}) == len(lines)


def test_the_same_role_plan_and_model_is_one_line():
    one = Spent(role="planner", version=1, model="m", cost=Cost(calls=1, tokens=100))
    assert add_costs(add_costs((), (one,)), (one,)) == (
        Spent(role="planner", version=1, model="m", cost=Cost(calls=2, tokens=200)),
    )


def test_free_calls_have_no_line():
    assert add_costs((), (Spent(role="planner", cost=FREE),)) == ()


def test_the_earliest_plans_become_one_line():
    lines: tuple[Spent, ...] = ()
    for version in range(1, 101):
        lines = add_costs(lines, (Spent(role="planner", version=version, cost=Cost(calls=1)),))
    assert max(line.version for line in lines) == 100
    assert next(line.cost.calls for line in lines if not line.version) == 101 - MOST_LINES
