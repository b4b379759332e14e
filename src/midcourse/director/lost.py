"""What a command comes to if whoever performed it is gone. Total: there is an answer for every command."""

from typing import assert_never

from midcourse.domain.budget import Cost
from midcourse.domain.command import (
    Act,
    AskPerson,
    CheckDone,
    Command,
    DrawOutline,
    Finish,
    JudgeCloseness,
    JudgeProgress,
    MakePlan,
    Observe,
    OpenWorld,
    PlanRevert,
    PlanTry,
    Record,
    ReflectOn,
    ReviewPath,
    Verify,
    Wait,
)
from midcourse.domain.event import (
    Acted,
    ClosenessJudged,
    DoneChecked,
    Event,
    Observed,
    Outlined,
    PathReviewed,
    Planned,
    ProgressJudged,
    Reflected,
    RevertPlanned,
    TryPlanned,
    Verified,
    WorldOpened,
)


def lost(command: Command, worst: Cost) -> Event | None:
    """The answer that assumes the worst, at the full reservation; None if the command is simply done again.

    An act may have happened; a look showed nothing; a model may have been paid for. What costs nothing and changes
    nothing is repeated.
    """
    match command:
        case Act():
            return Acted(answers=command.id, status="unknown", reason="lost", looked=True, cost=worst)
        case Observe():
            return Observed(answers=command.id, reason="failed", detail="the look was lost", cost=worst)
        case MakePlan():
            return Planned(answers=command.id, verdict="transport", detail="the planner's answer was lost", cost=worst)
        case ReflectOn():
            return Reflected(answers=command.id, verdict="transport", detail="the reflection was lost", cost=worst)
        case ReviewPath():
            return PathReviewed(answers=command.id, verdict="transport", detail="the monitor was lost", cost=worst)
        case DrawOutline():
            return Outlined(answers=command.id, verdict="transport", detail="the outline was lost", cost=worst)
        case JudgeProgress():
            return ProgressJudged(answers=command.id, verdict="transport", detail="the judge was lost", cost=worst)
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
