"""Control of a run: pause, resume, cancel, guide."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field

from midcourse.agent.start import is_stored
from midcourse.errors import RunUnknown
from midcourse.server.models.base import Model
from midcourse.server.models.questions import Accepted
from midcourse.server.problems import Refusal, problem_responses
from midcourse.server.routes.runs import RunPath
from midcourse.server.state import Operator, Reader, SharedState, TheRuns
from midcourse.tenants.runs import TenantRuns

router = APIRouter(tags=["control"])
REFUSALS = problem_responses(400, 404, 409, 413, 415, 422)


class Guidance(Model):
    """Guidance for the planner."""

    text: Annotated[str, Field(min_length=1, max_length=10_000, pattern=r"\S")]


async def check_known(tenant_runs: TenantRuns, run_id: str) -> None:
    """Raise `RunUnknown` if there is no such run."""
    if not await is_stored(tenant_runs.store, run_id):
        raise RunUnknown(f"no run is called '{run_id}'")


def accept_or_refuse(run_id: str, why_not: str, says: str) -> Accepted:
    """The response to a request that took effect. If `why_not` says why it did not, raises `Refusal`."""
    if why_not:
        raise Refusal(
            409, "refused", why_not, next=f"`may` in GET /api/v1/runs/{run_id} lists the actions that are possible now"
        )
    return Accepted(run=run_id, says=says)


@router.post("/runs/{run_id}/pause", responses=REFUSALS)
async def pause(run_id: RunPath, tenant_runs: TheRuns, _: Operator) -> Accepted:
    """Pause the run after the current step."""
    await check_known(tenant_runs, run_id)
    return accept_or_refuse(run_id, await tenant_runs.control(run_id).pause(), "it pauses after the current step")


@router.post("/runs/{run_id}/resume", responses=REFUSALS)
async def resume(run_id: RunPath, tenant_runs: TheRuns, shared: SharedState, caller: Reader) -> Accepted:
    """Continue a paused or interrupted run. If its world is taken over, this ends the take-over.

    Operators may do this, and the user who has taken over the world, to hand it back.
    """
    held = shared.take_overs.find(caller.tenant, run_id)
    if not caller.may("operate") and (held is None or held.by.id != caller.id):
        raise Refusal(403, "forbidden", f"the role {caller.role} may not operate")
    await check_known(tenant_runs, run_id)
    await shared.take_overs.end(caller.tenant, run_id)
    return accept_or_refuse(run_id, await tenant_runs.resume(run_id), "it observes the world and continues")


@router.post("/runs/{run_id}/cancel", responses=REFUSALS)
async def cancel(run_id: RunPath, tenant_runs: TheRuns, _: Operator) -> Accepted:
    """End the run after the current step: an act is never interrupted."""
    await check_known(tenant_runs, run_id)
    return accept_or_refuse(run_id, await tenant_runs.control(run_id).cancel(), "it ends after the current step")


@router.post("/runs/{run_id}/guide", responses=REFUSALS)
async def guide(run_id: RunPath, body: Guidance, tenant_runs: TheRuns, _: Operator) -> Accepted:
    """Give the planner guidance for its next plan."""
    await check_known(tenant_runs, run_id)
    return accept_or_refuse(
        run_id, await tenant_runs.control(run_id).guide(body.text.strip()), "the planner reads it with its next plan"
    )
