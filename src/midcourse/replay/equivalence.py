"""Equivalence of commands: whether two lists ask the same of the world, the planner and people. Also describes commands."""

from dataclasses import replace
from typing import assert_never

from midcourse.domain import commands, moves
from midcourse.domain.budget import FREE
from midcourse.replay.recorded import Commands


def find_end(issued: Commands) -> commands.Finish | None:
    return next((command for command in issued if isinstance(command, commands.Finish)), None)


def asks_person(issued: Commands) -> bool:
    return any(isinstance(command, commands.AskPerson) for command in issued)


def find_timeout(command: commands.Command) -> float:
    match command:
        case (
            commands.OpenWorld()
            | commands.Observe()
            | commands.MakePlan()
            | commands.Act()
            | commands.Verify()
            | commands.CheckDone()
            | commands.PlanTry()
            | commands.JudgeCloseness()
            | commands.PlanRevert()
            | commands.Advise()
        ):
            return command.timeout
        case commands.Wait() | commands.AskPerson() | commands.Record() | commands.Finish():
            return float("inf")
        case _:
            assert_never(command)


def normalize(issued: Commands) -> Commands:
    """The commands without ids, times and budgets, and without the timer of a question or a pause: only what others notice."""
    lasting = any(isinstance(command, commands.AskPerson | commands.Record) for command in issued)
    return tuple(
        _normalize_command(command) for command in issued if not (lasting and isinstance(command, commands.Wait))
    )


def _normalize_command(command: commands.Command) -> commands.Command:
    match command:
        case (
            commands.OpenWorld()
            | commands.Observe()
            | commands.Act()
            | commands.Verify()
            | commands.CheckDone()
            | commands.JudgeCloseness()
            | commands.PlanRevert()
        ):
            return replace(command, id=0, timeout=0.0)
        case commands.MakePlan() | commands.PlanTry() | commands.Advise():
            return replace(command, id=0, timeout=0.0, left=FREE)
        case commands.AskPerson():
            return replace(command, id=0, expires_at=0.0)
        case commands.Wait() | commands.Record() | commands.Finish():
            return replace(command, id=0)
        case _:
            assert_never(command)


# --- in words


def describe_difference(ours: Commands, theirs: Commands) -> str:
    match ours, theirs:
        case (commands.MakePlan(wrap_up=True) as mine,), (commands.MakePlan(wrap_up=False) as its,) if (
            replace(mine, wrap_up=False) == its
        ):
            return "the planner would have been told to wrap up"
        case (commands.MakePlan() as mine,), (commands.MakePlan() as its,) if (
            mine.version == its.version and mine.cause == its.cause
        ):
            return f"to {describe(its)}, the planner would have been told something else"
        case (commands.AskPerson(),), (commands.AskPerson(),):
            return "a person would have been asked about something else"
        case _:
            return f"it would {describe_commands(ours)} instead of {describe_commands(theirs)}"


def describe_commands(issued: Commands) -> str:
    return ", ".join(describe(command) for command in issued) or "do nothing yet"


def describe(command: commands.Command) -> str:
    """The command as words that can follow 'to'."""
    match command:
        case commands.OpenWorld():
            return "open the world"
        case commands.Observe():
            return "look"
        case commands.MakePlan():
            return f"make plan {command.version} ({command.cause})"
        case commands.Advise():
            return _describe_advice(command)
        case commands.Act():
            return f"do step {command.index + 1} of plan {command.version}"
        case commands.Verify():
            return f"find out whether step {command.index + 1} of plan {command.version} happened"
        case commands.PlanTry():
            return f"think up try {command.label} of a detour"
        case commands.JudgeCloseness():
            return "judge how near a detour's goal is"
        case commands.PlanRevert():
            return "take a try back"
        case commands.CheckDone():
            return "check whether the task is done"
        case commands.AskPerson():
            return "ask a person"
        case commands.Wait():
            return f"wait {command.seconds:g} s"
        case commands.Record():
            return "pause"
        case commands.Finish():
            return f"end as {command.reason}"
        case _:
            assert_never(command)


def _describe_advice(command: commands.Advise) -> str:
    match command.role:
        case "reflector":
            return f"have failure '{command.failure.reason if command.failure else ''}' explained"
        case "monitor":
            return f"have a monitor review {f'plan {command.version}' if command.version else 'the path'}"
        case "outliner":
            return "rewrite the outline" if command.outline else "write an outline"
        case "judge":
            return "judge how far the outline is"


def describe_end(end: commands.Finish | moves.End) -> str:
    return f"{end.reason}, {end.detail}"
