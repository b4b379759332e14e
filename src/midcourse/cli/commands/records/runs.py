"""`midcourse runs`: what has been run here."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from rich.table import Table
from rich.text import Text

from midcourse.app.batch.batch import batch_ids
from midcourse.app.fleet.up_file import fleet_in
from midcourse.app.settings.run import Settings
from midcourse.cli.lookup.names import batch_of, has_store, local_time, opened_store, state_of
from midcourse.cli.overrides import settings_with
from midcourse.cli.view.symbols import Marks
from midcourse.cli.view.terminal import Terminal, print_object, terminal
from midcourse.perform.finishing import SUCCESSES
from midcourse.policy.task_state import state_in_phase
from midcourse.ports.store import RunSummary

LATEST = 20
GAP = 2
STYLES = {"done, verified": "green", "failed": "red", "broken": "red", "asking": "magenta", "running": "cyan"}


def list_runs(overrides: Sequence[str], *, everything: bool, json: bool) -> None:
    settings = settings_with(overrides, "home")
    where = terminal()
    most = None if everything else LATEST
    if where.console.is_terminal and not json:
        _print_table(settings, most, where)
        return
    found = asyncio.run(_found(settings, most))
    if json:
        print_object([plain(run, state) for run, state in found])
        return
    for run, state in found:
        print(tabbed(run, state, where))
    if not found:
        _print_none(settings, where)


async def _found(settings: Settings, most: int | None) -> list[tuple[RunSummary, str]]:
    if not has_store(settings):
        return []
    with opened_store(settings) as store:
        return [(run, state_of(store, run)) for run in (await store.runs())[:most]]


def tabbed(run: RunSummary, state: str, where: Terminal) -> str:
    """For a log, or another program."""
    fields = (run.id, state, run.final_reason or "-", local_time(run.began_at), where.marks.clean(run.goal))
    return "\t".join(fields)


def plain(run: RunSummary, state: str) -> dict[str, object]:
    return {
        "run": run.id,
        "goal": run.goal,
        "state": state,
        "task_state": state_in_phase(run.phase, run.final_reason),
        "final_reason": run.final_reason or None,
        "began_at": run.began_at,
    }


def _print_none(settings: Settings, where: Terminal) -> None:
    where.console.print(f"no runs in '{settings.home}' yet; midcourse run notepad makes one", soft_wrap=True)
    _point_to_fleet(settings, where)


def _point_to_fleet(settings: Settings, where: Terminal) -> None:
    if fleet_in(settings.home):
        where.console.print("the fleet that is up here has its own: midcourse runs --durable", soft_wrap=True)


# --- for people: one line a run, and one for all rows of a batch


@dataclass(frozen=True, kw_only=True)
class Line:
    id: str
    words: str
    style: str
    began_at: float
    goal: str
    task: str = ""
    """The task's state; a batch has none."""


def _print_table(settings: Settings, most: int | None, where: Terminal) -> None:
    lines, total = asyncio.run(_lines(settings, most))
    if not lines:
        _print_none(settings, where)
        return
    where.console.print(table_of(lines, where.marks, where.console.width))
    if total > len(lines):
        where.console.print(f"{total - len(lines)} more: midcourse runs --all")
    _point_to_fleet(settings, where)


async def _lines(settings: Settings, most: int | None) -> tuple[list[Line], int]:
    """The latest, and how many there are. Who wants everything gets every row of every batch."""
    if not has_store(settings):
        return [], 0
    batches = [] if most is None else batch_ids(settings)
    with opened_store(settings) as store:
        kept: dict[str, list[RunSummary]] = {}
        for run in await store.runs():
            kept.setdefault(batch_of(run.id, batches) or run.id, []).append(run)
        latest = list(kept.items())[:most]
        return [
            _batch_line(name, of) if name in batches else line_of(of[0], state_of(store, of[0])) for name, of in latest
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
    failed = sum(bool(row.final_reason) for row in rows) - done
    words = f"batch: {done} done" + (f", {failed} failed" if failed else "")
    open_ = len(rows) - done - failed
    words += f", {open_} not ended" if open_ else ""
    style = "red" if failed else "yellow" if open_ else "green"
    began = min((row.began_at for row in rows if row.began_at), default=0.0)
    return Line(id=batch_id, words=words, style=style, began_at=began, goal=rows[-1].goal)


def table_of(lines: Sequence[Line], marks: Marks, width: int) -> Table:
    """What does not fit is the end of its goal."""
    rows = [(line.id, line.words, line.task, local_time(line.began_at)[5:16], line.goal) for line in lines]
    taken = sum(max(len(row[column]) for row in rows) + GAP for column in range(4))
    table = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False, header_style="dim")
    for column in ("run", "state", "task", "began", "goal"):
        table.add_column(column, no_wrap=True)
    for (name, words, task, began, goal), line in zip(rows, lines, strict=True):
        fitted = marks.fit(goal, max(8, width - taken))
        table.add_row(name, Text(words, line.style), Text(task, "dim"), began, fitted)
    return table
