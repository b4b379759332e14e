"""Whatever models report up to what was set aside for them, no run ends above any ceiling; a report above it ends the run.

What people granted belongs to the ceiling, and nothing else does.
"""

import asyncio
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from midcourse.agent.agent import Agent
from midcourse.config.settings import Settings
from midcourse.domain.approval import Decision, Question
from midcourse.domain.budget import FREE, Cost, total
from midcourse.domain.plan import REPLAN
from midcourse.domain.result import Result
from midcourse.domain.task import Task
from midcourse.policy.spending import compute_max_cost
from midcourse.ports.planner import PlanDraft, PlanningContext, PlanVerdict
from midcourse.testing import Approves, FakeClock, MemoryStore
from tests.harness import Shop, draft

LOT = Settings(max_segments=1000, max_replans=1000, max_error_replans=1000, max_wall_seconds=10**9, max_step_retries=2)


class Spender:
    """Plans, errs, is not to be reached, and reports any cost up to what was set aside; once in a while one above, if told to."""

    def __init__(self, seed: int, *, honest: bool) -> None:
        self._chance = Random(seed)
        self._honest = honest

    async def plan(self, context: PlanningContext) -> PlanDraft:
        chance, worst = self._chance, context.worst
        share = chance.choice((0.0, 1.0, chance.random()))
        cost = Cost(
            calls=chance.choice((0, worst.calls)),
            tokens=int(worst.tokens * share),
            microusd=int(worst.microusd * share),
        )
        if not self._honest and chance.random() < 0.2:
            cost = cost.plus(Cost(tokens=worst.tokens + 1))
        if chance.random() < 0.3:
            verdict: PlanVerdict = chance.choice(("garbage", "refused", "transport", "transport"))
            return PlanDraft(verdict=verdict, cost=cost, wait=chance.choice((None, 0.0, 20.0)), detail="no")
        return PlanDraft(steps=(draft("order", "nudge"), draft(REPLAN)), cost=cost)


class Grants(Approves):
    """Grants more so many times."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self._left = times
        self.granted = FREE

    async def ask(self, question: Question) -> Decision | None:
        if question.more is None or not self._left:
            return await super().ask(question)
        self._left -= 1
        self.granted = self.granted.plus(question.more)
        return Decision(verdict="spend_more", by="ada")


def spent_by(seed: int, *, honest: bool, calls: int, tokens: int, cents: int, grants: int = 0) -> tuple[Result, Cost]:
    chance = Random(seed)
    settings = Settings(
        max_calls=calls,
        max_tokens=tokens,
        max_cost_usd=cents / 100,
        plan_tokens=chance.randrange(1, 3000),
        plan_cost_usd=chance.randrange(1, 30) / 100,
        **{name: getattr(LOT, name) for name in LOT.model_fields_set},
    )
    approver = Grants(grants)
    agent = Agent(
        world=Shop(),
        planner=Spender(seed, honest=honest),
        approver=approver,
        settings=settings,
        store=MemoryStore(),
        clock=FakeClock(),
    )
    result = asyncio.run(agent.run(Task(goal="spend", limits=settings.limits())))
    return result, compute_max_cost(settings.limits()).plus(approver.granted)


ceilings = {"calls": st.integers(1, 30), "tokens": st.integers(1, 20_000), "cents": st.integers(1, 200)}


@given(seed=st.integers(0, 10**9), **ceilings)
def test_no_run_ends_above_a_ceiling(seed: int, calls: int, tokens: int, cents: int):
    result, most = spent_by(seed, honest=True, calls=calls, tokens=tokens, cents=cents)
    assert _spent(result).within(most)
    assert result.budget.overrun == FREE
    assert total(result.spent) == _spent(result)


@given(seed=st.integers(0, 10**9), grants=st.integers(1, 3), **ceilings)
def test_no_run_ends_above_a_ceiling_and_what_was_granted(seed: int, calls: int, tokens: int, cents: int, grants: int):
    result, most = spent_by(seed, honest=True, calls=calls, tokens=tokens, cents=cents, grants=grants)
    assert _spent(result).within(most)
    used = result.budget
    assert (used.max_calls, used.max_tokens, round((used.max_cost_usd or 0) * 1e6)) == (
        most.calls,
        most.tokens,
        most.microusd,
    )


@given(seed=st.integers(0, 10**9), **ceilings)
def test_a_report_above_what_was_set_aside_is_recorded_and_ends_the_run(seed: int, calls: int, tokens: int, cents: int):
    result, most = spent_by(seed, honest=False, calls=calls, tokens=tokens, cents=cents)
    if result.budget.overrun == FREE:
        assert _spent(result).within(most)
    else:
        assert result.final_reason == "budget_exhausted"
        assert _spent(result).minus(result.budget.overrun).within(most)


def _spent(result: Result) -> Cost:
    return Cost(calls=result.budget.calls, tokens=result.budget.tokens, microusd=round(result.budget.cost_usd * 1e6))
