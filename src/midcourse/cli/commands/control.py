"""`midcourse pause`, `cancel`, `guide` and `take-over`: control a run from any terminal."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Annotated

import typer

from midcourse.agent.control import RunControl
from midcourse.cli.lookup import open_run
from midcourse.cli.options import Fleet, Json, Overrides, Run, teach
from midcourse.config.defaults import user, user_id
from midcourse.domain.approval import Decision
from midcourse.domain.phases import Ended, Paused
from midcourse.errors import TaskInvalid
from midcourse.policy.approval.objection import why_may_not_decide
from midcourse.terminal.output import print_outcome

DONE, REFUSED = 0, 1
GLANCE = 0.2
"""Seconds between two looks at whether a run has paused."""
WAITING = "waiting for a worker to take it"
PATIENCE = 3.0
"""Seconds after which the user is told that the command waits for a worker."""

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
    """Give the planner of a run advice for its next plan."""
    if not text.strip():
        raise TaskInvalid("guidance is a few words for the planner, in quotes")
    reply = "the planner reads it with its next plan"
    return asyncio.run(_send(run, set_, lambda run: run.guide(text.strip()), reply, json=json))


@commands.command(epilog=teach(("midcourse pause last", "after the current step; midcourse resume continues it")))
def pause(run: Run, set_: Fleet = None, json: Json = False) -> int:
    """Pause a run after its current step, until it is resumed."""
    reply = "it pauses after the current step; midcourse resume continues it"
    return asyncio.run(_send(run, set_, lambda run: run.pause(), reply, json=json))


@commands.command(epilog=teach(("midcourse cancel last", "after the current step; what is done stays done")))
def cancel(run: Run, set_: Fleet = None, json: Json = False) -> int:
    """End a run after the current step. An act that has begun is never interrupted."""
    reply = "it ends after the current step; what is done stays done"
    return asyncio.run(_send(run, set_, lambda run: run.cancel(), reply, json=json))


@commands.command(
    epilog=teach(
        ("midcourse take-over last", "returns when you have taken over; midcourse resume gives it back"),
    ),
)
def take_over(run: Run, set_: Fleet = None, json: Json = False) -> int:
    """Pause a run and act in its world yourself.

    The command returns when the current step has ended. When you are done,
    use midcourse resume: the run looks at the world as you left it, and plans
    from there. A world without a host is open only in the process of its run:
    take it over in the terminal of that process, with Ctrl-C.

    Exit codes: 0 you have taken over, 1 refused (the reason is printed), 2 misuse.
    """
    return asyncio.run(_take_over(run, set_, json=json))


async def _send(
    name: str, overrides: Overrides, send: Callable[[RunControl], Awaitable[str]], reply: str, *, json: bool
) -> int:
    async with open_run(name, overrides) as there:
        return report(there.run.id, await deliver(send(there.control)), reply, json=json)


async def _take_over(name: str, overrides: Overrides, *, json: bool) -> int:
    """Pause the run and wait until it has paused: only then it is safe to act in its world."""
    async with open_run(name, overrides) as there:
        control = there.control
        run, _ = await control.store.load(control.run_id)
        why_not = why_may_not_decide(run, Decision(verdict="take_over", by=user(), by_id=user_id()))
        why_not = why_not or await control.why_no_take_over()
        why_not = why_not or await deliver(control.pause()) or await _wait_for_pause(control)
        where = ""
        if not why_not:
            try:
                where = await control.attend()
            except ConnectionError as trouble:
                why_not = f"it is paused, but {trouble}"
        reply = f"you have taken over the world{f', {where}' if where else ''}; when you are done: midcourse resume {there.run.id}"
        return report(there.run.id, why_not, reply, json=json)


async def _wait_for_pause(control: RunControl) -> str:
    """Wait until the run has paused, and return an empty string; or return why it never will."""
    while True:
        run, _ = await control.store.load(control.run_id)
        if isinstance(run.phase, Paused):
            return ""
        if isinstance(run.phase, Ended):
            return f"the run has ended: {run.phase.reason}"
        await asyncio.sleep(GLANCE)


async def deliver(sending: Awaitable[str]) -> str:
    """Wait until the run has accepted or refused the message. Returns why it was refused, or an empty string."""
    sending = asyncio.ensure_future(sending)
    if not (await asyncio.wait([sending], timeout=PATIENCE))[0]:
        print(WAITING, file=sys.stderr)
    return await sending


def report(run_id: str, why_not: str, reply: str, *, json: bool, **more: object) -> int:
    """Print whether the run accepted a message and, if not, why. Returns the exit code."""
    said = (("refused", "bold red"), f": {why_not}") if why_not else (f"run {run_id}: {reply}",)
    value = {"run": run_id, "taken": not why_not, **({"error": why_not} if why_not else more)}
    print_outcome(value, *said, json=json)
    return REFUSED if why_not else DONE
