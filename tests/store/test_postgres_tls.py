"""The store over TLS: server certificates are verified, clients may identify themselves by theirs, and the URL says it all."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from pydantic import SecretStr

from midcourse.agent.start import new_run
from midcourse.agent.wiring import load_job
from midcourse.config.fleet_settings import FleetSettings
from midcourse.errors import FleetUnavailable, TaskInvalid
from midcourse.home.fleet_store import database_label, migrate_database, open_fleet_store
from midcourse.store.postgres import PostgresStore
from midcourse.store.postgres.address import convert_for_libpq, label_address, parse_address
from tests.certificates import Authority, Issued
from tests.leftovers import run_folder

NAME, OWNER, WORKER = "db.test", "fleet_owner", "fleet_worker"
PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
WHO_MAY_CONNECT = f"""
hostssl all postgres,{WORKER} 127.0.0.1/32 cert
hostssl all all 127.0.0.1/32 scram-sha-256
"""


@dataclass(frozen=True, kw_only=True)
class Server:
    port: int
    password: str
    authority: Authority

    def url(self, user: str = OWNER, **more: str) -> str:
        """What is asked for in the URL wins over what a correct one has."""
        usual = {"hostaddr": "127.0.0.1", "sslmode": "verify-full", "sslrootcert": str(self.authority.file)}
        login = f"{user}:{self.password}" if user == OWNER else user
        return f"postgresql://{login}@{NAME}:{self.port}/postgres?{urlencode(usual | more)}"

    def settings(self, tenant: str, user: str = OWNER, **more: str) -> FleetSettings:
        return FleetSettings(database_url=SecretStr(self.url(user, **more)), tenant=tenant)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """The system's server, with TLS on loopback: the one in the wheel was built without. Connections without TLS are refused."""
    if not PROGRAMS:
        pytest.skip("type: apt-get install postgresql")
    account = pwd.getpwnam("postgres") if os.geteuid() == 0 else None
    data = Path(tempfile.mkdtemp(prefix="postgres-tls-"))
    link = run_folder() / data.name / "postgres"  # so that it is removed even if this process is killed
    link.parent.mkdir()
    link.symlink_to(data)
    authority, password = Authority(link.parent / "issued"), uuid4().hex
    mine = authority.issue(NAME)

    def execute(program: str, *arguments: str) -> None:
        who: dict[str, Any] = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []} if account else {}
        command = [PROGRAMS[-1] / program, "-D", str(data), *arguments]
        subprocess.run(command, check=True, cwd="/", stdout=subprocess.DEVNULL, **who)

    def hand_over(*files: Path) -> None:
        for file in (data, *(Path(shutil.copy(file, data)) for file in files)):
            if account:
                os.chown(file, account.pw_uid, account.pw_gid)

    hand_over()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    try:
        execute("initdb", "--auth=trust", "--no-sync", "--encoding=utf8", "-U", "postgres")
        hand_over(authority.file, mine.certificate, mine.key)
        (data / "pg_hba.conf").write_text(WHO_MAY_CONNECT)
        with (data / "postgresql.conf").open("a") as settings:
            settings.write(f"fsync = off\nssl = on\nssl_ca_file = '{authority.file.name}'\n")
            settings.write(f"ssl_cert_file = '{mine.certificate.name}'\nssl_key_file = '{mine.key.name}'\n")
        execute("pg_ctl", "-w", "-t", "180", "-l", str(data / "log"), "-o", f"-h 127.0.0.1 -p {port} -k ''", "start")
        found = Server(port=port, password=password, authority=authority)
        with psycopg.connect(found.url("postgres", **certificate(authority.issue("postgres")))) as superuser:
            superuser.execute(f"CREATE ROLE {OWNER} SUPERUSER LOGIN PASSWORD '{password}'".encode())
        yield found
        execute("pg_ctl", "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(data, ignore_errors=True)


def certificate(issued: Issued) -> dict[str, str]:
    return {"sslcert": str(issued.certificate), "sslkey": str(issued.key)}


async def refused(settings: FleetSettings) -> str:
    with pytest.raises(FleetUnavailable) as error:
        async with open_fleet_store(settings):
            pass
    return str(error.value)


@pytest.mark.slow
async def test_the_schema_is_made_and_runs_are_kept_over_tls_by_a_client_with_a_certificate(
    server: Server, tenant: str
):
    assert migrate_database(server.settings(tenant)) == database_label(server.settings(tenant))
    with psycopg.connect(server.url(), autocommit=True) as owner:
        owner.execute(f"CREATE ROLE {WORKER} LOGIN".encode())
        owner.execute(f"GRANT midcourse_app TO {WORKER}".encode())
        mine = certificate(server.authority.issue(WORKER))
        async with open_fleet_store(server.settings(tenant, WORKER, **mine)) as store:
            job = load_job("notepad", {})
            await store.begin(new_run(job.task, "secured"), job.task)
            assert [found.id for found in await store.runs()] == ["secured"]
            with store.claim("secured"):
                found = owner.execute(
                    "SELECT usename, ssl, client_dn FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) "
                    "WHERE backend_type = 'client backend' AND usename = %s",
                    (WORKER,),
                ).fetchall()
        assert len(found) == 2, "the store and the claim have a connection each"
        assert {*found} == {(WORKER, True, f"/CN={WORKER}")}


@pytest.mark.slow
async def test_what_is_wrong_with_a_connection_is_said_with_what_to_set(server: Server, tenant: str, tmp_path: Path):
    other = Authority(tmp_path, "other")
    wrong_authority = {"sslrootcert": str(other.file)}
    assert "sslrootcert" in await refused(server.settings(tenant, **wrong_authority))
    with pytest.raises(FleetUnavailable, match="sslrootcert"):
        migrate_database(server.settings(tenant, **wrong_authority))
    elsewhere = server.url().replace(NAME, "elsewhere.test")
    as_it_is_named = FleetSettings(database_url=SecretStr(elsewhere), tenant=tenant)
    assert "has to name the server as its certificate does" in await refused(as_it_is_named)
    assert "sslmode=verify-full" in await refused(server.settings(tenant, sslmode="disable"))
    assert "sslcert" in await refused(server.settings(tenant, WORKER))
    assert "sslcert" in await refused(server.settings(tenant, WORKER, **certificate(other.issue(WORKER))))
    assert "sslcert" in await refused(server.settings(tenant, WORKER, **certificate(server.authority.issue("other"))))


# --- the URL


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ada:p%40ss%3Aword@db.internal:6432/runs?sslmode=verify-full&sslrootcert=system",
        "postgres://ada@[::1]:5432/runs?sslrootcert=%2Fetc%2Four%20keys%2Fca.pem&sslcert=c.pem&sslkey=c.key&sslpassword=x",
        "postgresql://ada@one:1,two:2/runs?target_session_attrs=read-write&channel_binding=require&sslcrl=revoked.pem",
        "postgresql:///runs?host=%2Fvar%2Frun&application_name=workers&options=-c%20statement_timeout%3D5s",
        "postgresql://db/runs?sslnegotiation=direct&ssl_min_protocol_version=TLSv1.3&gssencmode=disable",
        "host=db user=ada password='a b' sslmode=require",
        "service=fleet",
    ],
)
def test_all_that_libpq_understands_reaches_it(address: str):
    given = conninfo_to_dict(address)
    assert conninfo_to_dict(convert_for_libpq(address)) == given | {"connect_timeout": "10"}
    assert parse_address(address) == conninfo_to_dict(convert_for_libpq(address)), "which is what migrations use"


