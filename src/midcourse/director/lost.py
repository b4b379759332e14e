"""Answers for commands that were lost with their worker or the world's session. A command without such an answer is repeated."""

from typing import assert_never

from midcourse.domain.budget import FREE, Cost
from midcourse.domain.command import (
    Act,
    Advise,
    AskPerson,
    CheckDone,
    Command,
    Finish,
    JudgeCloseness,
    MakePlan,
    Observe,
    OpenWorld,
    PlanRevert,
    PlanTry,
    Record,
    Verify,
    Wait,
)
from midcourse.domain.event import (
    Acted,
    Advised,
    ClosenessJudged,
    DoneChecked,
    Event,
    Observed,
    Planned,
    RevertPlanned,
    TryPlanned,
    Verified,
    WorldOpened,
)


def answer_for_lost(command: Command, worst: Cost) -> Event | None:
    """The answer that assumes the worst, at the full reservation; None if the command is repeated.

    An act may have happened, an observation showed nothing, a model may have been paid. Commands without cost or effect are
    repeated.
    """
    match command:
        case Act():
            return Acted(answers=command.id, status="unknown", reason="lost", looked=True, cost=worst)
        case Observe():
            return Observed(answers=command.id, reason="failed", detail="the look was lost", cost=worst)
        case MakePlan():
            return Planned(answers=command.id, verdict="transport", detail="the planner's answer was lost", cost=worst)
        case Advise():
            detail = f"the {command.role}'s answer was lost"
            return Advised(answers=command.id, role=command.role, verdict="transport", detail=detail, cost=worst)
        case Verify():
            return Verified(answers=command.id, verdict="too_early", cost=worst)
        case PlanTry():
            return TryPlanned(answers=command.id, verdict="transport", detail="the try was lost", cost=worst)
        case JudgeCloseness():
            return ClosenessJudged(answers=command.id, verdict="transport", detail="the judge was lost", cost=worst)
        case PlanRevert():
            return RevertPlanned(answers=command.id, detail="working out the way back was lost", cost=worst)
        case CheckDone():
            return DoneChecked(answers=command.id, verdict="too_early", cost=worst)
        case OpenWorld():
            return WorldOpened(answers=command.id, opened=False, detail="opening the world was lost", cost=worst)
        case Wait() | AskPerson() | Record() | Finish():
            return None
        case _:
            assert_never(command)


def answer_without_world(command: Command, *, reopened: bool = False) -> Event:
    """The answer if the world's session is gone. Nothing was sent or spent. `reopened`: there is another one already."""
    detail = "the world's session is gone"
    match command:
        case Observe():
            return Observed(answers=command.id, reason="world_lost", detail=detail)
        case Verify():
            return Verified(answers=command.id, reason="world_lost", detail=detail)
        case Act():
            return Acted(
                answers=command.id,
                status="no_effect",
                reason="not_dispatched" if reopened else "world_lost",
                detail=detail,
                dispatched=False,
                looked=False,
            )
        case _:
            answer = answer_for_lost(command, FREE)
            assert answer is not None, f"{command.kind} needs no world"
            return answer
