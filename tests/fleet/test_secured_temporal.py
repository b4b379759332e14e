"""Connections to Temporal over TLS, with client certificates and API keys, as a profile of its configuration says."""

import asyncio
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from google.protobuf.duration_pb2 import Duration
from temporalio.api.workflowservice.v1 import RegisterNamespaceRequest
from temporalio.client import Client

from midcourse.agent.wiring import load_job
from midcourse.config.fleet_settings import FleetSettings
from midcourse.config.settings import Settings
from midcourse.doctor import _check_fleet as examine_fleet
from midcourse.doctor import _check_keys as examine_keys
from midcourse.errors import FleetUnavailable, MidcourseError, TaskInvalid
from midcourse.fleet.connection import connect_fleet, start_durable_run
from midcourse.fleet.worker import build_worker
from midcourse.redact import Redactor
from midcourse.runtimes.temporal.attributes import register
from midcourse.runtimes.temporal.profile import read_profile
from tests.certificates import Authority, Issued
from tests.runtimes.gate import gate

NAME = "temporal.test"
API_KEY = "key-of-the-tests-4711"


@pytest.fixture(autouse=True)
def unset_variables(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TEMPORAL_CONFIG_FILE", str(tmp_path / "temporal.toml"))
    for name in FleetSettings.model_fields:
        monkeypatch.delenv(f"MIDCOURSE_{name.upper()}", raising=False)
    for name in [*os.environ]:
        if name.startswith("TEMPORAL_") and name != "TEMPORAL_CONFIG_FILE":
            monkeypatch.delenv(name)


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "tls")


@pytest.fixture
def server(authority: Authority) -> Issued:
    return authority.issue(NAME)


Configure = Callable[..., FleetSettings]


@pytest.fixture
def configure(tmp_path: Path, postgres: str, tenant: str, authority: Authority) -> Configure:
    def write(address: str, tls: dict[str, Any] | None = None, **profile: str) -> FleetSettings:
        """A profile 'cloud' with what a correct one needs, changed by what is given."""
        usual = {"server_name": NAME, "server_ca_cert_path": str(authority.file)}
        write_profile(tmp_path, "cloud", {"address": address, **profile}, usual | (tls or {}))
        return FleetSettings.load(tmp_path, {"database_url": postgres, "temporal_profile": "cloud", "tenant": tenant})

    return write


def write_profile(folder: Path, name: str, values: dict[str, Any], tls: dict[str, Any]) -> None:
    """JSON's strings and truth values are also TOML's."""
    lines = [f"[profile.{name}]", *(f"{key} = {json.dumps(value)}" for key, value in values.items())]
    lines += [f"[profile.{name}.tls]", *(f"{key} = {json.dumps(value)}" for key, value in tls.items())]
    (folder / "temporal.toml").write_text("\n".join(lines))


def make_certificate_options(issued: Issued) -> dict[str, str]:
    return {"client_cert_path": str(issued.certificate), "client_key_path": str(issued.key)}


async def expect_refusal(settings: FleetSettings) -> str:
    with pytest.raises(MidcourseError) as error:
        async with connect_fleet(settings):
            pass
    assert API_KEY not in str(error.value)
    return str(error.value)


# --- accepted


@pytest.mark.slow
async def test_a_run_is_driven_over_tls_with_a_client_certificate_and_an_api_key(
    temporal: str, authority: Authority, server: Issued, configure: Configure, tmp_path: Path
):
    async with gate(temporal, server, clients=authority, api_key=API_KEY) as there:
        settings = configure(there.address, make_certificate_options(authority.issue("worker")), api_key=API_KEY)
        async with connect_fleet(settings) as fleet, build_worker(fleet, tmp_path):
            assert (fleet.temporal, fleet.security) == (there.address, "TLS, client certificate, API key")
            await start_durable_run(fleet, load_job("notepad", {}), "secured")
            result = await asyncio.wait_for(fleet.runs.handle("secured").result(), 120)
        assert result.final_reason == "goal_reached"
        found = await examine_fleet_in(settings, tmp_path)
        assert f"({there.address}, TLS, client certificate, API key)" in found
    paths = {request[":path"].rpartition("/")[2] for request in there.requests}
    assert {"StartWorkflowExecution", "PollWorkflowTaskQueue", "RespondWorkflowTaskCompleted"} <= paths
    assert {request.get("authorization") for request in there.requests} == {f"Bearer {API_KEY}"}
    named = {request.get("temporal-namespace") for request in there.requests if "Poll" in request[":path"]}
    assert named == {"default"}


async def examine_fleet_in(settings: FleetSettings, home: Path) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MIDCOURSE_TEMPORAL_PROFILE", settings.temporal_profile)
        patch.setenv("MIDCOURSE_DATABASE_URL", settings.database_url.get_secret_value())
        patch.setenv("MIDCOURSE_TENANT", settings.tenant)
        return (await examine_fleet(home)).says


