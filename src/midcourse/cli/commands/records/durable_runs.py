"""`midcourse runs --durable`: the runs of a fleet, and how each stands."""

import asyncio
from collections.abc import Sequence

from midcourse.app.fleet.connection import Fleet, broken_runs, connected
from midcourse.app.fleet.settings import FleetSettings
from midcourse.cli.commands.records.runs import LATEST, line_of, plain, tabbed, table_of
from midcourse.cli.lookup.names import state_if_driven
from midcourse.cli.overrides import fleet_with
from midcourse.cli.view.terminal import print_object, terminal
from midcourse.ports.store import RunSummary


def list_durable(overrides: Sequence[str], *, everything: bool, json: bool) -> None:
    _, settings = fleet_with(overrides)
    found = asyncio.run(_found(settings, None if everything else LATEST + 1))
    shown = found if everything else found[:LATEST]
    where = terminal()
    if json:
        print_object([plain(run, state) for run, state in shown])
    elif not found:
        where.console.print(
            f"no durable runs of tenant '{settings.tenant}' yet; midcourse run order --durable makes one",
            soft_wrap=True,
        )
    elif where.console.is_terminal:
        where.console.print(table_of([line_of(*each) for each in shown], where.marks, where.console.width))
        if len(shown) < len(found):
            where.console.print("there are more: midcourse runs --durable --all")
    else:
        for run, state in shown:
            print(tabbed(run, state, where))


async def _found(settings: FleetSettings, most: int | None) -> list[tuple[RunSummary, str]]:
    async with connected(settings) as fleet:
        return await latest(fleet, most)


async def latest(fleet: Fleet, most: int | None) -> list[tuple[RunSummary, str]]:
    """The newest runs and their states. Of a broken one the database only knows that it has not ended."""
    runs = await fleet.store.runs(limit=most)
    broken = await broken_runs(fleet) if any(not run.final_reason for run in runs) else set[str]()
    return [(run, "broken" if run.id in broken and not run.final_reason else state_if_driven(run)) for run in runs]
