"""Control of a run: pause, resume, cancel, guide, take over."""

import asyncio
import time
from typing import Annotated

from fastapi import APIRouter
from pydantic import Field

from midcourse.app.desk.desk import Desk
from midcourse.app.start import is_stored
from midcourse.domain.phase import Ended, Paused
from midcourse.errors import RunUnknown
from midcourse.server.models.base import Model
from midcourse.server.models.questions import Accepted
from midcourse.server.problems import Refusal, documented
from midcourse.server.routes.runs import RunPath
from midcourse.server.state import Operator, TheDesk

router = APIRouter(tags=["control"])
PATIENCE = 120.0
"""Seconds that a request to take over waits for the end of the current step."""
REFUSALS = documented(400, 404, 409, 413, 415, 422)


class Guidance(Model):
    text: Annotated[str, Field(min_length=1, max_length=10_000, pattern=r"\S")]


async def _known(desk: Desk, run_id: str) -> None:
    if not await is_stored(desk.store, run_id):
        raise RunUnknown(f"no run is called '{run_id}'")


def _accepted(run_id: str, why_not: str, says: str) -> Accepted:
    if why_not:
        raise Refusal(409, "refused", why_not, next=f"GET /api/v1/runs/{run_id} says what it may be told now")
    return Accepted(run=run_id, says=says)


@router.post("/runs/{run_id}/pause", responses=REFUSALS)
async def pause(run_id: RunPath, desk: TheDesk, _: Operator) -> Accepted:
    """Pause after the current step."""
    await _known(desk, run_id)
    return _accepted(run_id, await desk.control(run_id).pause(), "it pauses after the current step")


@router.post("/runs/{run_id}/resume", responses=REFUSALS)
async def resume(run_id: RunPath, desk: TheDesk, _: Operator) -> Accepted:
    """End a pause, or continue an interrupted run."""
    await _known(desk, run_id)
    return _accepted(run_id, await desk.resume(run_id), "it looks at the world, and continues")


@router.post("/runs/{run_id}/cancel", responses=REFUSALS)
async def cancel(run_id: RunPath, desk: TheDesk, _: Operator) -> Accepted:
    """End the run after the current step: an act is never interrupted."""
    await _known(desk, run_id)
    return _accepted(run_id, await desk.control(run_id).cancel(), "it ends after the current step")


@router.post("/runs/{run_id}/guide", responses=REFUSALS)
async def guide(run_id: RunPath, body: Guidance, desk: TheDesk, _: Operator) -> Accepted:
    """Give the planner advice for its next plan."""
    await _known(desk, run_id)
    return _accepted(
        run_id, await desk.control(run_id).guide(body.text.strip()), "the planner reads it with its next plan"
    )


@router.post("/runs/{run_id}/take-over", responses=REFUSALS)
async def take_over(run_id: RunPath, desk: TheDesk, _: Operator) -> Accepted:
    """Pause the run and let the caller act in its world. Answers once no step is being carried out any more."""
    await _known(desk, run_id)
    control = desk.control(run_id)
    if run_id not in desk.driven_here() and (why_not := await control.why_no_take_over()):
        return _accepted(run_id, why_not, "")
    if not isinstance((await desk.store.load(run_id))[0].phase, Paused) and (why_not := await control.pause()):
        return _accepted(run_id, why_not, "")
    why_not = await _wait_for_pause(desk, run_id)
    where = ""
    if not why_not:
        try:
            where = await desk.take_over(run_id)
        except ConnectionError as trouble:
            why_not = f"it is paused, but {trouble}"
    return _accepted(
        run_id, why_not, f"the world is yours{f', {where}' if where else ''}; resume the run when you are done"
    )


async def _wait_for_pause(desk: Desk, run_id: str) -> str:
    """Why it has not paused; empty once it has."""
    give_up_at = time.monotonic() + PATIENCE
    while time.monotonic() < give_up_at:
        run, _ = await desk.store.load(run_id)
        if isinstance(run.phase, Paused):
            return ""
        if isinstance(run.phase, Ended):
            return f"the run has ended: {run.phase.reason}"
        await asyncio.sleep(0.2)
    return "a step is still being carried out; it pauses after it"
