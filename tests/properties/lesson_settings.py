"""Demonstrations of the settings of lessons, for `test_every_setting.py`."""

from pathlib import Path
from typing import Any

from midcourse.domain.outcome import Outcome
from midcourse.domain.records.lesson import Embedding
from midcourse.store.sqlite.memory import SqliteMemory
from midcourse.testing import Scripted
from tests.harness import Shop, draft, steps
from tests.properties.played import NUDGE, failing_shop, play, register


def stuck() -> Scripted:
    """Comes back to the same failure, whatever it tries in between."""
    other = draft("name", "fill", text="Ada")
    return Scripted(steps(NUDGE), steps(other, NUDGE), steps(draft("help", "peek"), NUDGE))


def full() -> Shop:
    shop = Shop()
    rejected = Outcome(status="failed", reason="rejected", detail="no space left")
    shop.on_call = lambda name: rejected if name == "nudge" else None
    return shop


async def experienced(runs: int, **settings: Any) -> SqliteMemory:
    """A memory of runs that met the same failure and did not get past it."""
    memory = SqliteMemory(Path("lessons.db"), agent="default")
    for _ in range(runs):
        await play(stuck(), full(), memory=memory, **settings)
    return memory


@register
async def lessons() -> None:
    off = await experienced(6, lessons=False)
    assert not off.path.exists()
    on = await experienced(1)
    assert len(await on.lessons()) == 1


@register
async def lesson_stop_after() -> None:
    memory = await experienced(2)
    usual = await play(stuck(), full(), memory=memory, lesson_tries=0)
    early = await play(stuck(), full(), memory=memory, lesson_tries=0, lesson_stop_after=2)
    never = await play(stuck(), full(), memory=memory, lesson_tries=0, lesson_stop_after="none")
    assert usual.result.planner_calls == never.result.planner_calls > 1
    assert (early.reason, early.result.planner_calls) == ("structural_failure", 1)


@register
async def lesson_tries() -> None:
    memory = await experienced(2)
    stops = await play(stuck(), full(), memory=memory, lesson_stop_after=2, lesson_tries=0)
    tries = await play(stuck(), full(), memory=memory, lesson_stop_after=2, lesson_tries=1)
    assert stops.result.planner_calls == 1 < tries.result.planner_calls


@register
async def lesson_similarity() -> None:
    class Points:
        async def embed(self, text: str) -> Embedding:
            return Embedding(model="m", values=(0.8, 0.6) if "space" in text else (1.0, 0.0))

    memory, seen = SqliteMemory(Path("lessons.db"), agent="default"), list[bool]()
    await play(
        Scripted(steps(NUDGE), steps(draft("name", "fill", text="Ada"))), full(), memory=memory, embedder=Points()
    )
    for least in (0.7, 0.9):
        planner, shop = stuck(), failing_shop("rejected")
        await play(planner, shop, memory=memory, embedder=Points(), lesson_similarity=least)
        seen.append(any(context.recovery and context.recovery.similar for context in planner.contexts))
    assert seen == [True, False]
