"""`midcourse reuse`: what worked and is done again, and how to have it planned anew."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

from rich.table import Table

from midcourse.app.home import KEPT, open_home
from midcourse.cli.lookup.names import local_time
from midcourse.cli.overrides import fleet_with, settings_with
from midcourse.cli.view.terminal import Terminal, print_object, terminal
from midcourse.cli.view.vocabulary import argument, several
from midcourse.domain.records.plan_cache import KeptSegment
from midcourse.errors import TaskInvalid
from midcourse.ports.plan_cache import PlanCache
from midcourse.store.sqlite_plan_cache import SqlitePlanCache

SHORT_ID = 8


def list_kept(overrides: Sequence[str], *, durable: bool, json: bool) -> None:
    found = asyncio.run(_all(overrides, durable))
    where = terminal()
    if json:
        print_object([_plain(one) for one in found])
    elif not found:
        where.console.print("nothing is kept; runs with --set reuse=on keep what worked", soft_wrap=True)
    elif where.console.is_terminal:
        where.console.print(_table(found, where))
    else:
        for one in found:
            print("\t".join(where.marks.clean(text) for text in _cells(one)))


def drop_kept(name: str, overrides: Sequence[str], *, everything: bool, durable: bool, json: bool) -> None:
    if bool(name) == everything:
        raise TaskInvalid("name one segment, or say --all")
    dropped = asyncio.run(_drop(name, overrides, durable))
    if json:
        print_object({"dropped": dropped})
    else:
        terminal().console.print(f"dropped {several(len(dropped), 'segment')}", soft_wrap=True)


@asynccontextmanager
async def _opened(overrides: Sequence[str], durable: bool) -> AsyncGenerator[PlanCache]:
    if not durable:
        yield SqlitePlanCache(open_home(settings_with(overrides, "home").home) / KEPT)
        return
    from midcourse.app.fleet.store import open_fleet_store

    _, settings = fleet_with(overrides)
    async with open_fleet_store(settings) as store:
        yield store.segments


async def _all(overrides: Sequence[str], durable: bool) -> tuple[KeptSegment, ...]:
    async with _opened(overrides, durable) as segments:
        return await segments.all()


async def _drop(name: str, overrides: Sequence[str], durable: bool) -> list[str]:
    async with _opened(overrides, durable) as segments:
        found = [one.id for one in await segments.all() if one.id.startswith(name)]
        if name and len(found) != 1:
            raise TaskInvalid(f"{len(found) or 'no'} segments begin with '{name}'; midcourse reuse lists them")
        return [segment_id for segment_id in found if await segments.drop(segment_id)]


def _plain(one: KeptSegment) -> dict[str, object]:
    steps = [
        {
            "skill": step.draft.skill,
            "role": step.role,
            "label": step.label,
            "arguments": {name: argument(value) for name, value in step.draft.arguments},
        }
        for step in one.steps
    ]
    return {
        "segment": one.id,
        "goal": one.goal,
        "screen": one.title,
        "steps": steps,
        "run": one.run,
        "plan": one.version,
        "worked": one.worked,
        "worked_at": one.worked_at,
    }


def _cells(one: KeptSegment) -> tuple[str, ...]:
    what = several(len(one.steps), "step") if one.steps else "done here"
    return one.id[:SHORT_ID], one.title, what, f"{one.worked}x", local_time(one.worked_at), one.goal


def _table(found: Sequence[KeptSegment], where: Terminal) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for column in ("segment", "screen", "does", "worked", "last", "goal"):
        table.add_column(column, no_wrap=column != "goal")
    for one in found:
        table.add_row(*(where.marks.clean(text) for text in _cells(one)))
    return table
