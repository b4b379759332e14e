"""Answers for commands that were lost with their worker or the world's session. A command without such an answer is repeated."""

from typing import assert_never

from midcourse.domain import commands, events
from midcourse.domain.budget import FREE, Cost


def answer_for_lost(command: commands.Command, worst: Cost) -> events.Event | None:
    """The answer that assumes the worst, at the full reservation; None if the command is repeated.

    An act may have happened, an observation showed nothing, a model may have been paid. Commands without cost or effect are
    repeated.
    """
    match command:
        case commands.Act():
            return events.Acted(answers=command.id, status="unknown", reason="lost", looked=True, cost=worst)
        case commands.Observe():
            return events.Observed(answers=command.id, reason="failed", detail="the look was lost", cost=worst)
        case commands.MakePlan():
            return events.Planned(
                answers=command.id, verdict="transport", detail="the planner's answer was lost", cost=worst
            )
        case commands.Advise():
            detail = f"the {command.role}'s answer was lost"
            return events.Advised(answers=command.id, role=command.role, verdict="transport", detail=detail, cost=worst)
        case commands.Verify():
            return events.Verified(answers=command.id, verdict="too_early", cost=worst)
        case commands.PlanTry():
            return events.TryPlanned(answers=command.id, verdict="transport", detail="the try was lost", cost=worst)
        case commands.JudgeCloseness():
            return events.ClosenessJudged(
                answers=command.id, verdict="transport", detail="the judge was lost", cost=worst
            )
        case commands.PlanRevert():
            return events.RevertPlanned(answers=command.id, detail="working out the way back was lost", cost=worst)
        case commands.CheckDone():
            return events.DoneChecked(answers=command.id, verdict="too_early", cost=worst)
        case commands.OpenWorld():
            return events.WorldOpened(answers=command.id, opened=False, detail="opening the world was lost", cost=worst)
        case commands.Wait() | commands.AskPerson() | commands.Record() | commands.Finish():
            return None
        case _:
            assert_never(command)


def answer_without_world(command: commands.Command, *, reopened: bool = False) -> events.Event:
    """The answer if the world's session is gone. Nothing was sent or spent. `reopened`: there is another one already."""
    detail = "the world's session is gone"
    match command:
        case commands.Observe():
            return events.Observed(answers=command.id, reason="world_lost", detail=detail)
        case commands.Verify():
            return events.Verified(answers=command.id, reason="world_lost", detail=detail)
        case commands.Act():
            return events.Acted(
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
