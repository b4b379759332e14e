"""`midcourse mcp`, used by the real client: tasks are started once for each key, and a host cannot decide for a person."""

import json
import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import TextContent

from midcourse.server.access.identity import Caller, Role
from midcourse.server.mcp.start import build_server
from midcourse.server.mcp.tools import RunTools
from midcourse.server.starting import Starts
from midcourse.settings import Settings
from midcourse.tenants.local import LocalRuns
from midcourse.tenants.tenants import LOCAL
from tests.cli.conftest import ORDER

pytestmark = pytest.mark.slow
READING = {"list_tasks", "list_runs", "get_run", "wait_for_run", "list_questions"}
ALWAYS = {*READING, "start_run", "guide_run", "pause_run", "resume_run", "cancel_run"}


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    folder = tmp_path / "tasks"
    folder.mkdir()
    (folder / "lamp.toml").write_text(ORDER.replace("{world}", ""))
    return folder


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return result.structured_content


async def complaint(client: Client, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result.content
    assert isinstance(result.content[0], TextContent)
    return result.content[0].text


@asynccontextmanager
async def in_process(home: Path, tasks: Path, role: Role) -> AsyncGenerator[Client]:
    tenant_runs, starts = LocalRuns(Settings(home=home)), Starts(home / "server")
    caller = Caller(name="ada (mcp)", id="account:ada", tenant=LOCAL, role=role)
    try:
        async with Client(
            build_server(RunTools(tenant_runs=tenant_runs, starts=starts, caller=caller, tasks=tasks))
        ) as client:
            yield client
    finally:
        await tenant_runs.close()
        starts.close()


def orders(home: Path) -> int:
    logs = (home / "runs").glob("*/effects.jsonl")
    return sum("PO-1001" in line for log in logs for line in log.read_text().splitlines())


async def test_a_run_is_started_once_for_a_key_and_waits_for_a_person(tmp_path: Path, tasks: Path) -> None:
    home = tmp_path / "home"
    async with in_process(home, tasks, "operator") as client:
        listed = {tool.name: tool.annotations for tool in (await client.list_tools()).tools}
        assert set(listed) == ALWAYS
        assert {name for name, hints in listed.items() if hints and hints.read_only_hint} == READING
        assert [task["name"] for task in (await call(client, "list_tasks"))["tasks"]] == ["lamp"]
        first = await call(client, "start_run", task="lamp", key="monday")
        again = await call(client, "start_run", task="lamp", key="monday")
        assert (again["run"], first["earlier"], again["earlier"]) == (first["run"], False, True)
        assert "another request" in await complaint(
            client, "start_run", task="lamp", key="monday", inputs={"reference": "PO-2"}
        )
        report = await call(client, "wait_for_run", run=first["run"])
        assert (report["state"], report["question"]["about"]) == ("asking", "approve")
        assert f"a person decides: midcourse approve {first['run']}" in report["next"]
        asked = (await call(client, "list_questions"))["questions"]
        assert [question["run"] for question in asked] == [first["run"]]
        assert "Unknown tool" in await complaint(client, "answer_question", run=first["run"])
        await call(client, "cancel_run", run=first["run"])
        assert (await call(client, "wait_for_run", run=first["run"]))["final_reason"] == "cancelled"
    assert orders(home) == 0


async def test_what_is_not_known_is_refused_in_words(tmp_path: Path, tasks: Path) -> None:
    async with in_process(tmp_path / "home", tasks, "operator") as client:
        assert "there are: lamp" in await complaint(client, "start_run", task="order", key="k")
        assert "input" in await complaint(client, "start_run", task="lamp", key="k", inputs={"approvals": "never"})
        assert "no run is called 'x'" in await complaint(client, "pause_run", run="x")
        assert "settings" not in json.dumps([tool.input_schema for tool in (await client.list_tools()).tools])


async def test_decisions_need_the_setting_and_what_was_shown(tmp_path: Path, tasks: Path) -> None:
    home = tmp_path / "home"
    async with in_process(home, tasks, "admin") as client:
        run = (await call(client, "start_run", task="lamp", key="k"))["run"]
        asked = (await call(client, "wait_for_run", run=run))["question"]
        answer = {"run": run, "question": asked["id"], "verdict": "approved"}
        assert "nothing with these digests" in await complaint(client, "answer_question", shown=["other"], **answer)
        assert orders(home) == 0
        await call(client, "answer_question", shown=asked["shown"], **answer)
        report = await call(client, "wait_for_run", run=run)
        assert (report["final_reason"], orders(home)) == ("goal_reached", 1)


async def test_over_stdio_a_killed_server_leaves_one_run(tmp_path: Path, tasks: Path) -> None:
    home = tmp_path / "home"
    environment = {"MIDCOURSE_HOME": str(home), "TEST_RUN_FOLDER": os.environ["TEST_RUN_FOLDER"]}
    words = ["-c", PROGRAM, str(tmp_path / "pid"), "mcp", "--tasks", str(tasks)]
    server = StdioServerParameters(command=sys.executable, args=words, env=environment)
    async with Client(stdio_client(server)) as client:
        run = (await call(client, "start_run", task="lamp", key="k"))["run"]
        assert (await call(client, "wait_for_run", run=run))["state"] == "asking"
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
    async with Client(stdio_client(server), mode="legacy") as client:
        assert (await call(client, "start_run", task="lamp", key="k")) == {"run": run, "earlier": True}
        report = await call(client, "wait_for_run", run=run)
        assert (report["state"], report["question"]["about"]) == ("asking", "approve")
        assert [one["id"] for one in (await call(client, "list_runs"))["runs"]] == [run]


PROGRAM = """
import os, sys
open(sys.argv.pop(1), "w").write(str(os.getpid()))
from midcourse.cli.main import main
sys.exit(main(sys.argv[1:]))
"""
