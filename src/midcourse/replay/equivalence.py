"""Equivalence of commands: whether two lists ask the same of the world, the planner and people. Also describes commands."""

from dataclasses import replace
from typing import assert_never

from midcourse.domain.budget import FREE
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
from midcourse.domain.move import End
from midcourse.replay.recorded import Commands


def find_end(commands: Commands) -> Finish | None:
    return next((command for command in commands if isinstance(command, Finish)), None)


def asks_person(commands: Commands) -> bool:
    return any(isinstance(command, AskPerson) for command in commands)


def timeout_of(command: Command) -> float:
    match command:
        case OpenWorld() | Observe() | MakePlan() | Act() | Verify() | CheckDone():
            return command.timeout
        case PlanTry() | JudgeCloseness() | PlanRevert() | Advise():
            return command.timeout
        case Wait() | AskPerson() | Record() | Finish():
            return float("inf")
        case _:
            assert_never(command)


def normalize(commands: Commands) -> Commands:
    """The commands without ids, times and budgets, and without the timer of a question or a pause: only what others notice."""
    lasting = any(isinstance(command, AskPerson | Record) for command in commands)
    return tuple(_normalize_command(command) for command in commands if not (lasting and isinstance(command, Wait)))


def _normalize_command(command: Command) -> Command:
    match command:
        case OpenWorld() | Observe() | Act() | Verify() | CheckDone() | JudgeCloseness() | PlanRevert():
            return replace(command, id=0, timeout=0.0)
        case MakePlan() | PlanTry() | Advise():
            return replace(command, id=0, timeout=0.0, left=FREE)
        case AskPerson():
            return replace(command, id=0, expires_at=0.0)
        case Wait() | Record() | Finish():
            return replace(command, id=0)
        case _:
            assert_never(command)


# --- in words


def describe_difference(ours: Commands, theirs: Commands) -> str:
    match ours, theirs:
        case (MakePlan(wrap_up=True) as mine,), (MakePlan(wrap_up=False) as its,) if (
            replace(mine, wrap_up=False) == its
        ):
            return "the planner would have been told to wrap up"
        case (MakePlan() as mine,), (MakePlan() as its,) if mine.version == its.version and mine.cause == its.cause:
            return f"to {describe(its)}, the planner would have been told something else"
        case (AskPerson(),), (AskPerson(),):
            return "a person would have been asked about something else"
        case _:
            return f"it would {describe_commands(ours)} instead of {describe_commands(theirs)}"


def describe_commands(commands: Commands) -> str:
    return ", ".join(describe(command) for command in commands) or "do nothing yet"


def describe(command: Command) -> str:
    """The command as words that can follow 'to'."""
    match command:
        case OpenWorld():
            return "open the world"
        case Observe():
            return "look"
        case MakePlan():
            return f"make plan {command.version} ({command.cause})"
        case Advise():
            return _describe_advice(command)
        case Act():
            return f"do step {command.index + 1} of plan {command.version}"
        case Verify():
            return f"find out whether step {command.index + 1} of plan {command.version} happened"
        case PlanTry():
            return f"think up try {command.label} of a detour"
        case JudgeCloseness():
            return "judge how near a detour's goal is"
        case PlanRevert():
            return "take a try back"
        case CheckDone():
            return "check whether the task is done"
        case AskPerson():
            return "ask a person"
        case Wait():
            return f"wait {command.seconds:g} s"
        case Record():
            return "pause"
        case Finish():
            return f"end as {command.reason}"
        case _:
            assert_never(command)


def _describe_advice(command: Advise) -> str:
    match command.role:
        case "reflector":
            return f"have failure '{command.failure.reason if command.failure else ''}' explained"
        case "monitor":
            return f"have a monitor review {f'plan {command.version}' if command.version else 'the path'}"
        case "outliner":
            return "rewrite the outline" if command.outline else "write an outline"
        case "judge":
            return "judge how far the outline is"


def describe_end(end: Finish | End) -> str:
    return f"{end.reason}, {end.detail}"
