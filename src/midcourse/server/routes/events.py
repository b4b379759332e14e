"""The live events of a run, as server-sent events."""

import time
from collections.abc import AsyncIterable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent

from midcourse.server.hub import WatchedRun
from midcourse.server.models.stream import StreamMessage
from midcourse.server.problems import problem_responses
from midcourse.server.routes.runs import RunPath
from midcourse.server.state import Reader, SharedState, TheRuns

router = APIRouter(tags=["events"])

CHECKED = 1.0
"""Seconds until the caller is authenticated again: after a sign-out, or without the key, no more messages are sent."""
RETRY = 1000
"""Milliseconds after which a browser connects again."""


async def watched(run_id: RunPath, shared: SharedState, caller: Reader, tenant_runs: TheRuns) -> WatchedRun:
    """Find the log of the run before the response begins, so that an unknown run is a 404 and not an empty stream."""
    return await shared.hub.watch(caller.tenant, tenant_runs, run_id)


@router.get("/runs/{run_id}/events", response_class=EventSourceResponse, responses=problem_responses(404, 410, 422))
async def follow_run(
    watched: Annotated[WatchedRun, Depends(watched)],
    request: Request,
    shared: SharedState,
    caller: Reader,
    last_event_id: Annotated[str, Header(max_length=100)] = "",
) -> AsyncIterable[StreamMessage]:
    """Stream all turns of the run from the first, then new ones as they happen, until the run ends.

    The event name of each SSE message is its `type`. To continue after a lost connection, send the id of the last message as
    `Last-Event-ID` (browsers do so automatically).
    """
    first: dict[str, Any] = {"retry": RETRY}
    checked_at = time.monotonic()
    async for sent in watched.read(last_event_id):
        if time.monotonic() - checked_at > CHECKED:
            if shared.doorway.caller_of(request.headers, request.cookies) != caller:
                return
            checked_at = time.monotonic()
        message = ServerSentEvent(raw_data=sent.data, event=sent.type, id=sent.id, **first)
        first = {}
        yield message  # pyrefly: ignore[invalid-yield]  # FastAPI sends it as it is; the annotation is for OpenAPI
