"""Port of the progress judge: which goal of an outline is the current one on this screen."""

from dataclasses import dataclass
from typing import Literal, Protocol

from midcourse.domain.budget import FREE, Cost
from midcourse.domain.observation import Observation
from midcourse.domain.outline import Outline
from midcourse.domain.task import Task
from midcourse.policy.advice.outline import find_evidence
from midcourse.ports.planner import ONE_CALL


@dataclass(frozen=True, kw_only=True)
class ProgressContext:
    """An outline with its finished goals, and the screen to judge it by. The judge is not told what the run did."""

    task: Task
    outline: Outline
    observation: Observation
    worst: Cost = ONE_CALL


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """A judgement of progress: `current` is the number of the current goal, from 1; one more than the last if all are reached.

    `evidence` quotes the screen. Without evidence that is on the screen, the judgement has no effect.
    """

    verdict: Literal["judged", "transport"] = "judged"
    current: int = 0
    evidence: str = ""
    detail: str = ""
    cost: Cost = FREE
    model: str = ""


class ProgressJudge(Protocol):
    async def judge(self, context: ProgressContext) -> Judgement: ...


class WordsSeen:
    """A judge without a model: a goal is reached if all its words are on the screen. It never goes back."""

    async def judge(self, context: ProgressContext) -> Judgement:
        outline, seen = context.outline, context.observation
        current, evidence = outline.current, ""
        for number, goal in enumerate(outline.goals[outline.finished :], outline.current):
            if found := find_evidence(goal, seen):
                current, evidence = number + 1, found
        return Judgement(current=current, evidence=evidence)
