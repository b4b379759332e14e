"""A connection to an MCP server over stdio or HTTP, which a separate task holds open, and the forms that the server sends over it.

Each form (elicitation) goes to a person, never to a model. Everything else that a server wants is refused.
"""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from importlib.metadata import version
from typing import Any

import httpx2
from mcp import Client
from mcp.client import ClientRequestContext
from mcp.client.session import ElicitationFnT
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp.types import (
    CONNECTION_CLOSED,
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitRequestParams,
    ElicitResult,
    Implementation,
    InputRequests,
    InputRequiredResult,
    InputResponses,
    TextContent,
)
from mcp.types import Tool as Definition

from midcourse.domain.argument import Scalar
from midcourse.domain.skill import Parameter
from midcourse.json_schema import as_mapping, read_parameter, read_properties
from midcourse.ports.approver import FillIn, Form
from midcourse.ports.world import WorldAway
from midcourse.worlds.mcp.answer import CallRefused, ConnectionLost, ServerAddress, ToolResult
from midcourse.worlds.mcp.server import Server

CONNECTS_WITHIN = 60.0
MOST_PAGES = 100
"""The maximum number of pages of a list of tools, since a server could send pages forever."""
MOST_FORMS = 8
"""The maximum number of rounds of forms in one call."""
CLIENT = Implementation(name="midcourse", version=version("midcourse"))


