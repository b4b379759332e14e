"""`midcourse runs`: lists runs of this home or of a fleet."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from midcourse.cli.options import (
    DurableOnly,
    Fleet,
    HomeFolder,
    Json,
    Overrides,
    load_fleet_settings,
    load_home,
    teach,
    with_options,
)
from midcourse.cli.run_states import batch_of, driven_state, local_state
from midcourse.config.variables import may_have_fleet
from midcourse.domain.records.summary import SUCCESSES, RunSummary
from midcourse.home.folder import AtHome, Catalogue, batch_ids, has_store, open_catalogue
from midcourse.policy.task_state import state_in_phase
from midcourse.presentation.moments import format_time
from midcourse.terminal.output import Marks, Terminal, print_object, terminal

if TYPE_CHECKING:
    from midcourse.fleet.connection import Fleet as FleetConnection

LATEST = 20
GAP = 2
STYLES = {
    "done, verified": "green",
    "returned": "default",
    "failed": "red",
    "broken": "red",
    "asking": "magenta",
    "running": "cyan",
}


commands = typer.Typer()


@commands.command(
    epilog=teach(
        ("midcourse runs", "the latest runs in this home, and how they ended"),
        ("midcourse runs --durable", "those of the fleet"),
        ("midcourse runs --all --json", "all of them, for programs"),
        ("midcourse watch", "runs, updated as they progress"),
    ),
)
def runs(
    set_: Fleet = None,
    home: HomeFolder = "",
    durable: DurableOnly = False,
    all_: Annotated[bool, typer.Option("--all", help="All runs, not only the latest 20.")] = False,
    json: Json = False,
) -> None:
    """List runs, the latest first, and how they ended."""
    overrides = with_options(set_, home=home)
    if durable:
        _list_durable(overrides, everything=all_, json=json)
    else:
        _list_local(overrides, everything=all_, json=json)


def _list_local(overrides: Overrides, *, everything: bool, json: bool) -> None:
    settings = load_home(overrides)
    where = terminal()
    most = None if everything else LATEST
    if where.console.is_terminal and not json:
        _print_table(settings, most, where)
        return
    found: list[tuple[RunSummary, str]] = []
    if has_store(settings):
        with open_catalogue(settings) as catalogue:
            found = latest_local(catalogue, most)
    if json:
        print_object([run_json(run, state) for run, state in found])
        return
    for run, state in found:
        print(tab_separated(run, state, where))
    if not found:
        _print_none(settings, where)


def latest_local(catalogue: Catalogue, most: int | None) -> list[tuple[RunSummary, str]]:
    """The newest runs of a home and their states."""
    return [(run, local_state(catalogue, run)) for run in catalogue.newest(most)]


def tab_separated(run: RunSummary, state: str, where: Terminal) -> str:
    """A run as tab-separated fields, for logs and other programs."""
    fields = (run.id, state, run.final_reason or "-", format_time(run.began_at), where.marks.clean(run.goal))
    return "\t".join(fields)


def run_json(run: RunSummary, state: str) -> dict[str, object]:
    return {
        "run": run.id,
        "goal": run.goal,
        "state": state,
        "task_state": state_in_phase(run.phase, run.final_reason),
        "final_reason": run.final_reason or None,
        "verified": run.verified,
        "sending": run.sending or None,
        "began_at": run.began_at,
    }


def _print_none(settings: AtHome, where: Terminal) -> None:
    where.say(f"no runs in '{settings.home}' yet; midcourse run notepad makes one")
    _point_to_fleet(settings, where)


def _point_to_fleet(settings: AtHome, where: Terminal) -> None:
    if not may_have_fleet(settings.home):
        return
    from midcourse.config.up_file import fleet_in

    if fleet_in(settings.home):
        where.say("the fleet that is up here has its own: midcourse runs --durable")


# --- runs of a fleet


def _list_durable(overrides: Overrides, *, everything: bool, json: bool) -> None:
    import asyncio

    from midcourse.fleet.connection import connect_fleet

    _, settings = load_fleet_settings(overrides)

    async def load() -> list[tuple[RunSummary, str]]:
        async with connect_fleet(settings) as fleet:
            return await latest_durable(fleet, None if everything else LATEST + 1)

    found = asyncio.run(load())
    shown = found if everything else found[:LATEST]
    where = terminal()
    if json:
        print_object([run_json(run, state) for run, state in shown])
    elif not found:
        where.say(f"no durable runs of tenant '{settings.tenant}' yet; midcourse run order --durable makes one")
    elif where.console.is_terminal:
        where.console.print(table_of([line_of(*each) for each in shown], where.marks, where.console.width))
        if len(shown) < len(found):
            where.say("there are more: midcourse runs --durable --all")
    else:
        for run, state in shown:
            print(tab_separated(run, state, where))


async def latest_durable(fleet: "FleetConnection", most: int | None) -> list[tuple[RunSummary, str]]:
    """The newest runs of a fleet and their states. Only Temporal knows which ones are broken; in the database they have not ended."""
    from midcourse.fleet.connection import broken_runs

    found = await fleet.store.runs(limit=most)
    broken = await broken_runs(fleet) if any(not run.final_reason for run in found) else set[str]()
    return [(run, "broken" if run.id in broken and not run.final_reason else driven_state(run)) for run in found]


# --- for people: one line for each run, and one line for all rows of a batch


@dataclass(frozen=True, kw_only=True)
class Line:
    """A row of the table."""

    id: str
    words: str
    style: str
    began_at: float
    goal: str
    task: str = ""
    """The task's state; empty for a batch."""


