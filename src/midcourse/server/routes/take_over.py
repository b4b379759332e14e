"""Taking over the world of a run: pause the run, see its page, and act there with mouse and keyboard."""

import asyncio
import time

from fastapi import APIRouter, Request
from starlette.responses import Response

from midcourse.domain.approval import VERDICTS, Decision
from midcourse.domain.phases import Asking, Ended, Paused
from midcourse.policy.approval.objection import why_may_not_decide
from midcourse.ports.viewing import NotAttended
from midcourse.server.access.identity import Caller
from midcourse.server.live import NotWatchable
from midcourse.server.models.questions import Accepted
from midcourse.server.models.take_over import Gestures, HandledView
from midcourse.server.problems import Refusal, problem_responses
from midcourse.server.routes.control import REFUSALS, accept_or_refuse, check_known
from midcourse.server.routes.live import PICTURE, After, next_frame, nothing_to_see, respond
from midcourse.server.routes.runs import RunPath
from midcourse.server.state import Approver, Shared, SharedState, TheRuns
from midcourse.server.take_overs import TakeOver
from midcourse.tenants.runs import TenantRuns

router = APIRouter(tags=["take over"])
PATIENCE = 120.0
"""Seconds that a request to take over waits for the end of the current step."""
PICTURED_WITHIN = 5.0
"""Seconds that a request waits for the next picture. Between two requests, the client learns whether a dialog is open."""
NEXT = "POST /api/v1/runs/{run_id}/take-over"


@router.post("/runs/{run_id}/take-over", responses=REFUSALS)
async def take_over(run_id: RunPath, tenant_runs: TheRuns, shared: SharedState, caller: Approver) -> Accepted:
    """Pause the run and let the caller act in its world. Responds when the current step has ended.

    Until the run is resumed, what the caller does in the world is not held for approval. It is recorded as the caller's. So it
    needs the right to decide, and where two people are required, the one who started the run may not.
    """
    await check_known(tenant_runs, run_id)
    run, _ = await tenant_runs.store.load(run_id)
    decision = Decision(verdict="take_over", by=caller.name, by_id=caller.id)
    if why_not := why_may_not_decide(run, decision):
        raise Refusal(403, "forbidden", why_not, next="another approver can take over")
    control = tenant_runs.control(run_id)
    if run_id not in tenant_runs.driven_here() and (why_not := await control.why_no_take_over()):
        return accept_or_refuse(run_id, why_not, "")
    if isinstance(run.phase, Asking):
        why_not = await _answer_question(tenant_runs, run_id, decision)
    elif not isinstance(run.phase, Paused):
        why_not = await control.pause()
    if why_not:
        return accept_or_refuse(run_id, why_not, "")
    why_not = await _wait_for_pause(tenant_runs, run_id)
    where = ""
    if not why_not:
        try:
            where = await tenant_runs.take_over(run_id)
            await shared.take_overs.begin(caller, tenant_runs, run_id)
        except ConnectionError as trouble:
            why_not = f"it is paused, but {trouble}"
    may_resume = caller.may("operate") or shared.take_overs.find(caller.tenant, run_id)
    done = "resume the run when you are done" if may_resume else "when you are done, an operator resumes the run"
    return accept_or_refuse(
        run_id,
        why_not,
        f"you have taken over the world{f', {where}' if where else ''}; {done}",
    )


async def _answer_question(tenant_runs: TenantRuns, run_id: str, decision: Decision) -> str:
    """Answer the open question with `take_over`: a run that waits for an answer does not pause. Returns why that is refused."""
    control = tenant_runs.control(run_id)
    asked = await control.open_question()
    if asked is None or decision.verdict not in VERDICTS[asked.about]:
        return "it waits for an answer, which has to be given first"
    return await control.answer(asked, decision)


async def _wait_for_pause(tenant_runs: TenantRuns, run_id: str) -> str:
    """Wait until the run has paused. Returns why it has not, or an empty string."""
    give_up_at = time.monotonic() + PATIENCE
    while time.monotonic() < give_up_at:
        run, _ = await tenant_runs.store.load(run_id)
        if isinstance(run.phase, Paused):
            return ""
        if isinstance(run.phase, Ended):
            return f"the run has ended: {run.phase.reason}"
        await asyncio.sleep(0.2)
    return "a step is still being carried out; it pauses after it"


@router.get(
    "/runs/{run_id}/take-over/picture",
    response_class=Response,
    responses={**PICTURE, **problem_responses(404, 409, 422)},
)
async def see_taken_over(
    request: Request, run_id: RunPath, tenant_runs: TheRuns, shared: SharedState, caller: Approver, after: After = ""
) -> Response:
    """Wait for the next picture of the world that the caller has taken over. Secrets are not covered; the picture is not stored."""
    await check_known(tenant_runs, run_id)
    if shared.take_overs.find(caller.tenant, run_id) is None:
        return nothing_to_see()
    held = await _find_held(tenant_runs, shared, caller, run_id)
    try:
        return respond(await next_frame(request, held.view, after, PICTURED_WITHIN))
    except NotWatchable:
        await _end_take_over(shared, caller, held)
        return nothing_to_see()


@router.post("/runs/{run_id}/take-over/input", responses=REFUSALS)
async def act_in_taken_over(
    run_id: RunPath, body: Gestures, tenant_runs: TheRuns, shared: SharedState, caller: Approver
) -> HandledView:
    """Send mouse and keyboard actions to the world that the caller has taken over."""
    held = await _find_held(tenant_runs, shared, caller, run_id)
    try:
        await held.handle(tuple(gesture.gesture() for gesture in body.gestures))
    except NotAttended as why_not:
        await _end_take_over(shared, caller, held)
        raise _build_refusal(run_id, str(why_not)) from why_not
    return HandledView(dialog=held.dialog)


async def _find_held(tenant_runs: TenantRuns, shared: Shared, caller: Caller, run_id: str) -> TakeOver:
    """The take-over by this caller, who must have taken over the world first, which is recorded."""
    await check_known(tenant_runs, run_id)
    held = shared.take_overs.find(caller.tenant, run_id)
    if held is None or held.by.id != caller.id:
        raise _build_refusal(run_id, f"{held.by.name} has taken it over" if held else "you have not taken it over")
    return held


async def _end_take_over(shared: Shared, caller: Caller, held: TakeOver) -> None:
    if shared.take_overs.find(caller.tenant, held.run_id) is held:
        await shared.take_overs.end(caller.tenant, held.run_id)


def _build_refusal(run_id: str, why: str) -> Refusal:
    return Refusal(409, "refused", why, next=NEXT.format(run_id=run_id))
