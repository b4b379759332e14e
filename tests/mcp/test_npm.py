"""Servers from npm, of the handshake generation, and the inspector against `midcourse mcp`; run by `just nightly`, which installs them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from midcourse import Agent, Draft
from midcourse.planners import SamePlan
from midcourse.testing import Approves, MemoryStore
from midcourse.worlds import Mcp

INSTALLED = os.environ.get("MCP_NPM", "")
"""The folder with `node_modules`."""
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not INSTALLED, reason="MCP_NPM names no folder with the servers")]
LEFTOVERS = {"TEST_RUN_FOLDER": "$TEST_RUN_FOLDER"}
ENTITIES = json.dumps([{"name": "Ada", "entityType": "person", "observations": ["writes programs"]}])


def program(name: str) -> str:
    return str(Path(INSTALLED) / "node_modules" / ".bin" / name)


def test_the_filesystem_server_writes_a_file_that_was_approved(tmp_path: Path) -> None:
    path = tmp_path.resolve() / "note"
    world = Mcp([program("mcp-server-filesystem"), str(path.parent)], policy={"trusted": True}, environment=LEFTOVERS)
    step = Draft(skill="write_file", arguments={"path": str(path), "content": "milk"})
    approver = Approves()
    assert Agent(world, SamePlan([step]), approver=approver, store=MemoryStore()).run_sync("Write").success
    assert (path.read_text(), len(approver.questions)) == ("milk", 1)
    assert {"read_text_file", "list_directory"} <= {
        one.name for one in world.catalogue().skills if one.effect == "read"
    }


def test_the_memory_server_takes_nested_arguments(tmp_path: Path) -> None:
    file = tmp_path / "memory.json"
    world = Mcp([program("mcp-server-memory")], environment={**LEFTOVERS, "MEMORY_FILE_PATH": str(file)})
    step = Draft(skill="create_entities", arguments={"entities": ENTITIES})
    assert Agent(world, SamePlan([step]), approver=Approves(), store=MemoryStore()).run_sync("Remember Ada").success
    assert file.read_text().count('"Ada"') == 1


def test_the_inspector_starts_a_run_once(tmp_path: Path) -> None:
    server = [str(Path(sys.executable).with_name("midcourse")), "mcp"]
    call = ["--method", "tools/call", "--tool-name", "start_run", "--tool-arg", "task=order", "--tool-arg", "key=k"]
    command = [program("mcp-inspector"), "--cli", "-e", f"MIDCOURSE_HOME={tmp_path}", *server, *call]
    runs = [json.loads(subprocess.run(command, check=True, capture_output=True).stdout) for _ in range(2)]
    first, again = (run["structuredContent"] for run in runs)
    assert (first["run"], first["earlier"], again["earlier"]) == (again["run"], False, True)
