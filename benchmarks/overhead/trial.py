"""The arms beside each other: servers for all of them, each arm in a process, one block of runs after the other."""

import json
import os
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from benchmarks import ROOT
from benchmarks.overhead.meters import commits, read_seconds, seconds_of_family
from benchmarks.overhead.workload import SEGMENTS
from midcourse.runtimes.temporal.development import start_server
from midcourse.store.postgres import development
from midcourse.store.postgres.migrate import migrate


@dataclass(frozen=True, kw_only=True)
class Block:
    """Some runs of one arm at the same time, and what they took."""

    steps: int
    """Of each run."""
    seconds: tuple[float, ...]
    """Each run, from its beginning to its result."""
    worker: float
    temporal: float
    postgres: float
    """Processor time of the three, in seconds."""
    commits: int

    @property
    def all_steps(self) -> int:
        return self.steps * len(self.seconds)

    @property
    def cpu(self) -> float:
        return self.worker + self.temporal + self.postgres


@dataclass(frozen=True, kw_only=True)
class Servers:
    temporal: str
    temporal_pid: int
    postgres: str
    postgres_pid: int


class ArmProcess:
    """An arm that waits for orders."""

    def __init__(self, name: str, python: str, servers: Servers, log: Path) -> None:
        self.name = name
        self._servers = servers
        self._log = log
        self._begun = 0
        path = os.pathsep.join((str(ROOT), str(ROOT / "src")))
        self._process = subprocess.Popen(
            [python, "-m", "benchmarks.overhead.arm", name, servers.temporal, servers.postgres],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log.open("w"),
            text=True,
            env={**os.environ, "PYTHONPATH": path},
        )
        self._hear()

    def block(self, connection: psycopg.Connection, segment: int, runs: int) -> Block:
        """`runs` runs at the same time, of segments of `segment` steps."""
        servers, before, names = self._servers, commits(connection), self._names(runs)
        temporal, postgres = read_seconds(servers.temporal_pid), seconds_of_family(servers.postgres_pid)
        answer = self._ask({"runs": names, "steps": segment})
        return Block(
            steps=segment * SEGMENTS,
            seconds=tuple(answer["seconds"]),
            worker=answer["cpu"],
            temporal=read_seconds(servers.temporal_pid) - temporal,
            postgres=seconds_of_family(servers.postgres_pid) - postgres,
            commits=commits(connection) - before,
        )

    def counts(self) -> dict[str, int]:
        """What the engine kept of the latest run; nothing if there is no engine."""
        return self._ask({"count": f"{self.name}-{self._begun}"})

    def profile(self, segment: int, runs: int) -> dict[str, float]:
        """Seconds of the worker's processor time, by area."""
        return self._ask({"profile": self._names(runs), "steps": segment})

    def close(self) -> None:
        """Its input ends, so it lets go of everything and ends too."""
        self._process.communicate(timeout=60)

    def _names(self, runs: int) -> list[str]:
        self._begun += runs
        return [f"{self.name}-{self._begun - n}" for n in range(runs)]

    def _ask(self, order: dict[str, Any]) -> Any:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return self._hear()

    def _hear(self) -> Any:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"the arm {self.name} is gone:\n{self._log.read_text()[-3000:]}")
        return json.loads(line)


@contextmanager
def trial(arms: dict[str, str]) -> Generator[tuple[dict[str, ArmProcess], psycopg.Connection]]:
    """Every arm at work, by name, each under its own interpreter; and a connection to look at the database with."""
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        url = development.start(folder / "postgres")
        stack.callback(development.remove, folder / "postgres")
        migrate(url)
        server = start_server(folder / "temporal")
        stack.callback(server.stop)
        postmaster = int((folder / "postgres" / "postmaster.pid").read_text().split()[0])
        servers = Servers(temporal=server.address, temporal_pid=server.pid, postgres=url, postgres_pid=postmaster)
        connection = stack.enter_context(psycopg.connect(url, autocommit=True))
        processes: dict[str, ArmProcess] = {}
        for arm, python in arms.items():
            processes[arm] = ArmProcess(arm, python, servers, folder / f"{arm}.log")
            stack.callback(processes[arm].close)
        yield processes, connection


NEEDS = {
    "langgraph": "import langgraph.graph, langgraph.checkpoint.postgres.aio, psycopg, pydantic",
    "dbos": "import dbos, pydantic",
}


def is_installed(arm: str, python: str) -> bool:
    """Whether this interpreter has what the arm of another system needs."""
    return subprocess.run([python, "-c", NEEDS[arm]], capture_output=True, check=False).returncode == 0
