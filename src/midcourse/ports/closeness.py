"""Port of the closeness judge: how near a screen is to a goal."""

from dataclasses import dataclass
from typing import Protocol

from midcourse.domain.budget import FREE, Cost
from midcourse.domain.detour import Goal
from midcourse.domain.observation import Observation
from midcourse.domain.task import Task
from midcourse.policy.detour.closeness import word_overlap


@dataclass(frozen=True, kw_only=True)
class JudgingContext:
    """A goal, and a state in which it does not hold as far as that can be checked."""

    task: Task
    goal: Goal
    observation: Observation
    worst: Cost = FREE
    """What was set aside for this call."""
    turn: int = 0
    """How often no model could be reached before: of several models, the next one is asked."""


@dataclass(frozen=True, kw_only=True)
class Closeness:
    """From 0, far away, to 10, there. A goal that can be checked is there only if the check says so."""

    value: float | None
    """None: no model could be reached."""
    detail: str = ""
    cost: Cost = FREE
    model: str = ""
    wait: float | None = None
    """Without a value: the judge could not be reached; ask again after this many seconds (0: unknown)."""


class ClosenessJudge(Protocol):
    async def judge(self, context: JudgingContext) -> Closeness: ...


class WordOverlap:
    """Without a model: the share of the goal's words that are on the screen."""

    async def judge(self, context: JudgingContext) -> Closeness:
        return Closeness(value=word_overlap(context.goal, context.observation))
