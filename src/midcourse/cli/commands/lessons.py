"""`midcourse lessons`: what failures taught, who may read it, and how to forget it."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

from rich.table import Table

from midcourse.app.home import LESSONS, open_home
from midcourse.cli.overrides import fleet_with, settings_with
from midcourse.cli.session.approver import user
from midcourse.cli.view.terminal import Terminal, print_object, terminal
from midcourse.cli.view.vocabulary import several
from midcourse.domain.records.lesson import Lesson
from midcourse.errors import TaskInvalid
from midcourse.ports.memory import Memory
from midcourse.store.sqlite_memory import SqliteMemory

SHORT_KEY = 8
A_PERSON = ""
"""Whose memory it is when a person asks: no agent's, so that nothing is read or written in an agent's name."""


def list_lessons(overrides: Sequence[str], *, durable: bool, json: bool) -> None:
    found = asyncio.run(_all(overrides, durable))
    where = terminal()
    if json:
        print_object([_plain(lesson) for lesson in found])
    elif not found:
        where.console.print("nothing has failed that could be learned from", soft_wrap=True)
    elif where.console.is_terminal:
        where.console.print(_table(found, where))
    else:
        for lesson in found:
            print("\t".join(where.marks.clean(text) for text in _cells(lesson)))


def show_lesson(name: str, overrides: Sequence[str], *, durable: bool, json: bool) -> None:
    found = asyncio.run(_named(name, overrides, durable))
    if json:
        print_object([_plain(lesson) for lesson in found])
        return
    where = terminal()
    for lesson in found:
        for word, text in _said(lesson):
            where.console.print(f"{word:11}{where.marks.clean(text)}", soft_wrap=True)


def share_lesson(name: str, agent: str, overrides: Sequence[str], *, durable: bool, yes: bool, json: bool) -> None:
    found = [one for one in asyncio.run(_named(name, overrides, durable)) if agent in ("", one.agent)]
    if len(found) != 1:
        agents = ", ".join(one.agent for one in found) or "no agent"
        raise TaskInvalid(f"{agents} has learned '{name}': say whose with --agent")
    if not yes:
        raise TaskInvalid(
            "read it first (midcourse lessons show), then say --yes: other agents' planners are told its words"
        )
    asyncio.run(_share(found[0], overrides, durable))
    if json:
        print_object({"shared": found[0].key, "agent": found[0].agent, "by": user()})
    else:
        terminal().console.print(f"shared as it is now; what {found[0].agent} learns later is not", soft_wrap=True)


def forget_lesson(name: str, overrides: Sequence[str], *, durable: bool, json: bool) -> None:
    key = asyncio.run(_named(name, overrides, durable))[0].key
    forgotten = asyncio.run(_forget(key, overrides, durable))
    if json:
        print_object({"forgotten": key, "lessons": forgotten})
    else:
        terminal().console.print(f"forgot {several(forgotten, 'lesson')}, and all numbers", soft_wrap=True)


# --- where they are


@asynccontextmanager
async def _opened(overrides: Sequence[str], durable: bool) -> AsyncGenerator[Memory]:
    if not durable:
        yield SqliteMemory(open_home(settings_with(overrides, "home").home) / LESSONS, agent=A_PERSON)
        return
    from midcourse.app.fleet.store import open_fleet_store

    _, settings = fleet_with(overrides)
    async with open_fleet_store(settings) as store:
        yield store.memory(A_PERSON)


async def _all(overrides: Sequence[str], durable: bool) -> tuple[Lesson, ...]:
    async with _opened(overrides, durable) as memory:
        return await memory.lessons()


async def _named(name: str, overrides: Sequence[str], durable: bool) -> list[Lesson]:
    """The lesson whose key begins so, as every agent knows it."""
    found = [lesson for lesson in await _all(overrides, durable) if lesson.key.startswith(name)]
    keys = {lesson.key for lesson in found}
    if len(keys) != 1:
        raise TaskInvalid(f"{len(keys) or 'no'} lessons begin with '{name}'; midcourse lessons lists them")
    return found


async def _share(lesson: Lesson, overrides: Sequence[str], durable: bool) -> None:
    async with _opened(overrides, durable) as memory:
        await memory.share(lesson.key, lesson.agent, user())


async def _forget(key: str, overrides: Sequence[str], durable: bool) -> int:
    async with _opened(overrides, durable) as memory:
        return await memory.forget(key)


# --- how they are shown


def _plain(lesson: Lesson) -> dict[str, object]:
    return {
        "lesson": lesson.key,
        "agent": lesson.agent,
        "signature": lesson.signature,
        "reason": lesson.reason,
        "category": lesson.category,
        "importance": lesson.importance,
        "tags": list(lesson.tags),
        "mended": lesson.track.mended,
        "unmended": lesson.track.unmended,
        "shared_by": lesson.shared_by,
        "untrusted": {"said": lesson.said.text, "root_cause": lesson.root_cause.text, "fix": lesson.fix.text},
    }


def _said(lesson: Lesson) -> list[tuple[str, str]]:
    mended, runs = lesson.track.mended, lesson.track.mended + lesson.track.unmended
    lines = [
        ("lesson", lesson.key),
        ("agent", f"{lesson.agent}, shared by {lesson.shared_by}" if lesson.shared_by else lesson.agent),
        ("signature", lesson.signature),
        ("category", lesson.category),
        ("mended", f"in {mended} of {several(runs, 'run')} that planned again"),
        ("it said", lesson.said.text),
        ("because", lesson.root_cause.text),
        ("fix", lesson.fix.text),
    ]
    return [(word, text) for word, text in lines if text]


def _cells(lesson: Lesson) -> tuple[str, ...]:
    mended, runs = lesson.track.mended, lesson.track.mended + lesson.track.unmended
    shared = f"shared by {lesson.shared_by}" if lesson.shared_by else ""
    return lesson.key[:SHORT_KEY], lesson.agent, f"{mended} of {runs}", shared, lesson.signature


def _table(found: Sequence[Lesson], where: Terminal) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for column in ("lesson", "agent", "mended", "shared", "signature"):
        table.add_column(column, no_wrap=column != "signature")
    for lesson in found:
        table.add_row(*(where.marks.clean(text) for text in _cells(lesson)))
    return table
