"""Two ways to plan, on the same recorded situations: another model, another prompt, or what was recorded.

Nothing is carried out. A draft is judged as a run would judge it before its first step: what of it is left for what was
visible. Whether it would have led anywhere, nobody knows, and nothing here says so.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from midcourse.app.models.roles import build_planner, recorded_situations
from midcourse.app.settings.run import Settings
from midcourse.domain.budget import FREE, Cost
from midcourse.domain.event import PlanVerdict
from midcourse.domain.plan import REPLAN, Step
from midcourse.errors import TaskInvalid
from midcourse.policy.plan.horizon import Scope, resolve
from midcourse.ports.planner import PlanDraft, PlanningContext

RECORDED = "recorded"
"""The arm that asks nobody."""

Drafting: TypeAlias = Callable[[PlanningContext, PlanDraft], Awaitable[PlanDraft]]


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A draft, and what a run would make of it."""

    verdict: PlanVerdict
    detail: str
    drafted: int
    """Steps that were proposed, without `__replan__`."""
    steps: tuple[Step, ...]
    """What is left of them."""
    repairs: tuple[str, ...]
    cost: Cost

    @property
    def usable(self) -> bool:
        """A run would go on with it."""
        return bool(self.steps) if self.verdict == "steps" else self.verdict == "done"

    @property
    def comes_to(self) -> tuple[str, ...]:
        return (self.verdict, *(step.call for step in self.steps))


@dataclass(frozen=True, kw_only=True)
class Compared:
    cause: str
    surface: str
    a: Judged
    b: Judged

    @property
    def same(self) -> bool:
        """Both come to the same calls of the same skills on the same things."""
        return self.a.comes_to == self.b.comes_to


@dataclass(frozen=True, kw_only=True)
class Comparison:
    a: str
    b: str
    situations: tuple[Compared, ...]
    unanswered: int
    """Situations of the recording in which nobody was reached: the same question was put again."""


@dataclass(frozen=True, kw_only=True)
class Tally:
    usable: int
    cost: Cost


def tally(judged: Sequence[Judged]) -> Tally:
    cost = FREE
    for each in judged:
        cost = cost.plus(each.cost)
    return Tally(usable=sum(each.usable for each in judged), cost=cost)


async def compare(cassette: Path, a: str, b: str, settings: Settings) -> Comparison:
    """`a` and `b` are `MODEL`, `MODEL@PROMPT.md`, `@PROMPT.md` for the model of the settings, or `recorded`."""
    drafting = {name: _drafting(name, settings) for name in (a, b)}
    found = recorded_situations(cassette)
    answered = [(context, draft) for context, draft in found if draft.verdict != "transport"]
    if not answered:
        raise TaskInvalid(f"{cassette}: no situation was recorded in which a model planned")
    compared: list[Compared] = []
    for context, draft in answered:
        drafts = await asyncio.gather(*(drafting[name](context, draft) for name in (a, b)))
        one, other = (judge(each, context) for each in drafts)
        compared.append(Compared(cause=context.cause, surface=context.observation.surface.title, a=one, b=other))
    return Comparison(a=a, b=b, situations=tuple(compared), unanswered=len(found) - len(answered))


def judge(draft: PlanDraft, context: PlanningContext) -> Judged:
    view = Scope(task=context.task, observation=context.observation, catalogue=context.catalogue, beyond=context.beyond)
    left = resolve(draft.steps, draft.final, 1, view)
    return Judged(
        verdict=draft.verdict,
        detail=draft.detail,
        drafted=sum(step.zone != REPLAN for step in draft.steps),
        steps=tuple(step for step in left.steps if step.zone != REPLAN),
        repairs=(*draft.repairs, *left.repairs),
        cost=draft.cost,
    )


def _drafting(arm: str, settings: Settings) -> Drafting:
    if arm == RECORDED:
        return _as_recorded
    model, at, wording = arm.partition("@")
    planner = build_planner(model or settings.model, settings, wording=Path(wording) if at else None)

    async def draft(context: PlanningContext, _: PlanDraft) -> PlanDraft:
        try:
            return await asyncio.wait_for(planner.plan(context), settings.plan_timeout_seconds)
        except (TimeoutError, OSError) as error:
            return PlanDraft(verdict="transport", detail=f"{type(error).__name__}: {error}", cost=context.worst)

    return draft


async def _as_recorded(_: PlanningContext, draft: PlanDraft) -> PlanDraft:
    return draft
