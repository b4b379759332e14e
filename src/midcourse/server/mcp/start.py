"""Serves the runs of a home or a fleet over stdio, as an MCP server."""

from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from mcp.server import MCPServer

from midcourse.config.defaults import user, user_id
from midcourse.config.fleet_settings import FleetSettings
from midcourse.config.settings import Settings
from midcourse.policy.approval.objection import THROUGH_MCP
from midcourse.server.access.identity import Caller, Role
from midcourse.server.mcp.tools import RunTools
from midcourse.server.starting import Starts
from midcourse.tenants.tenants import LOCAL, FleetTenants, LocalTenants

INSTRUCTIONS = """\
Midcourse carries out tasks whose effects must happen once: orders, bookings, messages. Start one with start_run and a key of your own, \
then call wait_for_run until it has ended. A run that waits for a person needs the user: tell them what it asks. Never start the same \
work under another key because an answer was lost: call start_run again with the same key."""


@dataclass(frozen=True, kw_only=True)
class McpServing:
    """What to serve, and what a host may do."""

    home: Settings
    fleet: FleetSettings | None = None
    tasks: Path | None = None
    decides: bool = False
    """Whether a host may pass on decisions of its user."""


def build_server(tools: RunTools) -> MCPServer:
    server = MCPServer(
        "midcourse", instructions=INSTRUCTIONS, version=version("midcourse"), log_level="WARNING", subscriptions=False
    )
    for tool, hints in tools.list_tools():
        server.add_tool(tool, annotations=hints)
    return server


async def serve_stdio(serving: McpServing) -> None:
    """Serve until the host closes its end. The next server resumes the runs that this process drives."""
    tenant = serving.fleet.tenant if serving.fleet else LOCAL
    role: Role = "admin" if serving.decides else "operator"
    caller = Caller(name=f"{user()}{THROUGH_MCP}", id=user_id(), tenant=tenant, role=role)
    tenants = FleetTenants(serving.fleet, serving.home) if serving.fleet else LocalTenants({LOCAL: serving.home})
    starts = Starts(serving.home.home / "server")
    try:
        await tenants.open()
        tools = RunTools(tenant_runs=await tenants.find_runs(tenant), starts=starts, caller=caller, tasks=serving.tasks)
        await build_server(tools).run_stdio_async()
    finally:
        await tenants.close()
        starts.close()
