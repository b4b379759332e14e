"""`midcourse kept`: lists and drops the plan segments that later runs reuse."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Annotated

import typer

from midcourse.cli.options import DurableOnly, Fleet, Json, Overrides, load_fleet_settings, load_settings, teach
from midcourse.domain.records.plan_cache import KeptSegment
from midcourse.errors import TaskInvalid
from midcourse.home.stores import open_segments
from midcourse.ports.plan_cache import PlanCache
from midcourse.presentation.vocabulary import format_argument, format_time, pluralize
from midcourse.terminal.output import print_object, print_outcome, terminal

SHORT_ID = 8
COLUMNS = ("segment", "screen", "does", "worked", "last", "goal")


commands = typer.Typer(
    invoke_without_command=True,
    epilog=teach(
        ("midcourse kept", "what is kept in this home"),
        ("midcourse kept --durable", "what the fleet keeps"),
        ("midcourse kept drop 3f2a", "drop this segment, so that it is planned again"),
    ),
)


@commands.callback()
def list_kept(context: typer.Context, set_: Fleet = None, durable: DurableOnly = False, json: Json = False) -> None:
    """List plan segments that worked and are reused without asking the planner (--set reuse=on)."""
    if context.invoked_subcommand is not None:
        return
    found = asyncio.run(_load_all(set_, durable))
    if json:
        print_object([_segment_json(segment) for segment in found])
    else:
        none = "nothing is kept; runs with --set reuse=on keep what worked"
        terminal().print_rows(COLUMNS, map(_format_cells, found), none=none)


@commands.command()
def drop(
    segment: Annotated[
        str,
        typer.Argument(
            metavar="[SEGMENT]", help="The id of the segment, or the beginning of it; or use --all.", show_default=False
        ),
    ] = "",
    everything: Annotated[bool, typer.Option("--all", help="Drop all segments.")] = False,
    set_: Fleet = None,
    durable: DurableOnly = False,
    json: Json = False,
) -> None:
    """Drop one segment, or all: the next run asks the planner again.

    Exit codes: 0 dropped, 2 there is no such segment.
    """
    if bool(segment) == everything:
        raise TaskInvalid("name one segment, or give --all")
    dropped = asyncio.run(_drop(segment, set_, durable))
    print_outcome({"dropped": dropped}, f"dropped {pluralize(len(dropped), 'segment')}", json=json)


@asynccontextmanager
async def _open_segments(overrides: Overrides, durable: bool) -> AsyncGenerator[PlanCache]:
    if not durable:
        yield open_segments(load_settings(overrides, "home").home)
        return
    from midcourse.home.fleet_store import open_fleet_store

    _, settings = load_fleet_settings(overrides)
    async with open_fleet_store(settings) as store:
        yield store.segments


async def _load_all(overrides: Overrides, durable: bool) -> tuple[KeptSegment, ...]:
    async with _open_segments(overrides, durable) as segments:
        return await segments.all()


async def _drop(name: str, overrides: Overrides, durable: bool) -> list[str]:
    async with _open_segments(overrides, durable) as segments:
        found = [segment.id for segment in await segments.all() if segment.id.startswith(name)]
        if name and len(found) != 1:
            raise TaskInvalid(f"{len(found) or 'no'} segments begin with '{name}'; midcourse kept lists them")
        return [segment_id for segment_id in found if await segments.drop(segment_id)]


def _segment_json(segment: KeptSegment) -> dict[str, object]:
    steps = [
        {
            "skill": step.draft.skill,
            "role": step.role,
            "label": step.label,
            "arguments": {name: format_argument(value) for name, value in step.draft.arguments},
        }
        for step in segment.steps
    ]
    return {
        "segment": segment.id,
        "goal": segment.goal,
        "screen": segment.title,
        "steps": steps,
        "run": segment.run,
        "plan": segment.version,
        "worked": segment.worked,
        "worked_at": segment.worked_at,
    }


def _format_cells(segment: KeptSegment) -> tuple[str, ...]:
    what = pluralize(len(segment.steps), "step") if segment.steps else "done here"
    return (
        segment.id[:SHORT_ID],
        segment.title,
        what,
        f"{segment.worked}x",
        format_time(segment.worked_at),
        segment.goal,
    )
