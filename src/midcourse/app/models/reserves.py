"""What is set aside for each call of a model, where the settings do not say: what it can cost at most."""

from dataclasses import replace
from typing import Protocol, runtime_checkable

from midcourse.app.models.roles import Minds
from midcourse.domain.budget import Cost, Limits
from midcourse.errors import TaskInvalid
from midcourse.policy.spending import MICRO


@runtime_checkable
class Priced(Protocol):
    """Whoever knows what a call can cost."""

    def worst(self, tokens: int) -> Cost:
        """Of at most so many tokens; 0: as many as it likes. No money: nobody knows the price."""
        ...


def reserving(limits: Limits, minds: Minds) -> Limits:
    """The dearest role counts for all. Raises `TaskInvalid` for a ceiling in money on a model without a known price, and for
    pictures that nobody reads.
    """
    if limits.vision and minds.reader is None:
        raise TaskInvalid("vision: name the model that reads pictures, with model or role_models")
    reads = bool(minds.verifier or minds.extractor)
    limits = replace(limits, reads_words=reads if limits.reads_words is None else limits.reads_words and reads)
    roles = (
        minds.planner,
        minds.verifier,
        minds.extractor,
        minds.reader,
        minds.detour_planner,
        minds.closeness_judge,
        minds.outliner,
        minds.judge,
        minds.monitor,
        minds.reflector,
    )
    worst = [role.worst(limits.plan_tokens) for role in roles if isinstance(role, Priced)]
    if not worst:
        return limits
    dollars = limits.plan_cost_usd or max(cost.microusd for cost in worst) / MICRO
    if limits.max_cost_usd is not None and not dollars:
        raise TaskInvalid(
            "max_cost_usd: nobody knows the price of this model; say what a call may cost with plan_cost_usd"
        )
    return replace(limits, plan_tokens=max(cost.tokens for cost in worst), plan_cost_usd=dollars)
