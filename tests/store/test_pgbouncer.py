"""Stores behind a real PgBouncer that lends connections by transaction: tenants share connections and nothing else."""

import asyncio
import os
import pwd
import shutil
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.sql import SQL, Identifier

from midcourse.errors import RunBusy, RunUnknown
from midcourse.ports.store import Store
from midcourse.store.postgres import PostgresStore
from midcourse.store.postgres.connections import ConnectionPool
from midcourse.store.postgres.tables import metadata
from midcourse.testing.conformance.driven_store import DrivingConformance
from midcourse.testing.conformance.store_samples import TASK, new_run, rows, turns
from tests.store.test_postgres_tenants import fill

MOST = 20
"""Connections to the server."""
CONFIG = """
[databases]
* = host={host} port={port} user={user} password={password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {listens}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = {most}
"""


@dataclass(frozen=True, kw_only=True)
class Bouncer:
    url: str
    """The database through the pooler."""
    direct: str


@pytest.fixture(scope="module")
def bouncer(postgres: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bouncer]:
    program = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
    if program is None:
        pytest.skip("type: apt-get install pgbouncer")
    known = conninfo_to_dict(postgres)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    file = tmp_path_factory.mktemp("pgbouncer") / "pgbouncer.ini"
    server = {name: known.get(name, "") for name in ("host", "user", "password")}
    file.write_text(CONFIG.format(**server, port=known.get("port", 5432), listens=port, most=MOST))
    command = [program, str(file)]
    if os.geteuid() == 0:  # it does not run as root
        command[1:1] = ["-u", _owner_of(Path(str(known["host"])))]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = make_conninfo(host="127.0.0.1", port=port, dbname=str(known["dbname"]), user="any")
    try:
        _wait_for(url, process)
        yield Bouncer(url=f"postgresql://any@127.0.0.1:{port}/{known['dbname']}", direct=postgres)
    finally:
        process.terminate()
        process.wait(30)


def _owner_of(folder: Path) -> str:
    return pwd.getpwuid(folder.stat().st_uid).pw_name if folder.is_dir() else "postgres"


def _wait_for(url: str, process: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + 60
    while True:
        assert process.poll() is None, "pgbouncer ended"
        try:
            psycopg.connect(url).close()
            return
        except psycopg.OperationalError:
            assert time.monotonic() < until
            time.sleep(0.05)


@pytest.fixture
async def pool(bouncer: Bouncer) -> AsyncIterator[ConnectionPool]:
    pool = ConnectionPool(bouncer.url, size=MOST, by_transaction=True)
    yield pool
    await pool.close()


class TestDriving(DrivingConformance):
    @pytest.fixture(autouse=True)
    def _database(self, bouncer: Bouncer, tenant: str) -> None:
        self.url, self.tenant = bouncer.url, tenant

    def make_store(self, tmp_path: Path) -> Store:
        pool = ConnectionPool(self.url, size=3, by_transaction=True)
        return cast(Store, PostgresStore("", tenant=self.tenant, pool=pool))

    async def close_store(self, store: Store) -> None:
        await cast(PostgresStore, store)._pool.close()


async def _play(pool: ConnectionPool, tenant: str, number: int) -> None:
    """A run of this tenant. All tenants call theirs the same."""
    store = PostgresStore("", tenant=tenant, pool=pool)
    await store.begin(new_run("a"), TASK)
    for turn in turns("a"):
        await store.save_turn(*turn)
    await store.save_session("a", f"handle {number}")
    assert await store.session("a") == f"handle {number}"


async def test_a_hundred_tenants_share_twenty_connections_and_see_only_their_own(
    bouncer: Bouncer, pool: ConnectionPool, tenant: str
) -> None:
    tenants = [f"{tenant}.{number}" for number in range(100)]
    await asyncio.gather(*(_play(pool, name, number) for number, name in enumerate(tenants)))
    for number, name in enumerate(tenants[:10]):
        store = PostgresStore("", tenant=name, pool=pool)
        assert [run.id for run in await store.runs()] == ["a"]
        assert await store.session("a") == f"handle {number}"
        assert await store.journal("a") == rows("a")
    another = PostgresStore("", tenant=f"{tenant}.x", pool=pool)
    assert await another.runs() == ()
    with pytest.raises(RunUnknown):
        await another.load("a")
    with psycopg.connect(bouncer.direct) as connection:
        used = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
            " AND backend_type = 'client backend'"
        ).fetchone()
    assert used is not None
    assert used[0] <= MOST


async def test_next_transaction_on_a_shared_connection_sees_nothing(
    bouncer: Bouncer, pool: ConnectionPool, tenant: str
) -> None:
    await fill(PostgresStore("", tenant=tenant, pool=pool))
    tables = [table.name for table in metadata.sorted_tables]
    for _ in range(3):
        with psycopg.connect(bouncer.url, prepare_threshold=None) as connection:
            connection.execute("SET LOCAL ROLE midcourse_app")
            for table in tables:
                count = SQL("SELECT count(*) FROM {}").format(Identifier("midcourse", table))
                assert connection.execute(count).fetchone() == (0,), table
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute("INSERT INTO midcourse.tenants (tenant) VALUES (%s)", (tenant,))
            connection.rollback()


async def test_run_is_claimed_by_one_process_through_the_pooler(pool: ConnectionPool, tenant: str) -> None:
    store, other = (PostgresStore("", tenant=name, pool=pool) for name in (tenant, f"{tenant}x"))
    with store.claim("a"):
        with pytest.raises(RunBusy), store.claim("a"):
            pass
        with other.claim("a"):
            pass
    with store.claim("a"):
        pass


async def test_one_connection_serves_several_tenants_separately(postgres: str, tenant: str) -> None:
    """Over one connection, which is set to each of them in turn."""
    pool = ConnectionPool(postgres, size=1)
    try:
        tenants = [f"{tenant}.{number}" for number in range(5)]
        await asyncio.gather(*(_play(pool, name, number) for number, name in enumerate(tenants)))
        for number, name in enumerate(tenants):
            assert await PostgresStore("", tenant=name, pool=pool).session("a") == f"handle {number}"
        assert await PostgresStore("", tenant=f"{tenant}.x", pool=pool).runs() == ()
    finally:
        await pool.close()
