"""`midcourse show`: shows what a run did and why, its plan versions, or the difference between two of them."""

import asyncio
import json as json_format
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from midcourse.cli.lookup import FoundRun, blobs_of_run, find_journal, find_run
from midcourse.cli.options import Fleet, HomeFolder, Journal, Json, load_home_and_fleet, teach, with_options
from midcourse.cli.view.run import STYLES
from midcourse.cli.view.verdict import verdict_of
from midcourse.codec import encode
from midcourse.domain.plan import PlanVersion, Step
from midcourse.domain.run import Run
from midcourse.history.journal import RESULT_FILE, result_json
from midcourse.history.journal import Journal as RunJournal
from midcourse.history.pictures import PicturedLook, list_pictures, save_pictures
from midcourse.home.folder import AtHome, run_folder
from midcourse.policy.plan.diff import StepChange
from midcourse.policy.task_state import task_state
from midcourse.ports.store import JournalRow
from midcourse.presentation.narration import Narrator
from midcourse.presentation.vocabulary import (
    describe_call,
    describe_step,
    format_argument,
    format_elapsed,
    format_time,
    plan_reason,
)
from midcourse.terminal.output import Marks, print_object, terminal
from midcourse.terminal.question import ABSENT

if TYPE_CHECKING:
    from midcourse.config.fleet_settings import FleetSettings
    from midcourse.history.replay import PlanComparison


from midcourse.domain.budget import Cost, Spent
from midcourse.policy.spending import MICRO
from midcourse.presentation.vocabulary import pluralize

commands = typer.Typer()


@commands.command(
    epilog=teach(
        ("midcourse show last", "its plans with why each was made, the journal in brief, the verdict"),
        ("midcourse show last --plans", "only the plans, and what was repaired in them"),
        ("midcourse show last --diff 1 2", "what the second plan kept, dropped and added, and why it was made"),
        ("midcourse show last --pictures shots", "also saves its screenshots in this folder"),
        ("midcourse show last --json | jq .plans", "for programs"),
    ),
)
def show(
    run: Journal,
    plans: Annotated[bool, typer.Option("--plans", help="Only its plan versions.")] = False,
    diff: Annotated[
        tuple[int, int] | None,
        typer.Option(
            "--diff", metavar="A B", help="Compare two plan versions: kept, done, dropped, new.", show_default=False
        ),
    ] = None,
    pictures: Annotated[
        Path | None,
        typer.Option("--pictures", metavar="FOLDER", help="Save its screenshots there.", show_default=False),
    ] = None,
    set_: Fleet = None,
    home: HomeFolder = "",
    json: Json = False,
) -> None:
    """Show what a run did and why, whether it has ended or not.

    With --plans or --diff, RUN may also be a journal.jsonl.
    """
    settings, fleet = load_home_and_fleet(with_options(set_, home=home))
    if diff is not None:
        _print_diff(find_journal(run, settings, fleet).journal, *diff, json=json)
    elif plans:
        _print_plans(find_journal(run, settings, fleet).journal, json=json)
    else:
        asyncio.run(_show(run, settings, fleet, pictures, json))


async def _show(name: str, settings: AtHome, fleet: "FleetSettings | None", folder: Path | None, as_json: bool) -> None:
    async with find_run(settings, fleet, name) as found:
        if (pruned_at := await found.store.pruned_at(found.run.id)) is not None:
            await _show_pruned(found, pruned_at, as_json=as_json)
            return
        pictures = await _find_pictures(found, settings, fleet, folder)
        if as_json:
            print_object(await _run_json(found, pictures))
        else:
            await _print_run(found, pictures, settings)


async def _show_pruned(found: FoundRun, pruned_at: float, *, as_json: bool) -> None:
    """Show the result of a pruned run, which is all that is left of it."""
    if as_json:
        print_object({**await _state_json(found), "plans": [], "journal": [], "pictures": [], "pruned_at": pruned_at})
        return
    where = terminal()
    if result := await found.store.result(found.run.id):
        (await verdict_of(result, found.store, None)).print(where.console, where.marks)
    when = f"pruned on {format_time(pruned_at)}: its journal, plans, observations and files were deleted"
    where.say(when, style="dim")


async def _find_pictures(
    found: FoundRun, settings: AtHome, fleet: "FleetSettings | None", folder: Path | None
) -> tuple[PicturedLook, ...]:
    """The pictures of a run, saved in this folder if one is given. Deleted pictures of a local run are left out."""
    blobs = blobs_of_run(found, settings, fleet)
    pictures = await list_pictures(found.store, blobs, found.run.id)
    if folder is not None:
        return await save_pictures(blobs, found.run.id, pictures, folder)
    return tuple(picture for picture in pictures if picture.path or found.durable)


