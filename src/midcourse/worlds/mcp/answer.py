"""The address of an MCP server, and its answers. Nothing here imports the package `mcp`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class ServerAddress:
    """How to reach a server: a command that starts it, or a URL."""

    command: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    folder: str = ""
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, kw_only=True)
class ToolResult:
    text: str
    """All texts of the result. Other content is represented only by its kind."""
    fields: Mapping[str, object] = field(default_factory=dict[str, object])
    """The structured result, if it is an object."""
    is_error: bool = False
    asks: bool = False
    """Whether the server gave no result, because it wants input first."""


class ConnectionLost(Exception):
    """The server ended or closed the pipe, so it is not known whether a call was carried out."""


class CallRefused(Exception):
    """The server answered a call with an error of the protocol, or with a result that does not fit its own schema."""
