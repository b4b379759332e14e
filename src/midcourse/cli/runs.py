"""`midcourse runs`: what has been run here."""

import asyncio
from collections.abc import Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from midcourse.app.settings import Settings
from midcourse.cli.find import has_store, local_time, opened_store, state_of
from midcourse.cli.overrides import settings_with
from midcourse.cli.terminal import Terminal, print_object, terminal
from midcourse.ports.store import RunSummary

LATEST = 20
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
    table = Table(box=box.ASCII if where.marks.ascii_only else box.SIMPLE_HEAD, pad_edge=False)
    for column in ("run", "state", "began"):
        table.add_column(column, no_wrap=True)
    table.add_column("goal", overflow="fold")
    for run, state in found:
        words = Text(state, STYLES.get(state, "yellow"))
        if state == "failed":
            words.append(f": {run.final_reason}")
        table.add_row(run.id, words, local_time(run.began_at)[5:16], where.marks.fit(run.goal, 80))
    return table
