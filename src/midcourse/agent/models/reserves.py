"""Reserves for model calls: the maximum cost of one call, if the settings do not set it."""

from dataclasses import replace
from typing import Protocol

from midcourse.agent.models.roles import ROLES, RoleModels
from midcourse.domain.budget import Cost, Limits
from midcourse.errors import TaskInvalid
from midcourse.policy.spending import MICRO
from midcourse.ports.abilities import offers


class Priced(Protocol):
    """A role that knows what a call can cost."""

    def worst(self, tokens: int) -> Cost:
        """The maximum cost of a call with this many tokens; 0: as many as the model accepts. Its money is 0 if the price is unknown."""
        ...


def with_call_reserves(limits: Limits, roles: RoleModels) -> Limits:
    """The limits with the reserve of the most expensive role, which counts for all.

    Raises `TaskInvalid` for a ceiling in money on a model without a known price, and for `vision` without a reader.
    """
    if limits.vision and roles.reader is None:
        raise TaskInvalid("vision: name the model that reads pictures, with model or role_models")
    reads = bool(roles.verifier or roles.extractor)
    limits = replace(limits, reads_words=reads if limits.reads_words is None else limits.reads_words and reads)
    answering = (getattr(roles, port) for port in ROLES)
    worst = [role.worst(limits.plan_tokens) for role in answering if offers(role, Priced)]
    if not worst:
        return limits
    dollars = limits.plan_cost_usd or max(cost.microusd for cost in worst) / MICRO
    if limits.max_cost_usd is not None and not dollars:
        raise TaskInvalid("max_cost_usd: the price of this model is unknown; set what a call may cost: plan_cost_usd")
    return replace(limits, plan_tokens=max(cost.tokens for cost in worst), plan_cost_usd=dollars)