def test_a_timeout_in_the_url_counts_and_a_driver_is_ignored():
    address = "postgresql+psycopg://ada@db/runs?connect_timeout=3"
    assert conninfo_to_dict(convert_for_libpq(address)) == {
        "user": "ada",
        "host": "db",
        "dbname": "runs",
        "connect_timeout": "3",
    }


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        (
            "postgresql://ada:pw-secret@db:5433/runs?sslmode=verify-full&sslpassword=pw-secret&sslkey=k",
            "postgresql://ada@db:5433/runs?sslmode=verify-full",
        ),
        ("postgresql://ada:pw-secret@one:1,two:2/runs", "postgresql://ada@one:1,two:2/runs"),
        ("postgresql://ada@/runs?host=/run/db&password=pw-secret", "postgresql://ada@/runs?host=%2Frun%2Fdb"),
        ("service=fleet password=pw-secret", "postgresql:///?service=fleet"),
    ],
)
def test_what_is_shown_of_the_url_has_no_secrets(address: str, shown: str):
    assert label_address(address) == shown


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("postgresql://ada:pw-secret@db/runs?sslmod=require", "no parameter 'sslmod'"),
        ("postgresql://ada:pw-secret@[db/runs", "postgresql://USER"),
        ("mysql://ada:pw-secret@db/runs", "postgresql://USER"),
    ],
)
def test_a_url_that_cannot_be_read_is_refused_without_quoting_it(address: str, says: str):
    with pytest.raises(TaskInvalid, match=says) as error:
        PostgresStore(address, tenant="acme")
    assert "pw-secret" not in str(error.value)
    assert error.value.__suppress_context__
