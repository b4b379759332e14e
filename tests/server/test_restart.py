"""A server killed with -9: the next one resumes its runs, streams continue without a gap, and no decision is lost or taken twice."""

import json
import os
import signal
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import httpx2 as httpx
import pytest

from tests.forked import run_forked, start_forked
from tests.server.serving import (
    PATIENCE,
    StreamMessage,
    decide,
    find_question,
    read_stream,
    wait_for_end,
    wait_until,
    write_tasks,
)

pytestmark = pytest.mark.slow


@dataclass(frozen=True, kw_only=True)
class Process:
    """`midcourse serve` in a process of its own."""

    client: httpx.Client
    """A browser that has signed in."""
    url: str
    pid: int

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)


@contextmanager
def run_midcourse_serve(folder: Path, *options: str, cookies: httpx.Cookies | None = None) -> Generator[Process]:
    words = ["midcourse", "serve", "--json", "--home", str(folder / "home"), *options]
    words += ["--tasks", str(write_tasks(folder / "tasks"))]
    out = folder / f"out-{uuid4().hex[:8]}"
    process = start_forked(*words, cwd=Path.cwd(), environment=os.environ, out=out)
    try:
        wait_until(lambda: not process.is_alive() or (out.exists() and out.read_text().endswith("\n")))
        assert process.is_alive(), Path(f"{out}.err").read_text()
        url, _, token = json.loads(out.read_text())["url"].partition("/#token=")
        with httpx.Client(base_url=f"{url}/api/v1", timeout=PATIENCE, verify=False, headers={"Origin": url}) as client:
            if cookies is None:
                assert client.post("/session", json={"token": token}).status_code == 200
            else:
                client.cookies = cookies
            yield Process(client=client, url=url, pid=process.pid or 0)
    finally:
        process.kill()
        process.join()


def test_a_killed_server_loses_no_event_and_no_decision(tmp_path: Path) -> None:
    messages: list[StreamMessage] = []
    with run_midcourse_serve(tmp_path, "--port", "0") as first:
        body = {"task": "lamp", "run_id": "lamp", "settings": {"approvals": "always"}}
        key = {"Idempotency-Key": "start-1"}
        assert first.client.post("/runs", json=body, headers=key).status_code == 201
        question = wait_until(lambda: find_question(first.client, "lamp"))
        for one in read_stream(first.client, "lamp"):
            messages.append(one)
            if one.data.get("standing", {}).get("question"):
                break
        assert decide(first.client, question).status_code == 200
        first.kill()
        cookies = first.client.cookies
    with run_midcourse_serve(tmp_path, "--port", "0", cookies=cookies) as second:
        again = second.client.post("/runs", json=body, headers=key)
        assert (again.status_code, again.json()) == (201, {"run": "lamp", "earlier": True})
        assert second.client.get("/session").json()["role"] == "admin"  # the browser's session outlived the server
        if (asked := find_question_of_resumed(second.client)) is not None:
            # the decision was accepted and then met another world: it is asked again, never sent unasked
            assert decide(second.client, asked).status_code == 200
        messages += list(read_stream(second.client, "lamp", messages[-1].id))
        assert wait_for_end(second.client)["result"]["success"] is True
        whole = [one for one in read_stream(second.client, "lamp") if one.type == "turn"]
    turns = [one for one in messages if one.type == "turn"]
    assert [one.data["seq"] for one in turns] == list(range(1, len(turns) + 1))
    assert turns == whole
    assert messages[-1].type == "end"
    decisions = [one.data["event"] for one in turns if one.data["event"]["kind"] == "approval_decided"]
    assert decisions[0]["shown"] == question["shown"]
    effects = (tmp_path / "home" / "runs" / "lamp" / "effects.jsonl").read_text().splitlines()
    assert len(effects) == 1


def find_question_of_resumed(client: httpx.Client) -> dict[str, object] | None:
    """What the resumed run asks; None if it ended without asking."""

    def look() -> object:
        if question := find_question(client, "lamp"):
            return question
        return client.get("/runs/lamp").json()["result"] and "ended"

    found = wait_until(look)
    return None if found == "ended" else found


def test_serving_beyond_loopback_needs_keys(tmp_path: Path) -> None:
    words = ("midcourse", "serve", "--bind", "0.0.0.0", "--port", "0", "--home", str(tmp_path))
    done = run_forked(*words, cwd=tmp_path, environment=os.environ)
    assert done.returncode == 2
    assert "needs API keys" in done.stderr


def test_a_port_that_is_taken_is_said(tmp_path: Path) -> None:
    with run_midcourse_serve(tmp_path, "--port", "0") as up:
        port = up.url.rpartition(":")[2]
        words = ("midcourse", "serve", "--port", port, "--home", str(tmp_path / "other"))
        done = run_forked(*words, cwd=tmp_path, environment=os.environ)
    assert done.returncode == 2
    assert "choose another --port" in done.stderr
