"""`midcourse pause`, `cancel`, `guide` and `take-over`: what people tell a durable run besides answers."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence

from temporalio.service import RPCError

from midcourse.cli.lookup.durable import Reached, reached, report
from midcourse.errors import TaskInvalid
from midcourse.runtimes.temporal.client import RunHandle
from midcourse.worlds.remote import hand_over

GLANCE = 0.2
NO_WORKER = (
    "{trouble}; nobody knows yet whether it will be taken. "
    "No worker seems to be up: midcourse worker starts one, and so does midcourse up"
)
WAITING = "waiting for a worker to take it"
PATIENCE = 3.0
"""Seconds before we say so."""


def pause(name: str, overrides: Sequence[str], *, json: bool) -> int:
    said = "it pauses after the step under way; midcourse resume goes on"
    return asyncio.run(_tell(name, overrides, lambda run: run.pause(), said, json=json))


def cancel(name: str, overrides: Sequence[str], *, json: bool) -> int:
    said = "it ends after the step under way; what is done stays done"
    return asyncio.run(_tell(name, overrides, lambda run: run.cancel(), said, json=json))


def guide(name: str, text: str, overrides: Sequence[str], *, json: bool) -> int:
    if not text.strip():
        raise TaskInvalid("guidance is a few words for the planner, in quotes")
    said = "the planner is told with its next plan"
    return asyncio.run(_tell(name, overrides, lambda run: run.guide(text.strip()), said, json=json))


def take_over(name: str, overrides: Sequence[str], *, json: bool) -> int:
    return asyncio.run(_take_over(name, overrides, json=json))


async def _tell(
    name: str, overrides: Sequence[str], tell: Callable[[RunHandle], Awaitable[str]], said: str, *, json: bool
) -> int:
    async with reached(name, overrides) as there:
        return report(there.run.id, await taken(tell(there.handle)), said, json=json)


async def _take_over(name: str, overrides: Sequence[str], *, json: bool) -> int:
    """Only when nothing is under way any more is the world safe to act in."""
    async with reached(name, overrides) as there:
        why_not = await taken(there.handle.pause())
        where = ""
        if not why_not:
            why_not = await _paused(there)
        if not why_not:
            where = await hand_over(await there.fleet.store.session(there.run.id))
        said = f"the world is yours{f', {where}' if where else ''}; when you are done, midcourse resume {there.run.id} looks at it and goes on"
        return report(there.run.id, why_not, said, json=json)


async def _paused(there: Reached) -> str:
    """Wait until it is. Says why it never will be, or nothing."""
    while True:
        (run,) = await there.fleet.store.runs_named(there.run.id, 1)
        if run.phase == "paused":
            return ""
        if run.phase == "ended":
            return f"the run has ended: {run.final_reason}"
        await asyncio.sleep(GLANCE)


async def taken(telling: Awaitable[str]) -> str:
    """Why the run did not take it, or nothing."""
    telling = asyncio.ensure_future(telling)
    try:
        if not (await asyncio.wait([telling], timeout=PATIENCE))[0]:
            print(WAITING, file=sys.stderr)
        return await telling
    except TimeoutError as trouble:
        return NO_WORKER.format(trouble=trouble)
    except RPCError as trouble:
        return f"Temporal did not take it: {trouble.message}"
