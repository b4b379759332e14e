"""What a run cost, as `midcourse show` tells it."""

from midcourse.cli.commands.records.show import cost_lines
from midcourse.domain.budget import Cost, Spent


def list_cost_lines(*spent: Spent) -> list[str]:
    return [line.plain for line in cost_lines(spent)]


def test_every_role_plan_and_model_has_a_line():
    planner = Spent(role="planner", version=1, model="gpt-5", cost=Cost(calls=2, tokens=5830, microusd=12_100))
    assert list_cost_lines(planner, Spent(role="reader", cost=Cost(calls=1)), Spent(cost=Cost(calls=1, tokens=1))) == [
        "Spent",
        "  planner on plan 1 by gpt-5: 2 calls, 5830 tokens, $0.0121",
        "  reader: 1 call",
        "  lost or given up: 1 call, 1 token",
        "",
    ]


def test_run_without_costs_has_no_cost_lines():
    assert list_cost_lines() == []
