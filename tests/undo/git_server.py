"""An MCP server with three tools of git: commit what is in the folder, revert a commit, and the log."""

import subprocess
import sys

from mcp.server import MCPServer

server = MCPServer("git")


def git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=sys.argv[1], check=True, capture_output=True, text=True).stdout.strip()


@server.tool()
def git_commit(message: str) -> dict[str, str]:
    """Commit everything in the folder."""
    git("add", "--all")
    git("commit", "-q", "-m", message)
    return {"sha": git("rev-parse", "HEAD")}


@server.tool()
def git_revert(commit: str) -> str:
    """Revert a commit by another one."""
    return git("revert", "--no-edit", commit)


@server.tool()
def git_log() -> str:
    """The messages of all commits, in full."""
    return git("log", "--format=%B")


if __name__ == "__main__":
    server.run("stdio")
