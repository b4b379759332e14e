"""Both runtimes learn the same lessons: on Temporal with PostgreSQL, and in one process with a file."""

from pathlib import Path

import pytest

from midcourse.agent.agent import Agent
from midcourse.config.settings import Settings
from midcourse.domain.result import Result
from midcourse.domain.task import Task
from midcourse.perform import Lessons
from midcourse.ports.memory import Memory
from midcourse.runtimes.temporal.client import connect
from midcourse.store.postgres import PostgresStore
from midcourse.store.sqlite.memory import SqliteMemory
from midcourse.testing import MemoryStore, Scripted
from tests.harness import steps
from tests.perform.test_learning import FILL, NUDGE, full
from tests.runtimes.fleet import Cast, Fleet

pytestmark = pytest.mark.slow

SETTINGS = Settings.load(overrides={"replan_interval_seconds": "0", "lesson_stop_after": "2", "lesson_tries": "0"})
TASK = Task(goal="nudge it", limits=SETTINGS.limits())
STUCK = (steps(NUDGE), steps(FILL, NUDGE), steps(NUDGE))


def summarize(results: list[Result], memory_says: list[object]) -> tuple[list[tuple[str, int]], list[object]]:
    return [(result.final_reason, result.planner_calls) for result in results], memory_says


async def numbers(memory: Memory) -> list[object]:
    return [(lesson.signature, lesson.track.fixed, lesson.track.not_fixed) for lesson in await memory.lessons()]


async def in_one_process(folder: Path) -> tuple[list[tuple[str, int]], list[object]]:
    memory = SqliteMemory(folder / "lessons.db", agent="ann")
    results: list[Result] = []
    for number in range(3):
        agent = Agent(world=full(), planner=Scripted(*STUCK), settings=SETTINGS, store=MemoryStore(), memory=memory)
        results.append(await agent.run(TASK, run_id=f"r{number}"))
    return summarize(results, await numbers(memory))


async def on_a_fleet(temporal: str, postgres: str, tenant: str) -> tuple[list[tuple[str, int]], list[object]]:
    async with PostgresStore(postgres, tenant=tenant) as store:
        fleet, memory = Fleet(client=await connect(temporal), store=store, tenant=tenant), store.memory("ann")
        results: list[Result] = []
        async with fleet.worker():
            for number in range(3):
                cast = Cast(world=full(), planner=Scripted(*STUCK), task=TASK, lessons=Lessons(memory=memory))
                results.append(await (await fleet.begin(cast, f"r{number}")).result())
        return summarize(results, await numbers(memory))


async def test_both_runtimes_learn_the_same_and_stop_a_hopeless_run(
    temporal: str, postgres: str, tenant: str, tmp_path: Path
) -> None:
    here = await in_one_process(tmp_path)
    assert here == await on_a_fleet(temporal, postgres, tenant)
    runs, memory = here
    assert runs[-1] == ("structural_failure", 1)
    assert runs[0][1] > 1
    assert memory == [("rejected: no space left on <name>", 0, 2)]
