"""What is set aside for each call of a model, where the settings do not say: what this model can cost at most."""

from dataclasses import replace
from typing import Protocol, runtime_checkable

from midcourse.domain.budget import Cost, Limits
from midcourse.errors import TaskInvalid
from midcourse.policy.spending import MICRO


@runtime_checkable
class Priced(Protocol):
    """A planner that knows what a call of it can cost."""

    def worst(self, tokens: int) -> Cost:
        """Of at most so many tokens; 0: as many as it likes. No money: nobody knows the price."""
        ...


def reserving(limits: Limits, planner: object) -> Limits:
    """Raises `TaskInvalid` for a ceiling in money on a model without a known price."""
    if not isinstance(planner, Priced):
        return limits
    worst = planner.worst(limits.plan_tokens)
    dollars = limits.plan_cost_usd or worst.microusd / MICRO
    if limits.max_cost_usd is not None and not dollars:
        raise TaskInvalid(
            "max_cost_usd: nobody knows the price of this model; say what a call may cost with plan_cost_usd"
        )
    return replace(limits, plan_tokens=worst.tokens, plan_cost_usd=dollars)