@pytest.mark.slow
async def test_a_worker_on_the_command_line_takes_temporals_variables_and_says_no_key(
    temporal: str, postgres: str, tenant: str, authority: Authority, server: Issued, tmp_path: Path
):
    async with gate(temporal, server, api_key=API_KEY) as there:
        given = {
            "MIDCOURSE_HOME": str(tmp_path / "home"),
            "MIDCOURSE_DATABASE_URL": postgres,
            "MIDCOURSE_TENANT": tenant,
            "MIDCOURSE_TEMPORAL_PROFILE": "default",
            "TEMPORAL_ADDRESS": there.address,
            "TEMPORAL_API_KEY": API_KEY,
            "TEMPORAL_TLS_SERVER_NAME": NAME,
            "TEMPORAL_TLS_SERVER_CA_CERT_PATH": str(authority.file),
        }
        log = tmp_path / "log"
        with log.open("w") as written:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "midcourse", "fleet", "worker", "--json"),
                env={**os.environ, **given},
                stdout=asyncio.subprocess.PIPE,
                stderr=written,
            )
            assert process.stdout
            announced = json.loads(await process.stdout.readline())
            process.terminate()
            rest, _ = await process.communicate()
        assert process.returncode == 0, log.read_text()
        assert (announced["temporal"], announced["security"]) == (there.address, "TLS, API key")
    assert API_KEY not in json.dumps(announced) + rest.decode() + log.read_text()


async def test_address_and_namespace_of_the_settings_win_over_the_profile(
    temporal: str, server: Issued, configure: Configure, tmp_path: Path
):
    async with gate(temporal, server) as there:
        settings = configure("127.0.0.1:1", namespace="default")
        async with connect_fleet(settings.model_copy(update={"temporal_address": there.address})) as fleet:
            assert fleet.temporal == there.address
        settings = configure(there.address, namespace="of-the-profile")
        assert "of-the-profile" in await expect_refusal(settings)
        said = FleetSettings.load(
            tmp_path,
            {
                "temporal_namespace": "default",
                **{name: str(getattr(settings, name)) for name in ("temporal_profile", "tenant")},
                "database_url": settings.database_url.get_secret_value(),
            },
        )
        async with connect_fleet(said) as fleet:
            assert fleet.client.namespace == "default"


async def test_search_attributes_may_be_registered_by_an_administrator_only(
    temporal: str, server: Issued, configure: Configure
):
    administrator = await Client.connect(temporal)
    await register(administrator)
    async with gate(temporal, server, operators=False) as there, connect_fleet(configure(there.address)):
        pass  # they are there
    assert any("OperatorService" in request[":path"] for request in there.requests)


# --- refused, with what to set


async def test_what_is_wrong_with_a_connection_is_said_with_what_to_set(
    temporal: str, authority: Authority, server: Issued, configure: Configure, tmp_path: Path
):
    other = Authority(tmp_path / "tls", "other")
    async with gate(temporal, server, api_key=API_KEY) as there:
        wrong_authority = await expect_refusal(configure(there.address, {"server_ca_cert_path": str(other.file)}))
        wrong_name = await expect_refusal(configure(there.address, {"server_name": "elsewhere.test"}))
        no_key = await expect_refusal(configure(there.address))
        wrong_key = await expect_refusal(configure(there.address, api_key="another-key"))
    assert "TEMPORAL_TLS_SERVER_CA_CERT_PATH" in wrong_authority
    assert "TEMPORAL_TLS_SERVER_NAME" in wrong_name
    assert "wants an API key" in no_key
    assert "rejects the API key" in wrong_key
    async with gate(temporal, authority.issue(NAME, days=-1)) as there:
        assert "expired" in await expect_refusal(configure(there.address))
    assert "does not use TLS" in await expect_refusal(configure(temporal))


async def test_a_client_certificate_that_is_missing_or_of_another_authority_is_refused(
    temporal: str, authority: Authority, server: Issued, configure: Configure, tmp_path: Path
):
    mine, other = authority.issue("worker"), Authority(tmp_path / "tls", "other").issue("worker")
    async with gate(temporal, server, clients=authority) as there:
        missing = await expect_refusal(configure(there.address))
        wrong = await expect_refusal(configure(there.address, make_certificate_options(other)))
        mixed = {**make_certificate_options(mine), "client_key_path": str(other.key)}
        mismatch = await expect_refusal(configure(there.address, mixed))
    assert "may require a client certificate" in missing
    assert "may not accept the client certificate" in wrong
    assert "is not the key of" in mismatch


