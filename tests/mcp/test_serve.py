"""`/mcp` of `midcourse serve`, used by the real client: the tools that the caller's role allows, and no decisions."""

import asyncio
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import httpx2 as httpx
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from midcourse.server.access.identity import Role
from midcourse.server.mcp.tools import LONGEST_WAIT
from tests.mcp.test_server import ALWAYS, READING, call, complaint
from tests.server.serving import RunningServer, run_server

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningServer]:
    with run_server(Path(tmp_path_factory.mktemp("server"))) as server:
        yield server


@asynccontextmanager
async def host(server: RunningServer, role: Role, tenant: str = "acme", mode: str = "auto") -> AsyncGenerator[Client]:
    """A host with the key of this role."""
    headers = {"Authorization": f"Bearer {server.keys[tenant, role]}"}
    async with httpx.AsyncClient(headers=headers, timeout=60.0) as http:
        transport = streamable_http_client(f"{server.url}/mcp", http_client=http)
        async with Client(transport, cache=None, mode=mode) as client:
            yield client


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize(
    ("role", "tools"), [("viewer", READING), ("approver", READING), ("operator", ALWAYS), ("admin", ALWAYS)]
)
async def test_a_role_has_its_tools_and_none_decides(
    server: RunningServer, role: Role, tools: set[str], mode: str
) -> None:
    async with host(server, role, mode=mode) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == tools
        assert "Unknown tool" in await complaint(client, "answer_question", run="x")


async def test_a_run_is_started_once_and_waits_for_a_person(server: RunningServer) -> None:
    started = []
    for _ in range(2):
        async with host(server, "admin") as client:
            started.append(await call(client, "start_run", task="lamp", key="monday"))
            report = await call(client, "wait_for_run", run=started[0]["run"])
            assert (report["state"], report["next"].partition(":")[0]) == ("asking", "a person decides")
    assert [one["earlier"] for one in started] == [False, True]
    assert started[0]["run"] == started[1]["run"]
    async with host(server, "admin", "umbrella") as other:
        assert "no run is called" in await complaint(other, "wait_for_run", run=started[0]["run"])
        assert (await call(other, "list_runs"))["runs"] == []


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 403),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": "Bearer wrong", "Origin": "https://evil.example"}, 403),
        ({"Authorization": "Bearer wrong", "Host": "evil.example"}, 421),
    ],
)
def test_the_guard_and_the_keys_are_those_of_the_api(
    server: RunningServer, headers: dict[str, str], status: int
) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    answer = httpx.post(f"{server.url}/mcp", json=body, headers=headers, verify=False)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"


def test_there_is_no_stream_to_open(server: RunningServer) -> None:
    key = server.keys["acme", "viewer"]
    answer = httpx.get(f"{server.url}/mcp", headers={"Authorization": f"Bearer {key}"}, verify=False)
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


async def test_a_host_that_waits_does_not_keep_the_server_from_stopping(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIDCOURSE_STEP_DELAY_SECONDS", "600")
    with ExitStack() as stack:
        server = stack.enter_context(run_server(tmp_path))
        async with host(server, "admin") as client:
            run = (await call(client, "start_run", task="lamp", key="k"))["run"]
            waiting = asyncio.create_task(client.call_tool("wait_for_run", {"run": run}))
            await asyncio.sleep(1.0)  # the server has it by then; if not, it answers as soon as it stops
            assert not waiting.done()
            began = time.monotonic()
            await asyncio.to_thread(stack.close)
            assert time.monotonic() - began < LONGEST_WAIT / 2
            with pytest.raises(MCPError):
                await waiting
