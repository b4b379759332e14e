"""`midcourse undo`: carries out the inverses of what a run did."""

import asyncio
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from midcourse.agent.agent import Agent
from midcourse.agent.undo import UndoneAct, UndoReport, functions_in
from midcourse.agent.wiring import build_world, load_run_job, with_current_settings
from midcourse.cli.lookup import FoundRun, find_run
from midcourse.cli.options import Fleet, HomeFolder, Json, Run, load_both_settings, teach, with_options
from midcourse.cli.session.local import log_to
from midcourse.config.settings import Settings
from midcourse.errors import RunUnknown
from midcourse.home.folder import run_folder
from midcourse.home.stores import LocalStore
from midcourse.ports.world import World
from midcourse.terminal.approver import TerminalApprover
from midcourse.terminal.output import print_object, terminal

if TYPE_CHECKING:
    from midcourse.config.fleet_settings import FleetSettings

UNDONE, LEFT = 0, 1
WORDS = {"planned": "would be undone by", "undone": "undone by", "gone": "not there any more", "left": "left"}

commands = typer.Typer()

Step = Annotated[
    int | None,
    typer.Argument(
        metavar="[STEP]", help="Undo only the act of this number; --dry-run lists them.", show_default=False
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only list what would be undone, and what cannot be.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask: approve every inverse that --dry-run lists.")]
FunctionsOf = Annotated[
    str, typer.Option("--functions", metavar="MODULE", help="To undo a guarded call: the module with the functions.")
]


@commands.command(
    epilog=teach(
        ("midcourse undo last --dry-run", "what would be undone, and what cannot be"),
        ("midcourse undo last", "ask about each inverse, newest first, and carry it out"),
        ("midcourse undo last 3", "only the third act of the run"),
        ("midcourse undo 20261117 --functions orders", "a call of a guarded function in orders.py"),
    ),
)
def undo(
    run: Run,
    step: Step = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    functions: FunctionsOf = "",
    set_: Fleet = None,
    home: HomeFolder = "",
    json: Json = False,
) -> int:
    """Undo what a run did, newest first.

    For each act in the run's ledger with a skill that names an inverse
    (undo=…), you are asked, the inverse is carried out, and a probe verifies
    it. Nothing is undone twice: after a crash, the same command continues. Acts
    that cannot be undone are listed with the reason.

    Exit codes: 0 no effect is left, 1 some effect is left, 2 misuse.
    """
    settings, fleet = load_both_settings(with_options(set_, home=home), "home")

    async def go() -> UndoReport:
        async with find_run(settings, fleet, run) as found:
            await found.store.initial_state(found.run.id)  # raises if the run was pruned, with its folder
            started_with, world = await _find_world(found, settings, fleet, functions)
            approvals = {"approvals": "never" if yes else "always"}
            agent = Agent(world, approver=TerminalApprover(), settings=started_with.with_overrides(approvals))
            with log_to(run_folder(settings, found.run.id) / "undo.log"):
                acts = agent.undo_acts(found.store, found.run.id, step=step, dry_run=dry_run)
                done: list[UndoneAct] = []
                async for act in acts:
                    done.append(act)
                    if not json and not _is_minor(act):
                        _print_act(act)
            return UndoReport(run=found.run.id, acts=tuple(done))

    report = asyncio.run(go())
    if json:
        print_object({"run": report.run, "complete": report.complete, "acts": [asdict(act) for act in report.acts]})
    else:
        _print_verdict(report, dry_run=dry_run)
    return UNDONE if report.complete or dry_run else LEFT


async def _find_world(
    found: FoundRun, settings: Settings, fleet: "FleetSettings | None", functions: str
) -> tuple[Settings, World]:
    """The settings of a run's task, and its world as the run left it. With `functions`, the world is the functions of that module."""
    if functions:
        return settings, functions_in(functions)
    run_id = found.run.id
    if fleet is not None and not isinstance(found.store, LocalStore):
        from midcourse.fleet.ports import PortsMaker

        maker = PortsMaker(found.store, fleet, settings.home)
        _, job = await maker.load_job(run_id)
        return with_current_settings(job, settings).settings, maker.build_world(run_id, job)
    try:
        job = load_run_job(settings, run_id)
    except RunUnknown:
        raise RunUnknown(
            f"run {run_id} was not started from a task file; name the module of its guarded functions with --functions, "
            f"or in Python: agent.undo_sync('{run_id}')"
        ) from None
    return job.settings, build_world(job.file.world, run_folder(settings, run_id))


def _is_minor(act: UndoneAct) -> bool:
    """Whether the act is minor, such as a click or text typed in a form. Of minor acts, only the number is printed."""
    return act.state == "left" and act.effect == "set_state"


def _print_act(act: UndoneAct) -> None:
    where = terminal()
    mark = where.marks.done if act.state in ("undone", "gone") else where.marks.failed
    mark = where.marks.waiting if act.state == "planned" else mark
    explanation = act.reason if act.state == "left" else act.inverse if act.state != "gone" else ""
    style = "yellow" if act.state == "left" else "dim" if act.state == "planned" else "green"
    text = (
        f"{act.number:>3}  {act.says}: {WORDS[act.state]}{': ' if act.state == 'left' else ' '}{explanation}".rstrip()
    )
    where.say((f"{mark} ", style), text)


def _print_verdict(report: UndoReport, *, dry_run: bool) -> None:
    where = terminal()
    if minor := sum(map(_is_minor, report.acts)):
        text = f"{minor:>5}  more that only set a state are left as they are (--json lists them)"
        where.say(text, style="dim")
    if not report.acts:
        text = f"run {report.run} changed nothing"
    elif dry_run:
        would = sum(act.state == "planned" for act in report.acts)
        text = f"{would} of {len(report.acts)} would be undone"
    elif report.complete:
        text = f"all of run {report.run} is undone" if len(report.acts) > 1 else "undone"
    else:
        text = f"{len(report.left)} of {len(report.acts)} are left"
    where.say(text, style="bold")
