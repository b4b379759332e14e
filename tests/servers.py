"""Real servers for tests, as fixtures: started when the first test asks, shared by all workers, stopped at the end.

Imports of what they need are inside: most tests need none of it.
"""

import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

POSTGRES = "MIDCOURSE_TEST_POSTGRES"
"""The URL of a server to use instead of our own."""
FOLDER = "MIDCOURSE_TEST_SERVERS"
"""Where the servers of this test run are. The workers inherit it, and so share them."""


def pytest_configure(config: pytest.Config) -> None:
    if FOLDER not in os.environ:
        os.environ[FOLDER] = tempfile.mkdtemp(prefix="midcourse-")
        config.add_cleanup(_stop_servers)
        signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))  # or nobody would clean up


def _stop_servers() -> None:
    folder = Path(os.environ.pop(FOLDER))
    if (folder / "postgres").exists():
        from midcourse.store.postgres import development

        development.stop(folder / "postgres", "immediate")
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def postgres_server() -> str:
    """The URL of a server as its superuser."""
    from midcourse.store.postgres import development

    return os.environ.get(POSTGRES) or development.start(Path(os.environ[FOLDER]) / "postgres")


@pytest.fixture
def empty_database(postgres_server: str) -> Iterator[str]:
    yield from _database(postgres_server)


@pytest.fixture(scope="session")
def postgres(postgres_server: str) -> Iterator[str]:
    """The URL of a migrated database that this worker's tests share. Each takes a `tenant` of its own."""
    from midcourse.store.postgres.migrate import migrate

    for url in _database(postgres_server):
        migrate(url)
        yield url


@pytest.fixture
def tenant() -> str:
    return f"t{uuid4().hex[:12]}"


def _database(server: str) -> Iterator[str]:
    import psycopg
    from psycopg.sql import SQL, Identifier
    from sqlalchemy import make_url

    name = f"midcourse_{uuid4().hex[:12]}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(SQL("CREATE DATABASE {}").format(Identifier(name)))
        yield make_url(server).set(database=name).render_as_string(hide_password=False)
        connection.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(name)))
