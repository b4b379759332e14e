"""The development server: up in a second, on this machine only, and gone when it is told to go."""

import os
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client
from temporalio.service import RPCError

from midcourse.runtimes.temporal.attributes import STATUS
from midcourse.runtimes.temporal.client import connect
from midcourse.runtimes.temporal.development import start_server

pytestmark = pytest.mark.slow


async def test_the_server_keeps_its_workflows_over_a_restart(tmp_path: Path) -> None:
    first = start_server(tmp_path / "temporal")
    try:
        client = await connect(first.address)
        await client.start_workflow("nobody-drives-this", id="kept", task_queue="none")
    finally:
        first.stop()
    with pytest.raises(ProcessLookupError):
        os.kill(first.pid, 0)
    second = start_server(tmp_path / "temporal", port=int(first.address.rpartition(":")[2]))
    try:
        assert second.address == first.address
        found = await (await connect(second.address)).get_workflow_handle("kept").describe()
        assert found.workflow_type == "nobody-drives-this"
    finally:
        second.stop()
    second.stop()


async def test_it_listens_on_loopback_only(temporal: str) -> None:
    host, port = temporal.split(":")
    assert host == "127.0.0.1"
    others = [address[4][0] for address in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)]
    for other in {str(address) for address in others} - {"127.0.0.1", "127.0.1.1"}:
        with pytest.raises(OSError, match="refused"):
            socket.create_connection((other, int(port)), timeout=1).close()


async def test_connecting_twice_registers_search_attributes_once(temporal: str) -> None:
    await connect(temporal)
    client = await connect(temporal)
    with pytest.raises(RPCError, match="invalid search attribute"):
        _ = [one async for one in client.list_workflows("NoSuchAttribute = 'x'")]
    assert [one async for one in client.list_workflows(f"{STATUS.name} = 'no such status'")] == []


def test_without_the_program_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RuntimeError, match=r"install midcourse\[up\]"):
        start_server(tmp_path)


def test_a_server_that_cannot_start_reports_the_reason(tmp_path: Path) -> None:
    (tmp_path / "temporal.db").mkdir()
    with pytest.raises(RuntimeError, match="Temporal did not start"):
        start_server(tmp_path)


async def test_a_server_that_listens_and_is_not_healthy_yet_is_waited_for(
    temporal: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, refused = Client.connect, ["Unavailable: Frontend is not healthy yet"] * 2

    async def connect_late(*args: Any, **options: Any) -> Client:
        if refused:
            raise RuntimeError(refused.pop())
        return await real(*args, **options)

    monkeypatch.setattr(Client, "connect", connect_late)
    assert await connect(temporal)
    assert not refused
