"""Real servers for tests, as fixtures: started by the first test that uses them and shared by all workers.

They end with the test run (see `tests.leftovers`). Imports are inside the functions because most tests need no server.
"""

import fcntl
import os
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.request import Request, urlopen
from uuid import uuid4

import pytest

from midcourse.codec import decode, encode
from tests.leftovers import run_folder

POSTGRES = "MIDCOURSE_TEST_POSTGRES"
"""The URL of a server to use instead of starting one."""
AWS = {
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_REGION": "us-east-1",
    "AWS_ALLOW_HTTP": "true",
}
LISTENS = re.compile(r"http://127\.0\.0\.1:\d+")
TEMPORAL = "MIDCOURSE_TEST_TEMPORAL"
"""The address of a server to use instead of starting one."""


@pytest.fixture
def forked_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start world hosts by forking, for tests that are not about how they start."""
    from tests.forked import execute_forked

    monkeypatch.setattr("midcourse.worlds.remote._execute", execute_forked)


@pytest.fixture(scope="session")
def temporal() -> str:
    """The address of a Temporal server."""
    return os.environ.get(TEMPORAL) or _start_temporal(run_folder())


def _start_temporal(folder: Path) -> str:
    from midcourse.runtimes.temporal.development import DevelopmentServer, start_server

    running = folder / "temporal.json"
    with (folder / "temporal.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not running.exists():
            running.write_text(encode(start_server(folder / "temporal")))
    return decode(DevelopmentServer, running.read_bytes()).address


@pytest.fixture(scope="session")
def s3() -> str:
    """The URL of a moto server, which speaks the protocol of S3."""
    return _start_moto(run_folder())


@pytest.fixture
def bucket(s3: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a new bucket; sets the variables that clients find it by."""
    name = f"midcourse-{uuid4().hex[:12]}"
    urlopen(Request(f"{s3}/{name}", method="PUT"), timeout=180).close()
    for variable, value in AWS.items():
        monkeypatch.setenv(variable, value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3)
    return name


def _start_moto(folder: Path) -> str:
    log = folder / "moto.log"
    with (folder / "moto.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not log.exists():
            command = [sys.executable, "-m", "moto.server", "--host", "127.0.0.1", "--port", "0"]
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
            log.touch()
            outputs = [(os.POSIX_SPAWN_OPEN, number, str(log), flags, 0o600) for number in (1, 2)]
            os.posix_spawn(
                command[0], command, os.environ, file_actions=outputs, setsid=True
            )  # it outlives this worker
        until = time.monotonic() + 300
        while not (found := LISTENS.search(log.read_text())):
            assert time.monotonic() < until, log.read_text()
            time.sleep(0.05)
    return found[0]


@pytest.fixture(scope="session")
def postgres_server() -> str:
    """The URL of a PostgreSQL server for its superuser."""
    from midcourse.store.postgres import development

    return os.environ.get(POSTGRES) or development.start(run_folder() / "postgres")


@pytest.fixture
def empty_database(postgres_server: str) -> Iterator[str]:
    yield from _create_database(postgres_server)


@pytest.fixture(scope="session")
def postgres(postgres_server: str) -> Iterator[str]:
    """The URL of a migrated database that this worker's tests share. Each test uses its own `tenant`."""
    from midcourse.store.postgres.migrate import migrate

    for url in _create_database(postgres_server):
        migrate(url)
        yield url


@pytest.fixture
def tenant() -> str:
    return f"t{uuid4().hex[:12]}"


def _create_database(server: str) -> Iterator[str]:
    import psycopg
    from psycopg.sql import SQL, Identifier
    from sqlalchemy import make_url

    name = f"midcourse_{uuid4().hex[:12]}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(SQL("CREATE DATABASE {}").format(Identifier(name)))
        yield make_url(server).set(database=name).render_as_string(hide_password=False)
        connection.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(name)))
