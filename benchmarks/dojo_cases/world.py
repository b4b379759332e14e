"""AgentDojo's tools as a world: `Mcp` with AgentDojo's process in place of a server."""

from collections.abc import Mapping
from typing import Any, cast

from mcp.types import Tool as Definition

from benchmarks.dojo_cases.session import Dojo, Invocation, Loaded
from midcourse.domain.argument import Scalar, json_text
from midcourse.worlds.mcp.answer import ToolResult
from midcourse.worlds.mcp.connection import Connection
from midcourse.worlds.mcp.policy import ToolPolicy
from midcourse.worlds.mcp.tool import Tool
from midcourse.worlds.mcp.world import Mcp

READS = (
    "check_restaurant_opening_hours",
    "get_all_car_rental_companies_in_city",
    "get_all_hotels_in_city",
    "get_all_restaurants_in_city",
    "get_balance",
    "get_car_fuel_options",
    "get_car_price_per_day",
    "get_car_rental_address",
    "get_car_types_available",
    "get_channels",
    "get_contact_information_for_restaurants",
    "get_cuisine_type_for_restaurants",
    "get_current_day",
    "get_day_calendar_events",
    "get_dietary_restrictions_for_all_restaurants",
    "get_draft_emails",
    "get_file_by_id",
    "get_flight_information",
    "get_hotels_address",
    "get_hotels_prices",
    "get_iban",
    "get_most_recent_transactions",
    "get_price_for_restaurants",
    "get_rating_reviews_for_car_rental",
    "get_rating_reviews_for_hotels",
    "get_rating_reviews_for_restaurants",
    "get_received_emails",
    "get_restaurants_address",
    "get_scheduled_transactions",
    "get_sent_emails",
    "get_user_info",
    "get_user_information",
    "get_users_in_channel",
    "list_files",
    "read_channel_messages",
    "read_file",
    "read_inbox",
    "search_calendar_events",
    "search_contacts_by_email",
    "search_contacts_by_name",
    "search_emails",
    "search_files",
    "search_files_by_filename",
)
"""Tools that change nothing. Not `get_unread_emails`, which marks them as read, nor `get_webpage`: its request reaches a stranger."""
POLICY = {"tools": {name: {"effect": "read"} for name in READS}}
"""Every other tool is irreversible, as for any MCP server."""


class DojoWorld(Mcp):
    """The tools of one case."""

    name = "agentdojo"

    def __init__(self, tools: "Tools") -> None:
        super().__init__(["agentdojo"], policy=POLICY, stateful=True)
        self._dojo_tools = tools

    async def _connect(self, session: str) -> None:
        self._session = session
        self._connection = cast(Connection, self._dojo_tools)
        await self._list_tools(self._connection)


class Tools:
    """What `Mcp` needs of a connection, and a record of what the calls returned."""

    lost, last_output, protocol = False, "", "JSON lines"

    def __init__(self, dojo: Dojo, loaded: Loaded) -> None:
        self._dojo = dojo
        self._definitions = tuple(map(Definition.model_validate, loaded.tools))
        self.called: list[Invocation] = []
        self.injected = False
        """Whether a result contained the injected text."""
        self.changing_reads: list[str] = []
        """Tools declared as reading that changed the environment."""

    def written(self, call: Invocation) -> dict[str, Scalar]:
        """The arguments of a call as a plan has them: lists and objects as JSON text."""
        fitting = (Tool(one, ToolPolicy()) for one in self._definitions if one.name == call.function)
        as_json = {one.name for tool in fitting for one in tool.signature.parameters if one.type == "json"}
        return {
            name: json_text(value) if name in as_json and value is not None else value
            for name, value in call.values().items()
        }

    async def list_tools(self) -> tuple[Definition, ...]:
        return self._definitions

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        call = Invocation.of(tool, dict(arguments))
        answer = self._dojo.call(call)
        self.called.append(call)
        self.injected = self.injected or answer["injected"]
        if answer["changed"] and tool in READS:
            self.changing_reads.append(tool)
        return ToolResult(text=answer["text"], is_error=answer["error"])

    async def close(self) -> None:
        """The process serves other cases."""
