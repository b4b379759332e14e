"""Where an agent keeps what it learns."""

from dataclasses import replace
from pathlib import Path

from midcourse.agent.agent import Agent
from midcourse.config.settings import Settings
from midcourse.store.sqlite.memory import SqliteMemory
from midcourse.testing import MemoryStore, Scripted
from tests.harness import steps
from tests.perform.test_learning import FILL, NUDGE, full


def make_agent(home: Path, **settings: str) -> Agent:
    chosen = Settings.load(overrides={"home": str(home), **settings})
    return Agent(world=full(), planner=Scripted(steps(NUDGE), steps(FILL)), settings=chosen)


async def list_lessons(home: Path) -> list[tuple[str, int]]:
    memory = SqliteMemory(home / "lessons.db", agent="whoever")
    return [(lesson.agent, lesson.track.fixed) for lesson in await memory.lessons()]


async def test_lessons_are_stored_beside_the_runs_under_the_agents_name(tmp_path: Path) -> None:
    await make_agent(tmp_path).run("nudge it")
    await make_agent(tmp_path, agent="ann").run("nudge it")
    assert await list_lessons(tmp_path) == [("ann", 2), ("default", 2)]


async def test_without_a_failure_nothing_is_kept(tmp_path: Path) -> None:
    await replace(make_agent(tmp_path), planner=Scripted(steps(FILL))).run("fill it in")
    assert not (tmp_path / "lessons.db").exists()


async def test_without_lessons_no_memory_is_stored(tmp_path: Path) -> None:
    await make_agent(tmp_path, lessons="false").run("nudge it")
    assert not (tmp_path / "lessons.db").exists()


async def test_where_runs_are_in_no_file_a_memory_has_to_be_given(tmp_path: Path) -> None:
    await replace(make_agent(tmp_path), store=MemoryStore()).run("nudge it")
    assert not (tmp_path / "lessons.db").exists()
    memory = SqliteMemory(tmp_path / "mine.db", agent="ann")
    await replace(make_agent(tmp_path), store=MemoryStore(), memory=memory).run("nudge it")
    assert [lesson.agent for lesson in await memory.lessons()] == ["ann"]
