"""Port of the closeness judge: how close a screen is to a goal."""

from dataclasses import dataclass
from typing import Protocol

from midcourse.domain.budget import FREE, Cost
from midcourse.domain.detour import Goal
from midcourse.domain.observation import Observation
from midcourse.domain.task import Task
from midcourse.policy.detour.closeness import word_overlap


@dataclass(frozen=True, kw_only=True)
class JudgingContext:
    """A goal, and a state in which it does not hold as far as can be checked."""

    task: Task
    goal: Goal
    observation: Observation
    worst: Cost = FREE
    """The cost reserved for this call."""
    turn: int = 0
    """How often no model could be reached before: with several models, the next one is asked."""


@dataclass(frozen=True, kw_only=True)
class Closeness:
    """Closeness from 0 to 10, which means reached. A checkable goal is reached only if the check says so."""

    value: float | None
    """The closeness; None if no model could be reached."""
    detail: str = ""
    cost: Cost = FREE
    model: str = ""
    wait: float | None = None
    """If the judge could not be reached: seconds until it should be asked again; 0 if unknown."""


class ClosenessJudge(Protocol):
    """Judges how close the screen is to the goal of a detour, from 0 to 10."""

    async def judge(self, context: JudgingContext) -> Closeness: ...


class WordOverlap:
    """A judge without a model: the share of the goal's words that are on the screen."""

    async def judge(self, context: JudgingContext) -> Closeness:
        return Closeness(value=word_overlap(context.goal, context.observation))
