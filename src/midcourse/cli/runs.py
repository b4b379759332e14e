"""`midcourse runs`: what has been run here."""

import asyncio
from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from midcourse.app.settings import Settings
from midcourse.cli.find import has_store, local_time, opened_store, state_of
from midcourse.cli.overrides import settings_with
from midcourse.cli.terminal import Terminal, print_object, terminal
from midcourse.ports.store import RunSummary

LATEST = 20
GAP = 2
STYLES = {"done, verified": "green", "failed": "red"}


def list_runs(overrides: Sequence[str], *, everything: bool, json: bool) -> None:
    settings = settings_with(overrides, "home")
    found, total = asyncio.run(_found(settings, None if everything else LATEST))
    if json:
        print_object([_plain(run, state) for run, state in found])
        return
    where = terminal()
    if not found:
        where.console.print(f"no runs in '{settings.home}' yet; midcourse run notepad makes one", soft_wrap=True)
    elif where.console.is_terminal:
        where.console.print(_table(found, where))
        if total > len(found):
            where.console.print(f"{total - len(found)} more: midcourse runs --all")
    else:
        for run, state in found:
            fields = (run.id, state, run.final_reason or "-", local_time(run.began_at), where.marks.clean(run.goal))
            print("\t".join(fields))


async def _found(settings: Settings, most: int | None) -> tuple[list[tuple[RunSummary, str]], int]:
    if not has_store(settings):
        return [], 0
    with opened_store(settings) as store:
        runs = await store.runs()
        return [(run, state_of(store, run)) for run in runs[:most]], len(runs)


def _plain(run: RunSummary, state: str) -> dict[str, object]:
    return {
        "run": run.id,
        "goal": run.goal,
        "state": state,
        "final_reason": run.final_reason or None,
        "began_at": run.began_at,
    }


def _table(found: list[tuple[RunSummary, str]], where: Terminal) -> Table:
    """One line a run: what does not fit is the end of its goal."""
    rows = [(run.id, _words(run, state), local_time(run.began_at)[5:16], run.goal) for run, state in found]
    taken = sum(max(len(row[column]) for row in rows) + GAP for column in range(3))
    table = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False, header_style="dim")
    for column in ("run", "state", "began", "goal"):
        table.add_column(column, no_wrap=True)
    for (run_id, words, began, goal), (_, state) in zip(rows, found, strict=True):
        style = STYLES.get(state, "yellow")
        table.add_row(run_id, Text(words, style), began, where.marks.fit(goal, max(8, where.console.width - taken)))
    return table


def _words(run: RunSummary, state: str) -> str:
    return f"{state}: {run.final_reason}" if state == "failed" else state
