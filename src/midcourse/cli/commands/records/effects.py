"""`midcourse effects`: lists what a run sent, according to its own ledger and to the world's log."""

import asyncio
from dataclasses import asdict

import typer

from midcourse.cli.lookup import find_run
from midcourse.cli.options import Fleet, HomeFolder, Json, Run, load_home_and_fleet, teach, with_options
from midcourse.cli.view.verdict import sent_line
from midcourse.home.folder import run_folder
from midcourse.presentation.result import EFFECTS, effect_lines, sent_effects
from midcourse.terminal.output import print_object, terminal

commands = typer.Typer()


@commands.command(
    epilog=teach(
        ("midcourse effects last", "every irreversible request, and the evidence for its outcome"),
        ("midcourse effects last --json | jq '.sent[].what'", "for programs"),
    ),
)
def effects(run: Run, set_: Fleet = None, home: HomeFolder = "", json: Json = False) -> None:
    """List what a run sent, with the evidence that it happened.

    `sent` is the run's own ledger. `world` is the log that a simulated world
    writes itself; real worlds have none.
    """
    asyncio.run(_print_effects(run, with_options(set_, home=home), json=json))


async def _print_effects(name: str, overrides: list[str], *, json: bool) -> None:
    settings, fleet = load_home_and_fleet(overrides)
    async with find_run(settings, fleet, name) as found:
        sent = await sent_effects(found.store, found.run.id)
    logged = effect_lines(run_folder(settings, found.run.id) / EFFECTS)
    if json:
        print_object({"run": found.run.id, "sent": [asdict(act) for act in sent], "world": list(logged)})
        return
    where = terminal()
    for act in sent:
        where.say(("sent   ", "dim"), sent_line(act, where.marks))
    for line in logged:
        where.say(("world  ", "dim"), line)
    if not sent and not logged:
        where.say(f"run {found.run.id} sent nothing irreversible")
