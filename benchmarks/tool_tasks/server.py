"""Serves the tasks of a domain: carries calls out, causes faults, and logs each call. JSON lines over a Unix socket.

    python server.py DOMAIN.py SOCKET

Runs in the domain's environment and imports nothing of this project. It is a process apart from the programs under test, so its log and its
database outlive them. It ends when its standard input is closed, as when its parent ends.
"""

import json
import os
import runpy
import signal
import socketserver
import sys
from threading import Lock, Thread
from typing import Any


class Tasks:
    """One task at a time, with at most one fault."""

    def __init__(self, domain: Any) -> None:
        self.domain = domain
        self.log: list[dict[str, Any]] = []
        self.fault: dict[str, Any] = {}

    def tasks(self) -> list[str]:
        return self.domain.tasks()

    def start(self, task: str, fault: dict[str, Any]) -> None:
        """Begin a task with its database as it was. `fault`: its kind, and the call at whose first execution it happens."""
        self.domain.start(task)
        self.state = self.domain.state()
        self.log = []
        self.fault = dict(fault)

    def describe(self, task: str) -> dict[str, Any]:
        """Gold calls, what each does, and what it would do if it were made twice in a row; the final database."""
        calls = self.domain.gold(task)
        self.start(task, {})
        tools = [{**tool, "writes": tool["name"] in self.domain.writes} for tool in self.domain.tools()]
        does = [self.execute(**call)["did"] for call in calls]
        final = self.domain.verdict_state()
        again = [self._repeat(task, index) if did == "changed" else "" for index, did in enumerate(does)]
        known = [{**call, "does": does[index], "again": again[index]} for index, call in enumerate(calls)]
        return {"calls": known, "tools": tools, "final": final}

    def _repeat(self, task: str, index: int) -> str:
        self.start(task, {})
        calls = self.domain.gold(task)
        did = [self.execute(**call)["did"] for call in (*calls[: index + 1], calls[index])]
        return did[-1]

    def execute(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Carry a call out and log what it did: `changed` the database, left it `unchanged`, or `refused`."""
        before = self.state
        answer: dict[str, Any] = {}
        try:
            answer["result"] = self.domain.call(tool, arguments)
        except self.domain.refusals as refusal:
            answer["refused"] = str(refusal)
        if tool in self.domain.writes:
            self.state = self.domain.state()
        changed = self.state != before
        did = "refused" if "refused" in answer and not changed else "changed" if changed else "unchanged"
        self.log.append({"tool": tool, "arguments": arguments, "did": did, "error": "refused" in answer})
        return {**answer, "did": did}

    def call(self, tool: str, arguments: dict[str, Any], pid: int) -> dict[str, Any]:
        """Carry out a call of a program under test, unless its fault prevents that."""
        kind = self.fault.get("kind")
        if self.fault.get("call") != {"tool": tool, "arguments": arguments}:
            return self.execute(tool, arguments)
        self.fault = {}
        if kind == "request":
            return {"timeout": True}
        self.execute(tool, arguments)
        if kind == "kill":
            os.kill(pid, signal.SIGKILL)
        return {"timeout": True}

    def finish(self) -> dict[str, Any]:
        return {"log": self.log, "final": self.domain.verdict_state(), "fault_left": bool(self.fault)}


def serve(domain: Any, path: str) -> None:
    tasks, one_at_a_time = Tasks(domain), Lock()

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            for line in self.rfile:
                asked = json.loads(line)
                with one_at_a_time:
                    reply = getattr(tasks, asked.pop("do"))(**asked)
                self.wfile.write(json.dumps(reply).encode() + b"\n")

    class Server(socketserver.ThreadingUnixStreamServer):
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None:
            """Ignore a program that was killed before it got its answer."""
            if not isinstance(sys.exc_info()[1], OSError):
                super().handle_error(request, client_address)

    with Server(path, Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        print("ready", flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    serve(runpy.run_path(sys.argv[1])["Domain"](), sys.argv[2])