def _print_table(settings: AtHome, most: int | None, where: Terminal) -> None:
    lines, total = _lines(settings, most)
    if not lines:
        _print_none(settings, where)
        return
    where.console.print(table_of(lines, where.marks, where.console.width))
    if total > len(lines):
        where.say(f"{total - len(lines)} more: midcourse runs --all")
    _point_to_fleet(settings, where)


def _lines(settings: AtHome, most: int | None) -> tuple[list[Line], int]:
    """The latest lines, and the total number of lines. A batch is one line, unless all runs are listed."""
    if not has_store(settings):
        return [], 0
    batches: list[str] = [] if most is None else batch_ids(settings)
    with open_catalogue(settings) as catalogue:
        if not batches:
            return [line_of(*each) for each in latest_local(catalogue, most)], catalogue.count()
        kept: dict[str, list[RunSummary]] = {}
        for run in catalogue.newest():
            kept.setdefault(batch_of(run.id, batches) or run.id, []).append(run)
        latest = list(kept.items())[:most]
        return [
            _batch_line(name, of) if name in batches else line_of(of[0], local_state(catalogue, of[0]))
            for name, of in latest
        ], len(kept)


def line_of(run: RunSummary, state: str) -> Line:
    words = f"{state}: {run.final_reason}" if state == "failed" else state
    return Line(
        id=run.id,
        words=words,
        style=STYLES.get(state, "yellow"),
        began_at=run.began_at,
        goal=run.goal,
        task=state_in_phase(run.phase, run.final_reason),
    )


def _batch_line(batch_id: str, rows: Sequence[RunSummary]) -> Line:
    done = sum(row.final_reason in SUCCESSES for row in rows)
    verified = all(driven_state(row) == "done, verified" for row in rows)
    failed = sum(bool(row.final_reason) for row in rows) - done
    words = f"batch: {done} done" + (f", {failed} failed" if failed else "")
    open_ = len(rows) - done - failed
    words += f", {open_} not ended" if open_ else ""
    style = "red" if failed else "green" if verified else "yellow"
    began = min((row.began_at for row in rows if row.began_at), default=0.0)
    return Line(id=batch_id, words=words, style=style, began_at=began, goal=rows[-1].goal)


def table_of(lines: Sequence[Line], marks: Marks, width: int) -> Table:
    """Build a table of runs with this width. A goal that does not fit is cut."""
    rows = [(line.id, line.words, line.task, format_time(line.began_at)[5:16], line.goal) for line in lines]
    taken = sum(max(len(row[column]) for row in rows) + GAP for column in range(4))
    table = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False, header_style="dim")
    for column in ("run", "state", "task", "began", "goal"):
        table.add_column(column, no_wrap=True)
    for (name, words, task, began, goal), line in zip(rows, lines, strict=True):
        fitted = marks.fit(goal, max(8, width - taken))
        table.add_row(name, Text(words, line.style), Text(task, "dim"), began, fitted)
    return table