async def _state_json(found: FoundRun) -> dict[str, object]:
    store, run = found.store, found.run
    result = await store.result(run.id)
    return {
        "run": run.id,
        "goal": run.goal,
        "state": found.state,
        "task_state": task_state((await store.load(run.id))[0]),
        "durable": found.durable,
        "result": json_format.loads(result_json(result)) if result else None,
    }


async def _run_json(found: FoundRun, pictures: tuple[PicturedLook, ...]) -> dict[str, object]:
    store, run = found.store, found.run
    return {
        **await _state_json(found),
        "plans": [json_format.loads(encode(plan)) for plan in await store.plans(run.id)],
        "journal": [json_format.loads(encode(row, JournalRow)) for row in await store.journal(run.id)],
        "pictures": [
            {"at": picture.at, "surface": picture.surface, "digest": picture.digest, "path": str(picture.path or "")}
            for picture in pictures
        ],
        "pruned_at": None,
    }


async def _print_run(found: FoundRun, pictures: tuple[PicturedLook, ...], settings: AtHome) -> None:
    where, store, run = terminal(), found.store, found.run
    plans, journal, opening = await store.plans(run.id), await store.journal(run.id), await store.initial_state(run.id)
    state, _ = await store.load(run.id)
    began = journal[0].event.at if journal else 0.0
    parts = (
        _plans_lines(plans, where.marks),
        _journal_lines(opening, plans, journal, where.marks),
        _picture_lines(pictures, began, where.marks),
        cost_lines(state.spent),
    )
    for line in chain.from_iterable(parts):
        where.console.print(line, soft_wrap=not where.console.is_terminal)
    result = await store.result(run.id)
    if result is not None:
        folder = run_folder(settings, run.id)
        verdict = await verdict_of(result, store, folder if (folder / RESULT_FILE).exists() else None)
        verdict.print(where.console, where.marks)
        return
    where.say(run.goal, style="bold")
    where.say(_state_line(found))
    where.say(f"task state: {task_state(state)}", style="dim")


def _state_line(found: FoundRun) -> Text:
    """The state of a run that has not ended, and the command that continues it."""
    name, state = found.run.id, found.state
    if state == "interrupted":
        return Text.assemble((f"run {name} has not ended", "yellow"), f"; to continue it: midcourse resume {name}")
    if not found.durable:
        return Text(f"run {name} is driven by another process", "yellow")
    match state:
        case "asking":
            return Text.assemble((f"run {name} asks", "magenta"), f"; to decide: midcourse approve {name}")
        case "paused":
            return Text.assemble((f"run {name} is paused", "yellow"), f"; to continue it: midcourse resume {name}")
        case _:
            return Text.assemble((f"run {name} is running", "yellow"), f"; to watch it: midcourse watch {name}")


def _plans_lines(plans: tuple[PlanVersion, ...], marks: Marks) -> Iterator[Text]:
    for plan in plans:
        yield from plan_lines(plan, marks)
        yield Text("")


def _journal_lines(
    opening: Run, plans: tuple[PlanVersion, ...], journal: tuple[JournalRow, ...], marks: Marks
) -> Iterator[Text]:
    narrator = Narrator()
    narrator.add_commands(issued.command for issued in opening.pending)
    for plan in plans:
        narrator.add_plan(plan)
    began = journal[0].event.at if journal else 0.0
    yield Text("Journal", "bold")
    if opening.forked_from is not None:
        yield Text(f"         forked from run {opening.forked_from.run} after event {opening.forked_from.event}", "dim")
    for row in journal:
        line = narrator.describe(row.event, row.commands)
        if line is not None:
            at = f"  {format_elapsed(line.at - began):>5}  "
            yield Text.assemble((at, "dim"), (marks.clean(line.text), STYLES[line.tone]))
    yield Text("")


def _picture_lines(pictures: tuple[PicturedLook, ...], began: float, marks: Marks) -> Iterator[Text]:
    if not pictures:
        return
    yield Text("Pictures", "bold")
    for picture in pictures:
        at = f"  {format_elapsed(picture.at - began):>5}  "
        yield Text.assemble(
            (at, "dim"), marks.clean(f"'{picture.surface}' "), (str(picture.path or picture.digest[:12]), "dim")
        )
    if any(picture.path is None for picture in pictures):
        yield Text("         to save them: --pictures FOLDER", "dim")
    yield Text("")


# --- plan versions


def _print_plans(journal: RunJournal, *, json: bool) -> None:
    if json:
        print_object([json_format.loads(encode(plan)) for plan in journal.plans])
        return
    where = terminal()
    for line in _plans_lines(journal.plans, where.marks):
        where.console.print(line, soft_wrap=not where.console.is_terminal)
    if not journal.plans:
        where.say(f"run {journal.opening.id} has made no plan")


