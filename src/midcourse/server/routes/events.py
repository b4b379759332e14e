"""The live events of a run, as server-sent events."""

from collections.abc import AsyncIterable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header
from fastapi.sse import EventSourceResponse, ServerSentEvent

from midcourse.server.hub import WatchedRun
from midcourse.server.models.stream import StreamMessage
from midcourse.server.problems import documented
from midcourse.server.routes.runs import RunPath
from midcourse.server.state import Reader, SharedState, TheDesk

router = APIRouter(tags=["events"])

RETRY = 1000
"""Milliseconds after which a browser connects again."""


async def watched(run_id: RunPath, shared: SharedState, caller: Reader, desk: TheDesk) -> WatchedRun:
    """The log of the run, found before the response begins: an unknown run is a 404 and not an empty stream."""
    return await shared.hub.watch(caller.tenant, desk, run_id)


@router.get("/runs/{run_id}/events", response_class=EventSourceResponse, responses=documented(404, 422))
async def follow_run(
    watched: Annotated[WatchedRun, Depends(watched)],
    last_event_id: Annotated[str, Header(max_length=100)] = "",
) -> AsyncIterable[StreamMessage]:
    """All turns from the first, then new ones as they happen, until the end of the run.

    Each SSE message has the message's `type` as its event name. After a break send the last id as `Last-Event-ID` (a browser does
    it by itself): the stream continues right after it.
    """
    first: dict[str, Any] = {"retry": RETRY}
    async for sent in watched.read(last_event_id):
        message = ServerSentEvent(raw_data=sent.data, event=sent.type, id=sent.id, **first)
        first = {}
        yield message  # pyright: ignore[reportReturnType] # FastAPI sends it as it is; the annotation is for OpenAPI