async def test_without_a_profile_nothing_secret_is_sent_and_the_message_names_the_setting(
    temporal: str, postgres: str, tenant: str, server: Issued, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("TEMPORAL_API_KEY", API_KEY)
    async with gate(temporal, server, api_key=API_KEY) as there:
        usual = {"database_url": postgres, "temporal_address": there.address, "tenant": tenant}
        says = await expect_refusal(FleetSettings.load(tmp_path, usual))
    assert "set temporal_profile" in says
    assert "TEMPORAL_API_KEY count only then" in says
    assert there.requests == []


async def test_a_namespace_without_the_search_attributes_is_refused_where_only_an_administrator_adds_them(
    temporal: str, server: Issued, configure: Configure
):
    namespace = await create_namespace(temporal)
    async with gate(temporal, server, operators=False) as there:
        says = await expect_refusal(configure(there.address, namespace=namespace))
        assert "MidcourseStatus" in says
        assert "Keyword" in says
        await register(await Client.connect(temporal, namespace=namespace))
        async with connect_fleet(configure(there.address, namespace=namespace)):
            pass


async def create_namespace(temporal: str) -> str:
    """A namespace that no client of ours has used yet."""
    client, name = await Client.connect(temporal), f"n{uuid4().hex[:12]}"
    retention = Duration(seconds=24 * 3600)
    await client.workflow_service.register_namespace(
        RegisterNamespaceRequest(namespace=name, workflow_execution_retention_period=retention)
    )
    return name


# --- files and variables


@pytest.mark.parametrize(
    ("tls", "says"),
    [
        ({"client_cert_path": "/nowhere.pem", "client_key_path": "/nowhere.key"}, "TEMPORAL_TLS_CLIENT_CERT_PATH"),
        ({"client_cert_data": "-----BEGIN CERTIFICATE-----"}, "TEMPORAL_TLS_CLIENT_KEY_PATH.* is missing"),
        ({"server_ca_cert_data": "no certificate"}, "not in the PEM format"),
        ({"disabled": True}, "over TLS only"),
    ],
)
def test_a_profile_that_cannot_work_is_refused_before_connecting(tmp_path: Path, tls: dict[str, Any], says: str):
    write_profile(tmp_path, "cloud", {"address": "cloud:7233", "api_key": API_KEY}, tls)
    with pytest.raises(TaskInvalid, match=says) as error:
        read_profile("cloud")
    assert API_KEY not in str(error.value)


@pytest.mark.parametrize("text", [f'api_key = "{API_KEY}" x', f'api_key = ["{API_KEY}"]'])
def test_a_damaged_configuration_is_refused_without_quoting_it(tmp_path: Path, text: str):
    (tmp_path / "temporal.toml").write_text(f"[profile.cloud]\n{text}\n")
    with pytest.raises(TaskInvalid, match=r"see its line 2") as error:
        read_profile("cloud")
    assert API_KEY not in str(error.value)
    assert error.value.__suppress_context__


@pytest.mark.parametrize("name", ["cloud", "default"])
def test_a_profile_that_is_nowhere_is_refused(name: str):
    with pytest.raises(TaskInvalid, match=rf"no \[profile.{name}\] in .*temporal.toml"):
        read_profile(name)


def test_the_named_profile_is_read_whichever_one_temporals_own_variable_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("TEMPORAL_PROFILE", "another")
    (tmp_path / "temporal.toml").write_text('[profile.another]\naddress = "a:1"\n[profile.default]\naddress = "d:1"\n')
    assert read_profile("default").address == "d:1"


def test_keys_are_not_in_the_text_of_a_profile_and_are_masked_in_logs(tmp_path: Path):
    write_profile(tmp_path, "cloud", {"address": "cloud:7233", "api_key": f"{API_KEY}\n"}, {})
    profile = read_profile("cloud")
    assert profile.tls is not None, "a key alone means TLS"
    assert profile.api_key == API_KEY
    assert API_KEY not in repr(profile)
    assert Redactor(profile.secrets)(f"header {API_KEY}") == "header <secret TEMPORAL_API_KEY>"


def test_a_profile_alone_says_where_temporal_is(tmp_path: Path):
    settings = FleetSettings.load(tmp_path, {"database_url": "postgresql:///x", "temporal_profile": "cloud"})
    settings.check_complete(tmp_path)
    with pytest.raises(FleetUnavailable, match="database_url is missing"):
        FleetSettings.load(tmp_path, {"temporal_profile": "cloud"}).check_complete(tmp_path)


def test_no_profile_can_be_said_where_a_file_names_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / ".env").write_text("MIDCOURSE_TEMPORAL_PROFILE=cloud\n")
    assert FleetSettings.load(tmp_path).temporal_profile == "cloud"
    monkeypatch.setenv("MIDCOURSE_TEMPORAL_PROFILE", "none")
    assert not FleetSettings.load(tmp_path).is_somewhere


def test_the_key_of_temporal_is_not_one_of_a_model(monkeypatch: pytest.MonkeyPatch):
    for name in [*os.environ]:
        if name.endswith("_API_KEY"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("TEMPORAL_API_KEY", API_KEY)
    assert examine_keys("", Settings()).health == "absent"
