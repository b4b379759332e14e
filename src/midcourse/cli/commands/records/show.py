"""`midcourse show`: what a run did and why, afterwards or so far."""

import asyncio
import json as json_format
from collections.abc import Iterator, Sequence
from itertools import chain

from rich.text import Text

from midcourse.app.fleet.settings import FleetSettings
from midcourse.app.records.export import RESULT_FILE
from midcourse.app.settings.run import Settings
from midcourse.app.wiring import result_json, run_folder
from midcourse.cli.commands.records.plans import plan_lines
from midcourse.cli.lookup.places import Located, located
from midcourse.cli.overrides import places_with
from midcourse.cli.session.local import verdict_of
from midcourse.cli.view.costs import account_lines
from midcourse.cli.view.narration import Teller
from midcourse.cli.view.run import STYLES
from midcourse.cli.view.symbols import Marks
from midcourse.cli.view.terminal import print_object, terminal
from midcourse.cli.view.vocabulary import elapsed
from midcourse.codec import encode
from midcourse.domain.plan import PlanVersion
from midcourse.domain.run import Run
from midcourse.policy.task_state import task_state
from midcourse.ports.store import JournalRow


def show(name: str, overrides: Sequence[str], *, json: bool) -> None:
    asyncio.run(_show(name, *places_with(overrides, "home"), json))


async def _show(name: str, settings: Settings, fleet: FleetSettings | None, as_json: bool) -> None:
    async with located(settings, fleet, name) as found:
        if as_json:
            print_object(await _plain(found))
        else:
            await _print(found, settings)


async def _plain(found: Located) -> dict[str, object]:
    store, run = found.store, found.run
    result = await store.result(run.id)
    return {
        "run": run.id,
        "goal": run.goal,
        "state": found.state,
        "task_state": task_state((await store.load(run.id))[0]),
        "durable": found.durable,
        "result": json_format.loads(result_json(result)) if result else None,
        "plans": [json_format.loads(encode(plan)) for plan in await store.plans(run.id)],
        "journal": [json_format.loads(encode(row, JournalRow)) for row in await store.journal(run.id)],
    }


async def _print(found: Located, settings: Settings) -> None:
    where, store, run = terminal(), found.store, found.run
    plans, journal, opening = await store.plans(run.id), await store.journal(run.id), await store.opening(run.id)
    state, _ = await store.load(run.id)
    told = _plans(plans, where.marks), _journal(opening, plans, journal, where.marks), account_lines(state.spent)
    for line in chain.from_iterable(told):
        where.console.print(line, soft_wrap=not where.console.is_terminal)
    result = await store.result(run.id)
    if result is not None:
        folder = run_folder(settings, run.id)
        verdict = await verdict_of(result, store, folder if (folder / RESULT_FILE).exists() else None)
        verdict.print(where.console, where.marks)
        return
    where.console.print(Text(where.marks.clean(run.goal), "bold"), soft_wrap=True)
    where.console.print(_how_it_stands(found), soft_wrap=True)
    where.console.print(Text(f"task state: {task_state((await store.load(run.id))[0])}", "dim"), soft_wrap=True)


def _how_it_stands(found: Located) -> Text:
    """Of a run that has not ended, and what can be done about it."""
    name, state = found.run.id, found.state
    if state == "interrupted":
        return Text.assemble((f"run {name} has not ended", "yellow"), f"; to go on: midcourse resume {name}")
    if not found.durable:
        return Text(f"run {name} is under way in another process", "yellow")
    match state:
        case "asking":
            return Text.assemble((f"run {name} asks", "magenta"), f"; to decide: midcourse approve {name}")
        case "paused":
            return Text.assemble((f"run {name} is paused", "yellow"), f"; to go on: midcourse resume {name}")
        case _:
            return Text.assemble((f"run {name} is under way", "yellow"), f"; to watch it: midcourse runs watch {name}")


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
