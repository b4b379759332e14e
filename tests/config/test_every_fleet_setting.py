"""Every setting of a fleet has an effect: each is shown to change what the engine, the database or a world is asked for."""

import base64
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import pytest
from psycopg.pq import TransactionStatus

from midcourse.agent.wiring import load_job
from midcourse.codec import encode
from midcourse.config.fleet_settings import FleetSettings
from midcourse.errors import FleetUnavailable, TaskInvalid
from midcourse.fleet.connection import Fleet, connect_fleet, start_durable_run
from midcourse.fleet.ports import NO_HOST, PortsMaker
from midcourse.fleet.worker import read_capacity
from midcourse.home.fleet_store import read_keys
from midcourse.ports.blobs import Blobs
from midcourse.runtimes.temporal.codec import SEALED
from midcourse.runtimes.temporal.wire import Placement, name_workflow
from midcourse.runtimes.temporal.worker import Capacity
from midcourse.store.postgres.store import PostgresBlobs
from midcourse.store.s3 import S3Blobs
from midcourse.testing.conformance.blobs import PICTURE
from midcourse.testing.conformance.store_samples import TASK, new_run
from midcourse.worlds.host.wire import Ready
from midcourse.worlds.remote import RemoteWorld

SHOWN_ELSEWHERE = {"tenant", "temporal_program", "temporal_profile", "task_modules"}
"""What one tenant sees of another is shown by the tests of the command line; which program is executed, and which modules are imported, by
those of attacks; what a profile changes, by those of secured connections.
"""
CAPACITY = {
    "heartbeat_seconds": "heartbeat_seconds",
    "shutdown_seconds": "shutdown_seconds",
    "max_cached_runs": "supervisors",
    "max_sessions": "sessions",
    "max_runs": "drivers",
}
"""What the runtime calls them; that they have an effect there is for its own tests."""


@dataclass(frozen=True, kw_only=True)
class Scene:
    home: Path
    usual: dict[str, str]

    def settings(self, **changes: object) -> FleetSettings:
        return FleetSettings.load(self.home, {**self.usual, **{name: str(value) for name, value in changes.items()}})


