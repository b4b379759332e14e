"""`/mcp`: the tools of `midcourse mcp` over streamable HTTP, for callers with a key of this server.

Each request stands alone, with its own credentials: there are no sessions that another caller could continue. Whatever the caller's
role, a host cannot decide questions here, since it is a model.
"""

from dataclasses import replace
from functools import lru_cache

from mcp.server import MCPServer
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from midcourse.app.desk.desk import Desk
from midcourse.server.access.identity import Caller
from midcourse.server.mcp.start import build_server
from midcourse.server.mcp.tools import RunTools
from midcourse.server.problems import Refusal, respond
from midcourse.server.state import Shared, authenticate

PATH = "/mcp"
MOST_CALLERS = 100
"""Callers whose list of tools is kept: making one takes some milliseconds."""


class McpEndpoint:
    """An ASGI application. The guard of the server is around it, as around everything."""

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self._server_for = lru_cache(maxsize=MOST_CALLERS)(self._build)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        try:
            caller = authenticate(self._shared, request.headers, request.cookies)
        except Refusal as refusal:
            wanted = {"WWW-Authenticate": "Bearer"} if refusal.problem.status == 401 else None
            await respond(refusal.problem, wanted)(scope, receive, send)
            return
        desk = await self._shared.desks.of(caller.tenant)
        server = self._server_for(host_of(caller), desk)
        manager = StreamableHTTPSessionManager(server._lowlevel_server, json_response=True, stateless=True)  # pyright: ignore[reportPrivateUsage]
        async with manager.run():
            await manager.handle_request(scope, receive, send)

    def _build(self, caller: Caller, desk: Desk) -> MCPServer:
        return build_server(RunTools(desk=desk, starts=self._shared.starts, caller=caller, tasks=self._shared.tasks))


def host_of(caller: Caller) -> Caller:
    """The host that uses a caller's key: a model, which may start and control runs if the caller may, and never decides."""
    return replace(caller, name=f"{caller.name} (mcp)", role="operator" if caller.may("operate") else "viewer")
