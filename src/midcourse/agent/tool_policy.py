"""Proposes policy files for MCP servers, which pin each tool of a server to its current definition."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from midcourse.agent.wiring import build_world, load_job
from midcourse.config.extras import require_extras
from midcourse.config.task.file import WorldSpec
from midcourse.config.toml_text import toml_text
from midcourse.errors import TaskInvalid
from midcourse.policy.invisible import make_readable
from midcourse.worlds.mcp import Mcp
from midcourse.worlds.mcp.tool import ToolDefinition

LONGEST_DESCRIPTION = 300
HEAD = """\
# The tools of this server as it describes them now. Read each description: it is the server's own.
# A tool whose definition changes is asked about. Without an effect, a tool is irreversible.
"""


async def list_definitions(server: str) -> tuple[ToolDefinition, ...]:
    """The tools of a server, given its command, its address, or a task file that names it. Raises `TaskInvalid` and `WorldAway`."""
    require_extras("an MCP server", "mcp")
    spec = WorldSpec(name="mcp", options={"server": server})
    if server.endswith(".toml"):
        spec = load_job(server, {}).file.world
        options = {name: value for name, value in spec.options.items() if name != "policy"}
        spec = replace(spec, options=options, process=False)
    world = build_world(spec, Path())
    if not isinstance(world, Mcp):
        raise TaskInvalid(f"{server}: its world is not an MCP server")
    await world.open()
    try:
        return world.definitions()
    finally:
        await world.close()


def propose_tool_policy(definitions: tuple[ToolDefinition, ...]) -> str:
    """A policy file that pins every tool. Effects that the server claims are comments, which count only without the #."""
    return HEAD + "".join(f"\n{_format_section(definition)}" for definition in definitions)


def _format_section(definition: ToolDefinition) -> str:
    pinned: Mapping[str, object] = {definition.name: {"definition": definition.digest}}
    text = make_readable(
        definition.description[:LONGEST_DESCRIPTION],
        lambda char: " " if char in "\r\n\t" else f"\\u{ord(char):04x}",
    )
    description = " ".join(text.split())
    comments = [f"# {description}"] if description else []
    effects = [f'# effect = "{definition.says}"      # what the server says\n'] if definition.says else []
    return "".join(f"{line}\n" for line in comments) + toml_text(pinned, ("tools",)) + "".join(effects)
