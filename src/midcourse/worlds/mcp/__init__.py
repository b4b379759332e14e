"""The MCP world: the tools of one MCP server. `server` and `connection` reach it, `tool` and `policy` say what its tools do."""

try:
    from midcourse.worlds.mcp.world import Mcp as Mcp
except ModuleNotFoundError as missing:
    if (missing.name or "").startswith("midcourse"):
        raise
    needs = f"an MCP server needs pip install 'midcourse[mcp]': {missing.name} is not installed"
    raise ModuleNotFoundError(needs, name=missing.name) from missing
