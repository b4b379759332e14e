"""An MCP server behind streamable HTTP: what it was asked cannot be stopped from here, so only evidence that it happened counts."""

import asyncio
import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest

from midcourse import Agent, Draft, Task
from midcourse.domain.budget import Limits
from midcourse.planners import SamePlan
from midcourse.testing import Approves, MemoryStore
from midcourse.worlds import Mcp

pytestmark = pytest.mark.slow

POLICY = {
    "trusted": True,
    "tools": {"add": {"probe": {"tool": "list_notes", "contains": "{text}"}}},
}


@contextmanager
def serve_notes(notes: list[str], loses: str) -> Generator[str]:
    """The address of a server whose tool `add` answers; or, if it `loses` the answer, hangs before or after it adds the note."""
    from mcp.server import MCPServer
    from mcp.types import ToolAnnotations

    served = MCPServer("notes", log_level="ERROR")

    @served.tool()
    async def add(text: str) -> str:
        if loses == "before":
            await asyncio.sleep(3600)
        notes.append(text)
        if loses == "after":
            await asyncio.sleep(3600)
        return "added"

    @served.tool(annotations=ToolAnnotations(read_only_hint=True))
    async def list_notes() -> str:
        return " ".join(notes)

    with served_by(served) as url:
        yield url


@contextmanager
def served_by(served: Any) -> Generator[str]:
    """The address of an `MCPServer`, in a thread."""
    import uvicorn

    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(served.streamable_http_app(), log_level="error", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
    finally:
        server.should_exit = True
        thread.join(60)
        listener.close()


@pytest.mark.parametrize(
    ("loses", "success", "asked", "added"),
    [
        ("", True, ["approve"], ["milk"]),
        ("after", True, ["approve"], ["milk"]),
        ("before", False, ["approve", "happened"], []),
    ],
)
def test_a_lost_answer_of_a_remote_server_counts_only_with_evidence(
    loses: str, success: bool, asked: list[str], added: list[str]
) -> None:
    notes: list[str] = []
    approver: Any = Approves(doubt="stop")
    with serve_notes(notes, loses) as url:
        step = Draft(skill="add", arguments={"text": "milk"})
        agent = Agent(Mcp(url, policy=POLICY), SamePlan([step]), approver=approver, store=MemoryStore())
        result = agent.run_sync(Task(goal="Add milk", limits=Limits(act_timeout_seconds=2.0)))
    assert (result.success, notes) == (success, added)
    assert [question.about for question in approver.questions] == asked


def test_a_server_that_is_away_is_waited_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    agent = Agent(Mcp(f"http://127.0.0.1:{port}/mcp"), SamePlan([]), store=MemoryStore())
    result = agent.run_sync(Task(goal="Nothing", limits=Limits(max_wall_seconds=2.0)))
    assert (result.success, result.final_reason) == (False, "budget_exhausted")
