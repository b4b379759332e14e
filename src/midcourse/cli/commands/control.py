"""`midcourse pause`, `cancel`, `guide` and `take-over`: control a durable run."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from midcourse.cli.lookup import DurableRun, open_durable_run
from midcourse.cli.options import Fleet, Json, Run, teach
from midcourse.cli.overrides import Overrides
from midcourse.cli.view.terminal import print_object, terminal
from midcourse.errors import TaskInvalid

if TYPE_CHECKING:
    from midcourse.app.fleet.connection import RunHandle

DONE, REFUSED = 0, 1
GLANCE = 0.2
"""Seconds between two looks at whether a run has paused."""
NO_WORKER = (
    "{trouble}; it is not known yet whether the run will take it. "
    "No worker seems to be up: midcourse fleet worker starts one, and so does midcourse up"
)
WAITING = "waiting for a worker to take it"
PATIENCE = 3.0
"""Seconds before the user is told that a worker is waited for."""

commands = typer.Typer()


@commands.command(
    epilog=teach(("midcourse guide last 'use the blue form'", "advice for the next plan; it forces none")),
)
def guide(
    run: Run,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="A few words for the planner.", show_default=False)],
    set_: Fleet = None,
    json: Json = False,
) -> int:
    """Give the planner of a durable run advice for its next plan."""
    if not text.strip():
        raise TaskInvalid("guidance is a few words for the planner, in quotes")
    reply = "the planner reads it with its next plan"
    return asyncio.run(_send(run, set_, lambda handle: handle.guide(text.strip()), reply, json=json))


@commands.command(epilog=teach(("midcourse pause last", "after the current step; midcourse resume continues it")))
def pause(run: Run, set_: Fleet = None, json: Json = False) -> int:
    """Have a durable run wait after the current step, until it is resumed."""
    reply = "it pauses after the current step; midcourse resume continues it"
    return asyncio.run(_send(run, set_, lambda handle: handle.pause(), reply, json=json))


@commands.command(epilog=teach(("midcourse cancel last", "after the current step; what is done stays done")))
def cancel(run: Run, set_: Fleet = None, json: Json = False) -> int:
    """End a durable run after the current step. An act is never broken off."""
    reply = "it ends after the current step; what is done stays done"
    return asyncio.run(_send(run, set_, lambda handle: handle.cancel(), reply, json=json))


@commands.command(
    epilog=teach(
        ("midcourse take-over last", "returns when the world is yours; midcourse resume gives it back"),
    ),
)
def take_over(run: Run, set_: Fleet = None, json: Json = False) -> int:
    """Pause a durable run and act in its world yourself.

    Returns once no step is being carried out any more. When you are done,
    midcourse resume looks at what you left, and plans from there.
    """
    return asyncio.run(_take_over(run, set_, json=json))


async def _send(
    name: str, overrides: Overrides, send: "Callable[[RunHandle], Awaitable[str]]", reply: str, *, json: bool
) -> int:
    async with open_durable_run(name, overrides) as there:
        return report(there.run.id, await deliver(send(there.handle)), reply, json=json)


async def _take_over(name: str, overrides: Overrides, *, json: bool) -> int:
    """The world is safe to act in only after the run has paused, which is why this waits."""
    from midcourse.app.fleet.following import attend_world

    async with open_durable_run(name, overrides) as there:
        why_not = await deliver(there.handle.pause()) or await _wait_for_pause(there)
        where = "" if why_not else await attend_world(there.fleet, there.run.id)
        reply = f"the world is yours{f', {where}' if where else ''}; when you are done: midcourse resume {there.run.id}"
        return report(there.run.id, why_not, reply, json=json)


async def _wait_for_pause(there: DurableRun) -> str:
    """Why it will never pause; empty once it has."""
    while True:
        (run,) = await there.fleet.store.runs_named(there.run.id, 1)
        if run.phase == "paused":
            return ""
        if run.phase == "ended":
            return f"the run has ended: {run.final_reason}"
        await asyncio.sleep(GLANCE)


async def deliver(sending: Awaitable[str]) -> str:
    """Wait until a worker has taken the message. Returns why the run refused it; empty if it did not."""
    from midcourse.app.fleet.connection import RequestFailed

    sending = asyncio.ensure_future(sending)
    try:
        if not (await asyncio.wait([sending], timeout=PATIENCE))[0]:
            print(WAITING, file=sys.stderr)
        return await sending
    except TimeoutError as trouble:
        return NO_WORKER.format(trouble=trouble)
    except RequestFailed as trouble:
        return f"Temporal rejected it: {trouble.message}"


def report(run_id: str, why_not: str, reply: str, *, json: bool, **more: object) -> int:
    """Print whether the run took a message, and why not. Returns the exit code."""
    where = terminal()
    if json:
        print_object({"run": run_id, "taken": not why_not, **({"error": why_not} if why_not else more)})
    elif why_not:
        line = Text.assemble(("refused", "bold red"), f": {where.marks.clean(why_not)}")
        where.console.print(line, soft_wrap=True)
    else:
        where.console.print(Text(where.marks.clean(f"run {run_id}: {reply}")), soft_wrap=True)
    return REFUSED if why_not else DONE
