"""`midcourse show`: what a run did and why, afterwards or so far."""

import asyncio
import json as json_format
from collections.abc import Iterator, Sequence

from rich.text import Text

from midcourse.app.settings import Settings
from midcourse.app.wiring import result_json, run_folder
from midcourse.cli.find import find_run, is_driven, opened_store, state_of
from midcourse.cli.marks import Marks
from midcourse.cli.overrides import settings_with
from midcourse.cli.plans import plan_lines
from midcourse.cli.session import verdict_of
from midcourse.cli.telling import Teller
from midcourse.cli.terminal import print_object, terminal
from midcourse.cli.view import STYLES
from midcourse.cli.words import elapsed
from midcourse.codec import encode
from midcourse.domain.plan import PlanVersion
from midcourse.domain.run import Run
from midcourse.ports.store import JournalRow, RunSummary
from midcourse.store.sqlite import SqliteStore


def show(name: str, overrides: Sequence[str], *, json: bool) -> None:
    asyncio.run(_show(name, settings_with(overrides, "home"), json))


async def _show(name: str, settings: Settings, as_json: bool) -> None:
    with opened_store(settings) as store:
        run = await find_run(store, name)
        if as_json:
            print_object(await _plain(store, run))
        else:
            await _print(store, run, settings)


async def _plain(store: SqliteStore, run: RunSummary) -> dict[str, object]:
    result = await store.result(run.id)
    return {
        "run": run.id,
        "goal": run.goal,
        "state": state_of(store, run),
        "result": json_format.loads(result_json(result)) if result else None,
        "plans": [json_format.loads(encode(plan)) for plan in await store.plans(run.id)],
        "journal": [json_format.loads(encode(row, JournalRow)) for row in await store.journal(run.id)],
    }


async def _print(store: SqliteStore, run: RunSummary, settings: Settings) -> None:
    where = terminal()
    plans, journal, opening = await store.plans(run.id), await store.journal(run.id), await store.opening(run.id)
    for line in (*_plans(plans, where.marks), *_journal(opening, plans, journal, where.marks)):
        where.console.print(line, soft_wrap=not where.console.is_terminal)
    result = await store.result(run.id)
    if result is not None:
        verdict = await verdict_of(result, store, run_folder(settings, run.id))
        verdict.print(where.console, where.marks)
        return
    where.console.print(Text(where.marks.clean(run.goal), "bold"), soft_wrap=True)
    if is_driven(store, run.id):
        said = Text(f"run {run.id} is under way in another process", "yellow")
    else:
        said = Text.assemble((f"run {run.id} has not ended", "yellow"), f"; to go on: midcourse resume {run.id}")
    where.console.print(said, soft_wrap=True)


def _plans(plans: tuple[PlanVersion, ...], marks: Marks) -> Iterator[Text]:
    for plan in plans:
        yield from plan_lines(plan, marks)
        yield Text("")


def _journal(
    opening: Run, plans: tuple[PlanVersion, ...], journal: tuple[JournalRow, ...], marks: Marks
) -> Iterator[Text]:
    teller = Teller()
    teller.expect(issued.command for issued in opening.pending)
    for plan in plans:
        teller.learn(plan)
    began = journal[0].event.at if journal else 0.0
    yield Text("Journal", "bold")
    if opening.forked_from is not None:
        yield Text(f"         forked from run {opening.forked_from.run} after event {opening.forked_from.event}", "dim")
    for row in journal:
        happening = teller.tell(row.event, row.commands)
        if happening is not None:
            at = f"  {elapsed(happening.at - began):>5}  "
            yield Text.assemble((at, "dim"), (marks.clean(happening.text), STYLES[happening.tone]))
    yield Text("")
