"""`midcourse lessons`: lists, shows, shares and forgets what runs learned from failures."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Annotated

import typer

from midcourse.cli.options import DurableOnly, Fleet, Json, Overrides, load_fleet_settings, load_settings, teach
from midcourse.domain.records.lesson import Lesson
from midcourse.errors import TaskInvalid
from midcourse.home.stores import open_lessons
from midcourse.ports.memory import Memory
from midcourse.presentation.vocabulary import pluralize
from midcourse.terminal.approver import user
from midcourse.terminal.output import print_object, print_outcome, terminal

SHORT_KEY = 8
COLUMNS = ("lesson", "agent", "fixed", "shared", "signature")
A_PERSON = ""
"""The agent name for access by a person: empty, so that nothing is read or written as one of the agents."""


commands = typer.Typer(
    invoke_without_command=True,
    epilog=teach(
        ("midcourse lessons", "what failed in this home, and how often a new plan fixed it"),
        ("midcourse lessons show 3f2a", "one of them, with everything that was reported"),
        ("midcourse lessons share 3f2a --yes", "let the planners of other agents read it, as it is now"),
        ("midcourse lessons forget 3f2a --durable", "the cause is gone: start counting again"),
    ),
)

LessonKey = Annotated[
    str, typer.Argument(metavar="LESSON", help="The key of the lesson, or the beginning of it.", show_default=False)
]


@commands.callback()
def list_lessons(context: typer.Context, set_: Fleet = None, durable: DurableOnly = False, json: Json = False) -> None:
    """List what runs learned from failures, the latest first; show, share or forget a lesson."""
    if context.invoked_subcommand is not None:
        return
    found = asyncio.run(_load_all(set_, durable))
    if json:
        print_object([_lesson_json(lesson) for lesson in found])
    else:
        none = "no lessons yet: nothing has failed that a lesson could be drawn from"
        terminal().print_rows(COLUMNS, map(_format_cells, found), none=none)


@commands.command()
def show(lesson: LessonKey, set_: Fleet = None, durable: DurableOnly = False, json: Json = False) -> None:
    """Show a lesson as every agent knows it.

    The error, the root cause and the fix are words of a world or of a model:
    they are not verified.
    """
    found = asyncio.run(_find_lesson(lesson, set_, durable))
    if json:
        print_object([_lesson_json(entry) for entry in found])
        return
    where = terminal()
    for entry in found:
        for word, text in _format_details(entry):
            where.say(f"{word:11}{text}")


@commands.command()
def share(
    lesson: LessonKey,
    agent: Annotated[
        str, typer.Option("--agent", metavar="NAME", help="The agent that learned it, if several did.")
    ] = "",
    yes: Annotated[
        bool,
        typer.Option("--yes", help="Confirm that you have read it and that other agents' planners may read its words."),
    ] = False,
    set_: Fleet = None,
    durable: DurableOnly = False,
    json: Json = False,
) -> None:
    """Let the planners of the tenant's other agents read a lesson as it is now.

    Without this, they only see how often a new plan helped. What its agent
    learns later is not shared.
    """
    found = [entry for entry in asyncio.run(_find_lesson(lesson, set_, durable)) if agent in ("", entry.agent)]
    if len(found) != 1:
        agents = ", ".join(entry.agent for entry in found) or "no agent"
        raise TaskInvalid(f"{agents} has learned '{lesson}': name the agent with --agent")
    if not yes:
        raise TaskInvalid(
            "read it first (midcourse lessons show), then add --yes: other agents' planners will read its words"
        )
    asyncio.run(_share(found[0], set_, durable))
    shared = {"shared": found[0].key, "agent": found[0].agent, "by": user()}
    print_outcome(shared, f"shared as it is now; what {found[0].agent} learns later is not", json=json)


@commands.command()
def forget(lesson: LessonKey, set_: Fleet = None, durable: DurableOnly = False, json: Json = False) -> None:
    """Forget a lesson for every agent, with all its numbers.

    Runs that would have stopped because of it will plan again.
    """
    key = asyncio.run(_find_lesson(lesson, set_, durable))[0].key
    forgotten = asyncio.run(_forget(key, set_, durable))
    what = f"forgot {pluralize(forgotten, 'lesson')}, and all numbers"
    print_outcome({"forgotten": key, "lessons": forgotten}, what, json=json)


# --- stores


@asynccontextmanager
async def _open_memory(overrides: Overrides, durable: bool) -> AsyncGenerator[Memory]:
    if not durable:
        yield open_lessons(load_settings(overrides, "home").home, agent=A_PERSON)
        return
    from midcourse.home.fleet_store import open_fleet_store

    _, settings = load_fleet_settings(overrides)
    async with open_fleet_store(settings) as store:
        yield store.memory(A_PERSON)


async def _load_all(overrides: Overrides, durable: bool) -> tuple[Lesson, ...]:
    async with _open_memory(overrides, durable) as memory:
        return await memory.lessons()


async def _find_lesson(name: str, overrides: Overrides, durable: bool) -> list[Lesson]:
    """The lesson with a key that begins with this name, as each agent knows it."""
    found = [lesson for lesson in await _load_all(overrides, durable) if lesson.key.startswith(name)]
    keys = {lesson.key for lesson in found}
    if len(keys) != 1:
        raise TaskInvalid(f"{len(keys) or 'no'} lessons begin with '{name}'; midcourse lessons lists them")
    return found


async def _share(lesson: Lesson, overrides: Overrides, durable: bool) -> None:
    async with _open_memory(overrides, durable) as memory:
        await memory.share(lesson.key, lesson.agent, user())


async def _forget(key: str, overrides: Overrides, durable: bool) -> int:
    async with _open_memory(overrides, durable) as memory:
        return await memory.forget(key)


# --- output


def _lesson_json(lesson: Lesson) -> dict[str, object]:
    return {
        "lesson": lesson.key,
        "agent": lesson.agent,
        "signature": lesson.signature,
        "reason": lesson.reason,
        "category": lesson.category,
        "error_type": lesson.error_type,
        "importance": lesson.importance,
        "tags": list(lesson.tags),
        "fixed": lesson.track.fixed,
        "not_fixed": lesson.track.not_fixed,
        "mended": lesson.track.fixed,  # these names go with the next version
        "unmended": lesson.track.not_fixed,
        "shared_by": lesson.shared_by,
        "untrusted": {
            "task": lesson.task.text,
            "said": lesson.said.text,
            "root_cause": lesson.root_cause.text,
            "fix": lesson.fix.text,
        },
    }


def _format_details(lesson: Lesson) -> list[tuple[str, str]]:
    fixed, runs = lesson.track.fixed, lesson.track.fixed + lesson.track.not_fixed
    lines = [
        ("lesson", lesson.key),
        ("agent", f"{lesson.agent}, shared by {lesson.shared_by}" if lesson.shared_by else lesson.agent),
        ("signature", lesson.signature),
        ("category", lesson.category),
        ("type", lesson.error_type),
        ("task", lesson.task.text),
        ("fixed", f"in {fixed} of {pluralize(runs, 'run')} that planned again"),
        ("error", lesson.said.text),
        ("because", lesson.root_cause.text),
        ("fix", lesson.fix.text),
    ]
    return [(word, text) for word, text in lines if text]


def _format_cells(lesson: Lesson) -> tuple[str, ...]:
    fixed, runs = lesson.track.fixed, lesson.track.fixed + lesson.track.not_fixed
    shared = f"shared by {lesson.shared_by}" if lesson.shared_by else ""
    return lesson.key[:SHORT_KEY], lesson.agent, f"{fixed} of {runs}", shared, lesson.signature
