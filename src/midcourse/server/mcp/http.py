"""`/mcp`: the tools of `midcourse mcp` over streamable HTTP, for callers with a key of this server.

Each request has its own credentials, and there are no sessions that another caller could continue. A host cannot decide questions
here, with any role of its caller, because it is a model.
"""

import asyncio
from collections.abc import Coroutine
from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from midcourse.policy.approval.objection import THROUGH_MCP
from midcourse.server.access.identity import Caller, Role
from midcourse.server.problems import Refusal, respond
from midcourse.server.state import Shared, authenticate
from midcourse.tenants.runs import TenantRuns

if TYPE_CHECKING:
    from mcp.server import MCPServer

PATH = "/mcp"
STOPPING = Refusal(503, "unavailable", "the server is stopping", next="call the tool again: the run is left as it is")
MOST_CALLERS = 100
"""The number of callers with a cached list of tools. Building such a list takes some milliseconds."""


class McpEndpoint:
    """The ASGI application of `/mcp`. The guard of the server is around it, too.

    The library is imported at the first request, in a thread: it takes most of a second, and many servers are never asked.
    """

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
        if scope["method"] != "POST":  # hosts receive only answers to their requests, so there is no stream to open
            await Response(status_code=405, headers={"Allow": "POST"})(scope, receive, send)
            return
        await asyncio.to_thread(import_module, "midcourse.server.mcp.start")
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        server = self._server_for(host_of(caller), await self._shared.tenants.find_runs(caller.tenant))
        manager = StreamableHTTPSessionManager(server._lowlevel_server, json_response=True, stateless=True)  # noqa: SLF001  # the manager takes no other
        async with manager.run():
            if not await self._finish(manager.handle_request(scope, receive, send)):
                await respond(STOPPING.problem, {"Retry-After": "5"})(scope, receive, send)

    async def _finish(self, handling: Coroutine[Any, Any, None]) -> bool:
        """Handle a request unless the server stops first; returns whether it was handled. A host may wait for a run for most of a minute."""
        tasks = [asyncio.create_task(handling), asyncio.create_task(self._shared.stopping.wait())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            finished = tasks[0].done()
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
        return finished

    def _build(self, caller: Caller, tenant_runs: TenantRuns) -> "MCPServer":
        from midcourse.server.mcp.start import build_server
        from midcourse.server.mcp.tools import RunTools

        return build_server(
            RunTools(tenant_runs=tenant_runs, starts=self._shared.starts, caller=caller, tasks=self._shared.tasks)
        )


def host_of(caller: Caller) -> Caller:
    """The host that uses a caller's key. It is a model: it may start and control runs if the caller may, and never decides.

    Its identity is the caller's: what it starts, its person has started.
    """
    role: Role = "operator" if caller.may("operate") else "viewer"
    return replace(caller, name=f"{caller.name}{THROUGH_MCP}", role=role)
