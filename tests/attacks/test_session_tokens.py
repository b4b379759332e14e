"""Attack: a thief of the database uses its session tokens to act in the worlds of runs."""

import sqlite3
import stat
from pathlib import Path

import psycopg
import pytest

from midcourse.sealing import Key, SealBroken, Seals
from midcourse.store.postgres import PostgresStore
from midcourse.store.sqlite import SqliteStore
from midcourse.testing.conformance.store_samples import TASK, new_run

HANDLE = '{"url":"http://127.0.0.1:4100/sessions/1","token":"mqXgVsAnybodyWithThisMayAct"}'


def contents(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.glob("midcourse.db*") if file.is_file())


async def test_local_database_has_no_token(tmp_path: Path):
    with SqliteStore(tmp_path / "midcourse.db") as store:
        await store.begin(new_run("../a"), TASK)
        await store.save_session("../a", HANDLE)
        assert await store.session("../a") == HANDLE
        assert b"mqXgVs" not in contents(tmp_path)
    (file,) = (tmp_path / "midcourse.db.sessions").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


async def test_tokens_of_an_earlier_version_leave_the_database_when_it_is_opened(tmp_path: Path):
    path = tmp_path / "midcourse.db"
    with SqliteStore(path) as store:
        await store.begin(new_run("a"), TASK)
    db = sqlite3.connect(path)
    db.execute("UPDATE runs SET session = ?", (HANDLE,))
    for table in ("inbox", "questions"):
        db.execute(f"DROP TABLE {table}")
    for column in ("messages_decided", "epoch", "placed", "resting", "rested_epoch", "rested_seq", "pruned_at"):
        db.execute(f"ALTER TABLE runs DROP COLUMN {column}")
    db.execute("PRAGMA user_version = 5")
    db.commit()
    db.close()
    assert b"mqXgVs" in contents(tmp_path)
    with SqliteStore(path) as store:
        assert await store.session("a") == HANDLE
    assert b"mqXgVs" not in contents(tmp_path)


@pytest.mark.slow
async def test_database_of_a_fleet_has_no_token_in_clear(postgres: str, tenant: str):
    seals = Seals([Key(id="2026", secret=b"k" * 32)])
    async with PostgresStore(postgres, tenant=tenant) as unsealed:
        await unsealed.begin(new_run("b"), TASK)
        await unsealed.save_session("b", HANDLE)
    async with PostgresStore(postgres, tenant=tenant, seals=seals) as store:
        assert await store.session("b") == HANDLE, "an earlier version wrote it, before there were keys"
        await store.begin(new_run("a"), TASK)
        batch = store.records(await store.claim_run("a"))
        await batch.save_session("a", HANDLE)
        assert await batch.session("a") == HANDLE
        await batch.flush()
        assert await store.session("a") == HANDLE
        with psycopg.connect(postgres) as owner:
            owner.execute("SELECT set_config('midcourse.tenant', %s, false)", (tenant,))
            owner.execute("SET ROLE midcourse_app")
            rows = owner.execute("SELECT run, handle FROM midcourse.sessions WHERE run = 'a'").fetchall()
            assert len(rows) == 1
            assert "token" not in rows[0][1]
            owner.execute("UPDATE midcourse.sessions SET handle = %s WHERE run = 'b'", (rows[0][1],))
        with pytest.raises(SealBroken):
            await store.session("b")
    async with PostgresStore(postgres, tenant=tenant) as keyless:
        with pytest.raises(LookupError, match="no keys_file is set"):
            await keyless.session("a")