@pytest.fixture
def scene(postgres: str, temporal: str, tenant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    monkeypatch.chdir(tmp_path)
    for name in FleetSettings.model_fields:
        monkeypatch.delenv(f"MIDCOURSE_{name.upper()}", raising=False)
    usual = {"database_url": postgres, "temporal_address": temporal, "tenant": tenant}
    return Scene(home=tmp_path, usual=usual)


Demonstration = Callable[[Scene], Awaitable[None]]
DEMONSTRATIONS: dict[str, Demonstration] = {}


def shows(demonstration: Demonstration) -> Demonstration:
    DEMONSTRATIONS[demonstration.__name__] = demonstration
    return demonstration


async def expect_refusal(settings: FleetSettings) -> str:
    with pytest.raises(FleetUnavailable) as refused:
        async with connect_fleet(settings):
            pass
    return str(refused.value)


@shows
async def database_url(scene: Scene) -> None:
    assert "database" in await expect_refusal(scene.settings(database_url="postgresql://nobody@127.0.0.1:1/none"))


@shows
async def temporal_address(scene: Scene) -> None:
    assert "127.0.0.1:1" in await expect_refusal(scene.settings(temporal_address="127.0.0.1:1"))


@shows
async def temporal_namespace(scene: Scene) -> None:
    assert "rejected the connection" in await expect_refusal(scene.settings(temporal_namespace="elsewhere"))


@shows
async def host_file(scene: Scene) -> None:
    ready = scene.home / "host.json"
    serves = ("midcourse.worlds.simulated.shop:Shop",)
    ready.write_text(encode(Ready(url="http://127.0.0.1:2", token="secret", pid=1, worlds=serves)))
    async with connect_fleet(scene.settings()) as fleet:
        await start_durable_run(fleet, load_job("order", {}), "shopping")
        await start_durable_run(fleet, load_job("notepad", {}), "noting")

        async def host_of(run_id: str, **settings: object) -> str | None:
            ports = await PortsMaker(fleet.store, scene.settings(**settings), scene.home).build_ports(run_id)
            assert isinstance(ports.world, RemoteWorld)
            return ports.world._host.url if ports.world._host else None

        assert await host_of("shopping") is None
        assert await host_of("shopping", host_file=ready) == "http://127.0.0.1:2"
        assert await host_of("noting", host_file=ready) is None, (
            "what the host does not serve is opened beside the worker"
        )
        ready.unlink()
        assert await host_of("shopping", host_file=ready) == NO_HOST.url, "it is waited for"
        folder = scene.home / "hosts"
        folder.mkdir()
        assert await host_of("shopping", host_file=folder) == NO_HOST.url
        for name, worlds in (("a", serves), ("b", ("elsewhere:Other",))):
            there = Ready(url=f"http://127.0.0.1/{name}", token="secret", pid=1, worlds=worlds)
            (folder / f"{name}.json").write_text(encode(there))
        assert await host_of("shopping", host_file=folder) == "http://127.0.0.1/a", "the one that serves it"
        (folder / "up.json").write_text('{"not": "a host"}')
        assert await host_of("shopping", host_file=folder) == "http://127.0.0.1/a", "other files are passed over"
        (folder / "a.json").unlink()
        assert await host_of("shopping", host_file=folder) == NO_HOST.url, "its host is away, not its rules"


@shows
async def blobs(scene: Scene) -> None:
    async with connect_fleet(scene.settings()) as fleet:

        def chosen(**settings: object) -> Blobs:
            return PortsMaker(fleet.store, scene.settings(**settings), scene.home / "worker")._blobs

        await fleet.store.begin(new_run("r"), TASK)
        assert isinstance(chosen(), PostgresBlobs)
        assert isinstance(chosen(blobs="postgres"), PostgresBlobs)
        assert isinstance(chosen(blobs="s3://bucket/shots"), S3Blobs)
        await chosen(blobs=f"folder:{scene.home}/shared").put("r", PICTURE)
        assert [path.suffix for path in (scene.home / "shared").rglob("*-1280x800.*")] == [".webp"]
        assert await chosen(blobs="folder").read("r", PICTURE.digest) is None


@pytest.mark.parametrize(
    "place", ["", "here", "folder:", "folder:relative", "s3://", "s3:bucket", "s3://B_", "postgresql://x"]
)
def test_an_invalid_place_of_blobs_is_refused(tmp_path: Path, place: str):
    with pytest.raises(TaskInvalid, match="s3://bucket/prefix"):
        FleetSettings.load(tmp_path, {"blobs": place})


@shows
async def max_connections(scene: Scene) -> None:
    async with connect_fleet(scene.settings(max_connections=1)) as fleet, fleet.store._database.connections.borrow():
        assert fleet.store._database.connections.pool._semaphore._free == 0


@shows
async def database_pooler(scene: Scene) -> None:
    for pooled in (False, True):
        async with connect_fleet(scene.settings(database_pooler=pooled)) as fleet:
            async with fleet.store._database.connections.borrow() as connection:
                assert (connection.info.transaction_status == TransactionStatus.INTRANS) == pooled
            assert await fleet.store.runs() == ()


@shows
async def heartbeat_seconds(scene: Scene) -> None:
    async with connect_fleet(scene.settings(heartbeat_seconds=77)) as fleet:
        await start_durable_run(fleet, load_job("order", {}), "watched")
        handle = fleet.client.get_workflow_handle(name_workflow(fleet.settings.tenant, "watched"))
        first = (await handle.fetch_history()).events[0].workflow_execution_started_event_attributes
        assert b'"heartbeat_seconds":77' in first.input.payloads[0].data


@shows
async def keys_file(scene: Scene) -> None:
    keys = scene.home / "keys"
    keys.write_text(f"# the newest first\n2026-08 {base64.b64encode(bytes(32)).decode()}\n")
    async with connect_fleet(scene.settings()) as fleet:
        await start_durable_run(fleet, load_job("order", {}), "open")
        assert await read_start_input(fleet, "open") == b"json/plain"
    async with connect_fleet(scene.settings(keys_file=keys)) as fleet:
        await start_durable_run(fleet, load_job("order", {}), "sealed")
        assert await read_start_input(fleet, "sealed") == SEALED


async def read_start_input(fleet: Fleet, run_id: str) -> bytes:
    """How what the run was begun with is written in its history."""
    handle = fleet.client.get_workflow_handle(name_workflow(fleet.settings.tenant, run_id))
    first = (await handle.fetch_history()).events[0].workflow_execution_started_event_attributes
    return first.input.payloads[0].metadata["encoding"]


@pytest.mark.parametrize("text", ["", "# nothing\n", "2026-08\n", "2026-08 not-base64!\n", "2026-08 c2hvcnQ=\n"])
def test_a_file_without_good_keys_is_refused(tmp_path: Path, text: str):
    (tmp_path / "keys").write_text(text)
    with pytest.raises(TaskInvalid, match="keys_file"):
        read_keys(tmp_path / "keys")


# --- all of them


def test_every_setting_is_shown_to_have_an_effect():
    assert {*DEMONSTRATIONS, *CAPACITY} == set(FleetSettings.model_fields) - SHOWN_ELSEWHERE


@pytest.mark.slow
@pytest.mark.parametrize("name", DEMONSTRATIONS)
async def test_the_setting_has_an_effect(scene: Scene, name: str):
    await DEMONSTRATIONS[name](scene)


@pytest.mark.parametrize("name", sorted(CAPACITY))
def test_the_engine_is_told_of_the_setting_and_of_no_other(tmp_path: Path, name: str):
    usual, changed = FleetSettings.load(tmp_path), FleetSettings.load(tmp_path, {name: "77"})
    assert list_differences(read_capacity(usual), read_capacity(changed)) == [CAPACITY[name]]


def test_the_defaults_are_those_of_the_runtime(tmp_path: Path):
    settings = FleetSettings.load(tmp_path)
    assert read_capacity(settings) == Capacity()
    assert settings.heartbeat_seconds == Placement().heartbeat_seconds


def list_differences(one: Any, other: Any) -> list[str]:
    return [field.name for field in fields(one) if getattr(one, field.name) != getattr(other, field.name)]
