"""Screenshots in a fleet whose host, workers and clients share no disk, and what happens to them when their month is over."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import date
from pathlib import Path

import psycopg
import pytest

from midcourse.agent.start import new_run_of
from midcourse.agent.wiring import encode_job, parse_job
from midcourse.config.fleet_settings import FleetSettings
from midcourse.domain.observation import Observation
from midcourse.errors import TaskInvalid
from midcourse.fleet.blobs import open_tenant_blobs
from midcourse.fleet.ports import PortsMaker
from midcourse.fleet.retention import expire_month
from midcourse.perform.looking import look
from midcourse.pictures import read_picture
from midcourse.store.postgres import PostgresStore
from midcourse.store.postgres.migrate import migrate
from midcourse.testing.conformance.blobs import PICTURE
from midcourse.testing.conformance.store_samples import OBSERVATION, TASK, new_run
from midcourse.worlds.host import HostConfig, WorldRegistry, serve_host

WORLD = "tests.server.worlds:Office"
JOB = f'goal = "Look"\n[world]\nname = "{WORLD}"\n[planner]\nname = "same_plan"\nsteps = [{{ zone = "__global__", skill = "order", arguments = {{ product = "Lamp", reference = "1" }} }}]\n'


def list_files(folder: Path) -> list[str]:
    return [str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()]


@asynccontextmanager
async def fleet(
    url: str, tenant: str, tmp_path: Path, place: str
) -> AsyncGenerator[tuple[FleetSettings, PostgresStore]]:
    """A host with a home of its own, and a run of its world."""
    ready = tmp_path / "host.json"
    settings = FleetSettings.load(
        tmp_path, {"database_url": url, "tenant": tenant, "host_file": str(ready), "blobs": place}
    )
    config = HostConfig(worlds=WorldRegistry([WORLD], home=tmp_path / "host"), ready=ready)
    async with PostgresStore(url, tenant=tenant) as store, serve_host(config):
        job = parse_job(JOB, "look", {})
        run, task = new_run_of(job, "r1")
        await store.begin(run, task, job=encode_job(job))
        yield settings, store


@pytest.mark.parametrize("place", ["postgres", "s3"])
async def test_host_worker_and_client_need_not_share_a_disk(
    postgres: str, tenant: str, tmp_path: Path, bucket: str, place: str
):
    where = f"s3://{bucket}/fleet" if place == "s3" else place
    async with fleet(postgres, tenant, tmp_path, where) as (settings, store):
        ports = await PortsMaker(store, settings, tmp_path / "worker").build_ports("r1")
        await ports.world.open()
        seen = (await look(ports, 1, 60.0)).seen
        await ports.world.close()
        assert isinstance(seen, Observation)
        async with PostgresStore(postgres, tenant=tenant) as client:
            picture = await open_tenant_blobs(settings, client, tmp_path / "client").read("r1", seen.screenshot)
        assert picture is not None
        assert picture == read_picture(picture.data)
        assert (picture.media_type, picture.width, picture.height) == ("image/webp", 64, 48)
        async with PostgresStore(postgres, tenant=f"{tenant}x") as other:
            whose = settings.model_copy(update={"tenant": f"{tenant}x"})
            assert await open_tenant_blobs(whose, other, tmp_path / "client").read("r1", seen.screenshot) is None
    assert [list_files(tmp_path / home) for home in ("host", "worker", "client")] == [[], [], []]


@pytest.mark.parametrize("place", ["postgres", "folder", "s3"])
async def test_screenshots_are_deleted_with_the_month_of_their_runs(
    empty_database: str, tenant: str, tmp_path: Path, bucket: str, place: str
):
    await asyncio.to_thread(migrate, empty_database)
    where = f"s3://{bucket}" if place == "s3" else place
    settings = FleetSettings.load(tmp_path, {"database_url": empty_database, "tenant": tenant, "blobs": where})
    old = date(2025, 1, 1)
    with psycopg.connect(empty_database) as owner:
        for table in ("journal", "observations", "blobs"):
            sql = f"CREATE TABLE midcourse.{table}_2025_01 PARTITION OF midcourse.{table} FOR VALUES FROM ('2025-01-01') TO ('2025-02-01')"
            owner.execute(sql.encode())
    for whose in (tenant, f"{tenant}x"):
        own = settings.model_copy(update={"tenant": whose})
        async with PostgresStore(empty_database, tenant=whose) as store:
            for run_id in ("past", "present"):
                await store.begin(new_run(run_id), TASK)
            with psycopg.connect(empty_database) as owner:
                owner.execute("UPDATE midcourse.runs SET month = %s WHERE id = 'past'", (old,))
        async with PostgresStore(empty_database, tenant=whose) as store:
            for run_id in ("past", "present"):
                await store.save_observation(run_id, OBSERVATION)
                await open_tenant_blobs(own, store, tmp_path).put(run_id, PICTURE)
    counted = await expire_month(settings, tmp_path, old, really=False)
    assert (counted.runs, counted.dropped) == (2, ())
    expired = await expire_month(settings, tmp_path, old, really=True)
    assert (expired.runs, expired.dropped) == (2, ("journal_2025_01", "observations_2025_01", "blobs_2025_01"))
    for whose in (tenant, f"{tenant}x"):
        own = settings.model_copy(update={"tenant": whose})
        async with PostgresStore(empty_database, tenant=whose) as store:
            blobs = open_tenant_blobs(own, store, tmp_path)
            assert await blobs.read("past", PICTURE.digest) is None
            assert await store.observation("past", OBSERVATION.id) is None
            assert await blobs.read("present", PICTURE.digest) == PICTURE
            assert await store.observation("present", OBSERVATION.id) == OBSERVATION
    assert (await expire_month(settings, tmp_path, old, really=True)).runs == 0


async def test_month_that_is_not_over_is_kept(postgres: str, tenant: str, tmp_path: Path):
    settings = FleetSettings.load(tmp_path, {"database_url": postgres, "tenant": tenant})
    for really in (False, True):
        with pytest.raises(TaskInvalid, match="is not over"):
            await expire_month(settings, tmp_path, date(2999, 1, 1), really=really)
