"""A world whose skills are the tools of an MCP server.

What the server says is not trusted: without a policy every tool is irreversible, so a person is asked before it is called. An
approval holds for the definitions of the tools as they were then.
"""

import json
import os
import secrets
import shlex
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from midcourse.domain.approval import CommitSet
from midcourse.domain.argument import Pairs, json_text
from midcourse.domain.observation import Unseen, Zone
from midcourse.domain.outcome import Outcome, cut_value
from midcourse.errors import TaskInvalid
from midcourse.json_schema import as_mapping
from midcourse.ports.approver import FillIn
from midcourse.ports.world import UNSENT, Call
from midcourse.worlds.base import BaseWorld, Scene, failed, not_sent
from midcourse.worlds.declare import PROBE_SUFFIX, Declared, DeclaredProbe
from midcourse.worlds.mcp.answer import CallRefused, ConnectionLost, ServerAddress
from midcourse.worlds.mcp.policy import fill_in, read_policy
from midcourse.worlds.mcp.tool import Tool, ToolDefinition

if TYPE_CHECKING:
    from midcourse.worlds.mcp.connection import Connection

MOST_RESULTS = 8
LONGEST_SHOWN = 4_000
"""Characters of a result that its zone shows, and of an error. What the step returned is kept in full."""


class Mcp(BaseWorld):
    """The tools of one MCP server: `Mcp("mcp-server-git --repository .")`, or `Mcp("https://tools.example/mcp")`.

    `server` is a command, as one text or as a list of words, or an address. `policy` is a file or a mapping that describes its tools.
    `environment` and `headers` are for the server; a value `$NAME` is taken from the environment of this process. Set `stateful` if the
    server keeps something in memory that is lost when it is started again, such as a browser.
    """

    name = "mcp"
    blocks = False

    def __init__(
        self,
        server: str | Sequence[str],
        *,
        policy: str | Mapping[str, object] | None = None,
        title: str = "",
        environment: Mapping[str, str] | None = None,
        folder: str = "",
        headers: Mapping[str, str] | None = None,
        stateful: bool = False,
    ) -> None:
        super().__init__()
        self._address = _read_address(server, environment or {}, folder, headers or {})
        self._policy = read_policy(policy)
        url, command = self._address.url, self._address.command
        self._title = title or (urlsplit(url).netloc if url else Path(command[0]).name)
        self._stateful = stateful
        self.fences = not self._address.url  # what a remote server was asked to do cannot be stopped from here
        self._session = ""
        self._fill_in: FillIn | None = None
        self._connection: Connection | None = None
        self._tools: dict[str, Tool] = {}
        self._declared = Declared()
        self._results: dict[str, str] = {}

    def elicit_with(self, fill_in: FillIn | None) -> None:
        """Set the function with which a person fills in forms of the server. Only the server gets the values."""
        self._fill_in = fill_in

    # --- sessions

    async def open(self) -> str:
        await super().open()
        await self._connect(secrets.token_hex(16))
        return json.dumps({"mcp": self._title, "session": self._session})

    async def attach(self, handle: str) -> bool:
        """End the server of this session, including a call that may be under way in it, and start a new server."""
        session = _read_session(handle, self._title)
        if not session:
            return False
        if not self._address.url:
            from midcourse.worlds.mcp.server import end_session

            await end_session(session)
        if self._stateful:
            return False
        await self._connect(session)
        return True

    async def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def _connect(self, session: str) -> None:
        from midcourse.worlds.mcp.connection import Connection, Forms

        await self.close()
        self._session = session
        self._connection = await Connection.open(self._address, session, Forms(self._title, self._fill_in))
        await self._list_tools(self._connection)

    async def _list_tools(self, connection: "Connection") -> None:
        found = [Tool(definition, self._policy) for definition in await connection.list_tools()]
        self._tools = {tool.name: tool for tool in found if tool.rule.offered}
        probes = (tool.declare_probe() for tool in self._tools.values())
        self._declared = Declared(
            skills=tuple(tool.declare() for tool in self._tools.values()),
            probes=tuple(probe for probe in probes if probe),
        )

    # --- looking

    async def look(self) -> Scene | Unseen:
        """Return the server and its latest results as zones. The tools are listed again, so that a changed definition is noticed."""
        connection = self._connection
        if connection is None or connection.lost:
            return Unseen(reason="world_lost", detail=self._why_lost())
        try:
            await self._list_tools(connection)
        except ConnectionLost as lost:
            return Unseen(reason="world_lost", detail=str(lost))
        about = Zone(id="server", role="server", label=self._title, state={"protocol": connection.protocol})
        results = (
            Zone(id=f"result:{tool}", role="result", label=tool, state={"text": _shorten(text, LONGEST_SHOWN)})
            for tool, text in self._results.items()
        )
        # The definitions are part of the origin, and so of every approval.
        digest = sha256("".join(sorted(tool.digest for tool in self._tools.values())).encode()).hexdigest()[:16]
        return Scene(self._title, about, *results, origin=f"{self._title}#{digest}")

    def definitions(self) -> tuple[ToolDefinition, ...]:
        """The tools that the server has now, for a policy that pins them."""
        return tuple(tool.describe() for tool in self._tools.values())

    def _why_lost(self) -> str:
        says = self._connection.last_error_line if self._connection else ""
        return f"{self._title} has ended{f': {says}' if says else ''}"

    # --- acting

    async def commit_set(self, call: Call) -> CommitSet | None:
        """Return the arguments, or None if the definition of the tool has changed since the last look, so that it needs a new approval."""
        seen = self._tools.get(call.skill)
        connection = self._connection
        if seen is None or connection is None or connection.lost:
            return None
        definitions = {definition.name: definition for definition in await connection.list_tools()}
        now = definitions.get(call.skill)
        if now is None or Tool(now, self._policy).digest != seen.digest:
            return None
        return CommitSet(values=call.arguments)

    async def _invoke(self, call: Call, arguments: dict[str, Any]) -> Outcome:
        tool = self._tools[call.skill]
        if unfit := tool.why_unfit(arguments):
            return Outcome(status="no_effect", reason="bad_arguments", detail=unfit, evidence="rule")
        connection = self._connection
        if connection is None or connection.lost:
            return Outcome(status="no_effect", reason=UNSENT, detail=self._why_lost())
        effect = tool.declare().skill.effect
        try:
            result = await connection.call(tool.name, arguments)
        except ConnectionLost as lost:
            return Outcome(status="unknown", reason="error", detail=f"{self._title} gave no answer: {lost}")
        except CallRefused as refused:
            return _report_failure(effect, "call_refused", str(refused))
        if result.asks:
            return _report_failure(effect, "input_required", f"{result.text}, which it cannot have here")
        text = result.text
        self._results.pop(tool.name, None)
        self._results[tool.name] = text
        while len(self._results) > MOST_RESULTS:
            del self._results[next(iter(self._results))]
        if result.is_error and tool.rule.absent_on_error and not tool.changed:
            return not_sent("tool_error", _shorten(text, LONGEST_SHOWN))
        if result.is_error:
            return _report_failure(effect, "tool_error", _shorten(text, LONGEST_SHOWN))
        evidence = "response" if effect == "irreversible" else ""
        return Outcome(data=_extract_data(tool.name, text, result.fields), evidence=evidence)

    # --- probes

    async def _check(self, declared: DeclaredProbe, arguments: Pairs) -> bool | None:
        """Whether the result of the reading tool contains the text; None if there is no such result."""
        rule = self._tools[declared.spec.name.removesuffix(PROBE_SUFFIX)].rule.probe
        reader = self._tools.get(rule.tool) if rule else None
        connection = self._connection
        if rule is None or reader is None or reader.changed or connection is None or connection.lost:
            return None
        given = dict(arguments)
        result = await connection.call(rule.tool, fill_in(dict(rule.arguments), given))
        return None if result.asks or result.is_error else fill_in(rule.contains, given) in result.text