def plan_lines(plan: PlanVersion, marks: Marks) -> Iterator[Text]:
    """Lines that say why the plan was made, what was repaired in it, and its steps."""
    yield Text.assemble((f"Plan {plan.version}  ", "bold"), (marks.clean(plan_reason(plan)), "italic"))
    if plan.context and plan.context.by != "rules":
        who = "a model" if plan.context.by == "model" else "your reflector"
        yield Text(f"  {who} on why it failed: {marks.clean(plan.context.analysis.root_cause)}", "yellow")
    for repair in plan.repairs:
        yield Text(f"  repaired: {marks.clean(repair)}", "yellow")
    for step in plan.steps:
        yield Text.assemble((f"  {step.index + 1:>2}. ", "dim"), *_step_parts(step, marks))


def _step_parts(step: Step, marks: Marks) -> tuple[str | tuple[str, str], ...]:
    call = describe_call(step) if step.says else ""
    return marks.clean(describe_step(step)), (f"  {marks.clean(call)}", "dim") if call else ""


# --- the difference between two plan versions


def _print_diff(journal: RunJournal, earlier: int, later: int, *, json: bool) -> None:
    from midcourse.history.replay import compare_plans

    compared = compare_plans(journal, earlier, later)
    if json:
        print_object(_diff_json(compared))
        return
    where = terminal()
    for line in _diff_lines(compared, where.marks):
        where.console.print(line, soft_wrap=not where.console.is_terminal)


def _diff_json(compared: "PlanComparison") -> dict[str, object]:
    after, found = compared.after, compared.found
    steps = {"kept": found.kept, "done": found.done, "dropped": found.dropped, "new": found.new}
    return {
        "from": compared.before.version,
        "to": after.version,
        "cause": after.cause,
        "why": after.why,
        **{name: [json_format.loads(encode(step)) for step in some] for name, some in steps.items()},
        "changed": [json_format.loads(encode(change)) for change in found.changed],
    }


def _diff_lines(compared: "PlanComparison", marks: Marks) -> Iterator[Text]:
    found, why = compared.found, marks.clean(plan_reason(compared.after))
    head = f"Plan {compared.before.version} {marks.arrow} {compared.after.version}  "
    yield Text.assemble((head, "bold"), (why, "italic"))
    signs = (("=", "kept", "", found.kept), (marks.done, "done", "green", found.done))
    signs += (("-", "dropped", "red", found.dropped), ("+", "new", "cyan", found.new))
    counts = [f"{name} {len(steps)}" for _, name, _, steps in signs]
    counts += [f"changed {len(found.changed)}"] if found.changed else []
    yield Text("  " + ", ".join(counts), "dim")
    for sign, name, style, steps in signs:
        for step in steps:
            yield Text.assemble((f"  {sign} {name:<8}", style), *_step_parts(step, marks))
    for change in found.changed:
        yield Text.assemble(("  ~ changed ", "yellow"), *_step_parts(change.after, marks))
        yield from _argument_lines(change, marks)


def _argument_lines(change: StepChange, marks: Marks) -> Iterator[Text]:
    old, new = dict(change.before.arguments), dict(change.after.arguments)
    for name in dict.fromkeys((*old, *new)):
        if name not in old or name not in new or old[name] != new[name]:
            was = marks.clean(format_argument(old[name])) if name in old else ABSENT
            now = marks.clean(format_argument(new[name])) if name in new else ABSENT
            yield Text(f"      {marks.clean(name)}: {was} {marks.arrow} {now}", "yellow")


# --- what was spent


UNKNOWN_ROLE = "lost or given up"


def cost_lines(spent: tuple[Spent, ...]) -> Iterator[Text]:
    """A line for each role and plan; empty if nothing was spent."""
    if not spent:
        return
    yield Text("Spent", "bold")
    for line in spent:
        plan = f" on plan {line.version}" if line.version else ""
        model = f" by {line.model}" if line.model else ""
        yield Text.assemble(f"  {line.role or UNKNOWN_ROLE}{plan}", (model, "dim"), f": {format_cost(line.cost)}")
    yield Text("")


def format_cost(cost: Cost) -> str:
    """Calls, tokens and dollars, without those that are zero."""
    parts, most = [pluralize(cost.calls, "call")], "at most " if cost.at_most else ""
    parts += [most + pluralize(cost.tokens, "token")] if cost.tokens else []
    parts += [f"{most}${cost.microusd / MICRO:.4f}"] if cost.microusd else []
    return ", ".join(parts)
