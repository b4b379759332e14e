"""The MCP world: the tools of one MCP server. `server` and `connection` reach the server, `tool` and `policy` say what its tools do.

The package `mcp` takes more than a second to import, so it is imported when a world is opened.
"""

from importlib.util import find_spec

from midcourse.worlds.mcp.world import Mcp as Mcp

for package in ("mcp", "psutil"):
    if find_spec(package) is None:
        needs = f"an MCP server needs pip install 'midcourse[mcp]': {package} is not installed"
        raise ModuleNotFoundError(needs, name=package)