def _read_address(
    server: str | Sequence[str], environment: Mapping[str, str], folder: str, headers: Mapping[str, str]
) -> ServerAddress:
    if isinstance(server, str) and server.startswith(("http://", "https://")):
        return ServerAddress(url=server, headers=_resolve_variables(headers))
    command = shlex.split(server) if isinstance(server, str) else [str(word) for word in server]
    if not command:
        raise TaskInvalid("server: name the command that starts the MCP server, or its address")
    return ServerAddress(command=command, environment=_resolve_variables(environment), folder=folder)


def _resolve_variables(values: Mapping[str, str]) -> dict[str, str]:
    read: dict[str, str] = {}
    for name, value in values.items():
        if value.startswith("$") and value[1:] not in os.environ:
            raise TaskInvalid(f"{name}: the environment variable {value[1:]} is not set")
        read[name] = os.environ[value[1:]] if value.startswith("$") else value
    return read


def _read_session(handle: str, title: str) -> str:
    """Return the session in a handle, or an empty string if it is not a handle of this world."""
    try:
        read: object = json.loads(handle)
    except ValueError:
        return ""
    named = as_mapping(read)
    return str(named.get("session", "")) if named.get("mcp") == title else ""


def _report_failure(effect: str, reason: str, detail: str) -> Outcome:
    """Return the outcome of an error, which does not prove that nothing was done: for an irreversible tool it is unknown."""
    return (
        Outcome(status="unknown", reason=reason, detail=detail) if effect == "irreversible" else failed(reason, detail)
    )


def _shorten(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}… ({len(text)} characters)"


def _extract_data(tool: str, text: str, fields: Mapping[str, object]) -> Pairs:
    """Return the text under the name of the tool, and the fields of a structured result under their own names."""
    named = {
        name: value if isinstance(value, str | int | float | bool | None) else json_text(value)
        for name, value in fields.items()
    }
    return tuple((named | {tool: cut_value(text)}).items())