class Forms:
    """The forms of one connection. Without `fill_in`, the server learns that forms cannot be filled in here."""

    def __init__(self, asker: str, fill_in: FillIn | None) -> None:
        self._asker = asker
        self._fill_in = fill_in
        self.skill = ""
        """The tool that is being called, because a form of the handshake generation does not name it."""

    @property
    def callback(self) -> ElicitationFnT | None:
        """The callback for requests that servers of the handshake generation send in the middle of a call."""
        return self._answer if self._fill_in else None

    async def respond(self, requests: InputRequests) -> InputResponses | None:
        """Return the responses of a person, or None if one of the requests is not a form, or if there is no person to ask."""
        forms = {key: request for key, request in requests.items() if isinstance(request, ElicitRequest)}
        if self._fill_in is None or len(forms) < len(requests):
            return None
        return {key: await self._ask(self._fill_in, request.params) for key, request in forms.items()}

    async def _answer(self, context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        assert self._fill_in, "the callback exists only then"
        return await self._ask(self._fill_in, params)

    async def _ask(self, fill_in: FillIn, params: ElicitRequestParams) -> ElicitResult:
        if isinstance(params, ElicitRequestFormParams):
            fields = _read_fields(as_mapping(params.requested_schema))
            form = Form(asker=self._asker, skill=self.skill, message=params.message, fields=fields)
        else:
            form = Form(asker=self._asker, skill=self.skill, message=params.message, address=params.url)
        values: Mapping[str, Scalar] | None = await fill_in(form)
        if values is None:
            return ElicitResult(action="decline")
        return ElicitResult(action="accept", content=None if form.address else dict(values))


def _read_fields(schema: Mapping[str, Any]) -> tuple[Parameter, ...]:
    """Return the fields of a form from the schema that a server sends with it."""
    required = schema.get("required", ())
    return tuple(
        read_parameter(name, _flatten_choices(each), name in required)[0]
        for name, each in read_properties(schema).items()
    )


def _flatten_choices(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema with its choices as an `enum`, also if the server wrote them as constants with titles."""
    constants = [as_mapping(choice).get("const") for choice in schema.get("oneOf") or ()]
    if not constants or None in constants:
        return schema
    return {**{key: value for key, value in schema.items() if key != "oneOf"}, "enum": constants}


class Connection:
    """Calls the tools of a server. When a call is cancelled, a stdio server is killed, so that it cannot carry out the call later."""

    def __init__(self, client: Client, server: Server | None, forms: Forms) -> None:
        self._client = client
        self._server = server
        self._forms = forms
        self._leaving = asyncio.Event()
        self._holder: asyncio.Task[None] | None = None

    @classmethod
    async def open(cls, address: ServerAddress, session: str, forms: Forms) -> "Connection":
        """Connect to a server. If the address is a command, start it first.

        Raise `TaskInvalid` if the command cannot be started, and `WorldAway` if no server answers.
        """
        server = None
        if address.command:
            server = await Server.start(address.command, address.environment, address.folder, session)
        ready: asyncio.Future[Connection] = asyncio.get_running_loop().create_future()
        holder = asyncio.create_task(cls._hold(address, server, forms, ready))
        try:
            connection = await asyncio.wait_for(asyncio.shield(ready), CONNECTS_WITHIN)
        except BaseException as problem:
            holder.cancel()
            await asyncio.gather(holder, return_exceptions=True)
            if not isinstance(problem, Exception):
                raise
            says = (server.last_error_line if server else "") or str(problem) or type(problem).__name__
            raise WorldAway(f"the MCP server did not answer: {says}") from problem
        connection._holder = holder  # noqa: SLF001  # its own class
        return connection

    @classmethod
    async def _hold(
        cls, address: ServerAddress, server: Server | None, forms: Forms, ready: "asyncio.Future[Connection]"
    ) -> None:
        """Enter and leave the client in one task, which its cancel scopes require."""
        try:
            async with AsyncExitStack() as stack:
                if server is not None:
                    stack.push_async_callback(server.end)
                    transport: Any = server.streams()
                else:
                    http = await stack.enter_async_context(httpx2.AsyncClient(headers=dict(address.headers)))
                    http.timeout = httpx2.Timeout(30.0, read=None)  # the time-out of its step ends a call
                    transport = streamable_http_client(address.url, http_client=http)
                client = await stack.enter_async_context(
                    Client(transport, client_info=CLIENT, cache=None, elicitation_callback=forms.callback)
                )
                connection = cls(client, server, forms)
                ready.set_result(connection)
                await connection._leaving.wait()
        except Exception as problem:
            if not ready.done():
                ready.set_exception(problem)

    @property
    def lost(self) -> bool:
        return self._server is not None and self._server.ended.is_set()

    @property
    def last_error_line(self) -> str:
        return self._server.last_error_line if self._server else ""

    @property
    def protocol(self) -> str:
        return self._client.protocol_version

    async def list_tools(self) -> tuple[Definition, ...]:
        """Read all pages of the list of tools. Raise `ConnectionLost` if the server is gone, `CallRefused` if it answers with an error."""
        listed: list[Definition] = []
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            try:
                page = await self._client.list_tools(cursor=cursor)
            except MCPError as problem:
                raise self._explain_error(problem) from problem
            listed += page.tools
            cursor = page.next_cursor
            if cursor is None:
                break
        return tuple(listed)

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Call a tool. The call is sent again only if the server asks for input.

        Raises `ConnectionLost` if the server is gone, `CallRefused` if it answers with an error.
        """
        self._forms.skill = tool
        try:
            result = await self._call(tool, dict(arguments))
        except MCPError as problem:
            raise self._explain_error(problem) from problem
        except RuntimeError as unfit:  # the result does not fit the schema that the tool declares
            raise CallRefused(str(unfit)) from unfit
        except asyncio.CancelledError:
            if self._server is not None:
                self._server.kill()
            raise
        if not isinstance(result, CallToolResult):
            return ToolResult(text=f"{tool} asks for input", asks=True)
        texts = (block.text if isinstance(block, TextContent) else f"[{block.type}]" for block in result.content)
        fields = as_mapping(result.structured_content)
        return ToolResult(text="\n".join(texts), fields=fields, is_error=bool(result.is_error))

    async def _call(self, tool: str, arguments: dict[str, Any]) -> object:
        """Send a call. A server of the latest generation may ask for input first; then the call is sent again with the input."""
        responses, state = None, None
        for _ in range(MOST_FORMS):
            result = await self._client.session.call_tool(
                tool, arguments, input_responses=responses, request_state=state, allow_input_required=True
            )
            if not isinstance(result, InputRequiredResult):
                return result
            responses, state = await self._forms.respond(result.input_requests or {}), result.request_state
            if responses is None:
                return result
        return None

    def _explain_error(self, problem: MCPError) -> Exception:
        """Return the exception for an error. Over HTTP it counts as a lost connection: it may come from the transport while the call still runs."""
        lost = self.lost or self._server is None or problem.code == CONNECTION_CLOSED
        return (ConnectionLost if lost else CallRefused)(self.last_error_line or str(problem))

    async def close(self) -> None:
        self._leaving.set()
        if self._holder is not None:
            await asyncio.gather(self._holder, return_exceptions=True)
