"""Live pictures of a run's world, for viewers."""

import time
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from midcourse.agent.start import is_stored
from midcourse.errors import RunUnknown
from midcourse.server.live import Frame, LiveView, NotWatchable
from midcourse.server.problems import problem_responses
from midcourse.server.routes.runs import RunPath
from midcourse.server.state import Reader, SharedState, TheRuns

router = APIRouter(tags=["live"])
PATIENCE = 20.0
"""Seconds that a request waits for the next picture."""
GLANCE = 0.5
"""Seconds between two checks whether the caller is still connected."""
RETRY = "10"
"""Seconds after which a client may ask again about a run that cannot be watched."""
PICTURE = {
    200: {
        "description": "A picture. `ETag` is its identifier.",
        "content": {"image/jpeg": {"schema": {"type": "string", "format": "binary"}}},
    },
    204: {"description": "No new picture in time. If `Retry-After` is set, the world cannot be watched at the moment."},
}
After = Annotated[str, Query(max_length=80, description="The identifier of the latest picture that the caller has.")]


@router.get("/runs/{run_id}/live", response_class=Response, responses={**PICTURE, **problem_responses(404, 422)})
async def watch(
    request: Request, run_id: RunPath, tenant_runs: TheRuns, shared: SharedState, caller: Reader, after: After = ""
) -> Response:
    """Wait for a new picture of the run's world, with secrets covered.

    Pictures are taken only while a request waits, at most two per second, and are not stored.
    """
    if not await is_stored(tenant_runs.store, run_id):
        raise RunUnknown(f"no run is called '{run_id}'")
    try:
        frame = await next_frame(request, shared.live.find_view(caller.tenant, tenant_runs, run_id), after)
    except NotWatchable:
        return nothing_to_see()
    return respond(frame)


async def next_frame(request: Request, view: LiveView, after: str, seconds: float = PATIENCE) -> Frame | None:
    """The next picture. None if there is none within `seconds`, or if the caller has left."""
    give_up_at = time.monotonic() + seconds
    while time.monotonic() < give_up_at and not await request.is_disconnected():
        if (frame := await view.next(after, GLANCE)) is not None:
            return frame
    return None


def respond(frame: Frame | None) -> Response:
    if frame is None:
        return Response(status_code=204)
    return Response(frame.picture, media_type="image/jpeg", headers={"ETag": f'"{frame.number}"'})


def nothing_to_see() -> Response:
    """The response for a run that cannot be watched at the moment. It is not a refusal, which browsers would report as an error."""
    return Response(status_code=204, headers={"Retry-After": RETRY})
