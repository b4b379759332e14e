"""Kept segments in SQLite: the suite of every keeper, and a file that may be anything or gone."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from midcourse.ports.plan_cache import PlanCache
from midcourse.store.sqlite.plan_cache import SqlitePlanCache
from midcourse.testing.conformance.plan_cache import SEGMENT, PlanCacheConformance


class TestSqlite(PlanCacheConformance):
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.path = tmp_path / "home" / "segments.db"

    async def make_segments(self) -> PlanCache:
        return SqlitePlanCache(self.path)


async def test_looking_for_what_was_never_kept_leaves_no_file(tmp_path: Path):
    path = tmp_path / "home" / "segments.db"
    assert await SqlitePlanCache(path).all() == ()
    assert not path.parent.exists()


async def test_the_file_may_be_deleted_at_any_time(tmp_path: Path):
    segments = SqlitePlanCache(tmp_path / "segments.db")
    await segments.keep(SEGMENT)
    segments.path.unlink()
    assert await segments.all() == ()
    await segments.keep(SEGMENT)
    assert await segments.all() == (SEGMENT,)


async def test_what_another_version_wrote_is_left_behind(tmp_path: Path):
    segments = SqlitePlanCache(tmp_path / "segments.db")
    await segments.keep(SEGMENT)
    with closing(sqlite3.connect(segments.path)) as db:
        db.execute("PRAGMA user_version = 99")
    assert await segments.all() == ()
    assert not await segments.drop(SEGMENT.id)
    await segments.keep(SEGMENT)
    assert await segments.all() == (SEGMENT,)


async def test_readers_do_not_wait_for_writers(tmp_path: Path):
    segments = SqlitePlanCache(tmp_path / "segments.db")
    await segments.keep(SEGMENT)
    with closing(sqlite3.connect(segments.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert await segments.find(SEGMENT.task, SEGMENT.surface) == (SEGMENT,)


async def test_a_file_that_cannot_be_read_is_an_os_error(tmp_path: Path):
    path = tmp_path / "segments.db"
    path.write_bytes(b"this is no database, and never was" * 100)
    with pytest.raises(OSError, match="not a database"):
        await SqlitePlanCache(path).all()
