"""One task in one arm under one fault, and what the server's log says of it."""

import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.harness.arm_workers import ARM_PROCESS, Worker
from benchmarks.harness.environments import install_environment
from benchmarks.tool_tasks.client import Client

FOLDER = Path(__file__).parent
FAULTS = ("none", "answer", "request", "kill")
STARTS = 3
"""How often a program is started in a task; only a kill needs more than one."""
LIMIT_SECONDS = 120.0


@dataclass(frozen=True, kw_only=True)
class DomainFiles:
    lock: str
    code: str


DOMAINS = {
    "airline": DomainFiles(lock="tau2.txt", code="airline.py"),
    "bfcl": DomainFiles(lock="bfcl.txt", code="bfcl.py"),
}


@dataclass(frozen=True, kw_only=True)
class Arm:
    name: str
    script: str
    lock: str = ""
    """The file of its own environment; empty for the project's."""
    options: dict[str, Any] = field(default_factory=dict[str, Any])

    def make_command(self) -> list[str]:
        python = install_environment(FOLDER / self.lock) / "bin" / "python" if self.lock else Path(sys.executable)
        return [str(python), "-P", str(ARM_PROCESS), str(FOLDER / self.script)]


ARMS = {
    arm.name: arm
    for arm in (
        Arm(name="plain loop", script="plain.py", options={"checks": False}),
        Arm(name="plain loop, checks first", script="plain.py", options={"checks": True}),
        Arm(name="langgraph", script="with_langgraph.py", lock="langgraph.txt", options={"checks": False}),
        Arm(name="langgraph, checks first", script="with_langgraph.py", lock="langgraph.txt", options={"checks": True}),
        Arm(name="midcourse", script="with_midcourse.py", options={"probes": True}),
        Arm(name="midcourse, no probes", script="with_midcourse.py", options={"probes": False}),
    )
}


@dataclass(frozen=True, kw_only=True)
class Known:
    """A task, its gold calls, and what each would do twice."""

    domain: str
    task: str
    calls: list[dict[str, Any]]
    tools: list[dict[str, Any]]
    final: str

    def find_writes(self) -> list[dict[str, Any]]:
        return [call for call in self.calls if call["does"] == "changed"]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    domain: str
    task: str
    arm: str
    fault: str
    tool: str
    """The tool at which the fault happened; empty without a fault."""
    tells: bool
    """Whether this tool accepts the call a second time, so that a repetition does harm."""
    equal: bool
    """Whether the final database is that of the gold calls."""
    finished: bool
    twice: int
    """Calls that changed the database more often than in the gold list."""
    resent: int
    """Calls to writing tools beyond those of the gold list, with or without an effect."""
    errors_with_effect: int
    asked: int
    reason: str


class Server:
    """The server of a domain; `with Server("airline") as server` ends its process."""

    def __init__(self, domain: str) -> None:
        self.domain = domain

    def __enter__(self) -> "Server":
        files = DOMAINS[self.domain]
        self._folder = tempfile.TemporaryDirectory(prefix="tool-tasks-")
        self.socket = str(Path(self._folder.name) / "server")
        python = install_environment(FOLDER / files.lock) / "bin" / "python"
        self._process = subprocess.Popen(
            [python, "-P", FOLDER / "server.py", FOLDER / files.code, self.socket],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout
        if not self._process.stdout.readline():
            raise SystemExit(f"the server of {self.domain} did not start")
        self.client = Client(self.socket)
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()
        self._process.communicate()
        self._folder.cleanup()

    def describe(self, task: str) -> Known:
        return Known(domain=self.domain, task=task, **self.client.ask("describe", task=task))


def run_case(
    server: Server, known: Known, arm: Arm, worker: Worker, fault: str, call: dict[str, Any] | None
) -> Outcome:
    """Run a task. The fault happens at the first execution of `call`."""
    target = {"tool": call["tool"], "arguments": call["arguments"]} if call else {}
    server.client.ask("start", task=known.task, fault={"kind": fault, "call": target} if call else {})
    report = run_program(server, known, arm, worker)
    ended = server.client.ask("finish")
    assert not ended["fault_left"], f"{arm.name} {known.task}: the call with the fault was never made"
    repeated = count_extra(ended["log"], known, lambda entry: entry["did"] == "changed")
    return Outcome(
        domain=known.domain,
        task=known.task,
        arm=arm.name,
        fault=fault,
        tool=call["tool"] if call else "",
        tells=bool(call) and call["again"] == "changed",
        equal=ended["final"] == known.final,
        finished=bool(report["finished"]),
        twice=repeated,
        resent=count_extra(ended["log"], known, lambda entry: True),
        errors_with_effect=sum(entry["error"] and entry["did"] == "changed" for entry in ended["log"]),
        asked=len(report.get("asked", ())),
        reason=report["reason"],
    )


def run_program(server: Server, known: Known, arm: Arm, worker: Worker) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="tool-tasks-home-") as home:
        job = {
            "socket": server.socket,
            "home": home,
            "run": f"run-{time.time_ns()}",
            "goal": f"Carry out {known.task}",
            "calls": [{"tool": call["tool"], "arguments": call["arguments"]} for call in known.calls],
            "tools": known.tools,
            "limit": LIMIT_SECONDS,
            **arm.options,
        }
        for start in range(STARTS):
            if report := worker.run({**job, "again": start > 0}):
                return report
    return {"finished": False, "reason": f"the program died {STARTS} times"}


def count_extra(log: list[dict[str, Any]], known: Known, fits: Callable[[dict[str, Any]], bool]) -> int:
    """Count calls of writing tools beyond those that the gold list makes with the same arguments."""
    writing = {tool["name"] for tool in known.tools if tool["writes"]}
    made = Counter(make_key(entry) for entry in log if entry["tool"] in writing and fits(entry))
    wanted = Counter(make_key(call) for call in known.calls if call["tool"] in writing)
    return (made - wanted).total()


def make_key(call: dict[str, Any]) -> str:
    return json.dumps([call["tool"], call["arguments"]], sort_keys=True)
