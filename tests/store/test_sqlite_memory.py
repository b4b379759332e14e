"""Lessons in an SQLite file."""

from pathlib import Path

import pytest

from midcourse.errors import FormatUnknown
from midcourse.ports.memory import Memory
from midcourse.store.sqlite import SqliteStore
from midcourse.store.sqlite.memory import SqliteMemory
from midcourse.testing.conformance.memory import DENIED, MemoryConformance


class TestSqliteMemory(MemoryConformance):
    def make_memory(self, tmp_path: Path, agent: str) -> Memory:
        return SqliteMemory(tmp_path / "lessons.db", agent=agent)


async def test_there_is_no_file_until_something_failed(tmp_path: Path) -> None:
    memory = SqliteMemory(tmp_path / "home" / "lessons.db", agent="ann")
    assert not memory.path.parent.exists()
    assert await memory.recall(DENIED.signature) == ()
    assert await memory.lessons() == ()
    assert not memory.path.parent.exists(), "nor by asking"
    await memory.save(DENIED)
    assert memory.path.exists()


async def test_a_file_of_runs_is_refused(tmp_path: Path) -> None:
    SqliteStore(tmp_path / "midcourse.db").close()
    with pytest.raises(FormatUnknown, match="has schema"):
        await SqliteMemory(tmp_path / "midcourse.db", agent="ann").save(DENIED)
