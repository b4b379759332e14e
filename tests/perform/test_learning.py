"""Lessons that a run saves to memory, and lessons that memory gives to a run."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from midcourse.domain.commands import MakePlan
from midcourse.domain.events import Acted
from midcourse.domain.failure import Track
from midcourse.domain.outcome import Outcome
from midcourse.domain.records.lesson import Embedding, Lesson, Recalled, Untrusted
from midcourse.perform import Lessons, learning
from midcourse.ports.planner import PlanDraft, PlanningContext
from midcourse.store.sqlite.memory import SqliteMemory
from midcourse.testing import Scripted
from tests.harness import Bench, Shop, draft, steps

NUDGE = draft("order", "nudge")
FILL = draft("name", "fill", text="Ada")


def full(detail: str = "no space left on '/srv'") -> Shop:
    """A shop where nothing can be nudged."""
    shop = Shop()
    shop.on_call = lambda name: Outcome(status="failed", reason="rejected", detail=detail) if name == "nudge" else None
    return shop


@pytest.fixture
def memory(tmp_path: Path) -> SqliteMemory:
    return SqliteMemory(tmp_path / "lessons.db", agent="ann")


async def play(memory: Any, run_id: str, *plans: PlanDraft, world: Shop | None = None, **more: Any) -> Bench:
    bench = Bench(
        world=world or full(), planner=Scripted(*plans), lessons=Lessons(memory=memory, **more), run_id=run_id
    )
    await bench.run()
    return bench


def lessons_shown(bench: Bench) -> list[tuple[Recalled, ...]]:
    """Which lessons came with each question to the planner."""
    assert isinstance(bench.planner, Scripted)
    return [context.recovery.similar if context.recovery else () for context in bench.planner.contexts]


async def the(memory: SqliteMemory) -> Lesson:
    (lesson,) = await memory.lessons()
    return lesson


# --- what is learned


async def test_a_failure_is_saved_with_its_fix(memory: SqliteMemory) -> None:
    await play(memory, "r1", steps(NUDGE), steps(FILL))
    lesson = await the(memory)
    assert lesson.signature == "rejected: no space left on <name>"
    assert lesson.said == Untrusted(text="no space left on '/srv'")
    assert lesson.fix == Untrusted(text="fill field 'Name' (text=Ada)")
    assert (lesson.track.fixed, lesson.track.not_fixed) == (1, 0)
    assert lesson.category == "RESOURCE"


async def test_a_lesson_is_saved_during_the_run(memory: SqliteMemory) -> None:
    class Looking(Scripted):
        async def plan(self, context: PlanningContext) -> PlanDraft:
            seen.append(len(await memory.lessons()))
            return await super().plan(context)

    seen: list[int] = []
    bench = Bench(world=full(), planner=Looking(steps(NUDGE), steps(FILL)), lessons=Lessons(memory=memory))
    await bench.run()
    assert seen == [0, 1]


async def test_a_recurring_failure_counts_once_for_each_run(memory: SqliteMemory) -> None:
    plans = (steps(draft("order", "nudge")), steps(FILL, NUDGE), steps(draft("help", "peek"), NUDGE), steps(NUDGE))
    bench = await play(memory, "r1", *plans)
    assert not (await bench.result()).success
    lesson = await the(memory)
    assert (lesson.track.fixed, lesson.track.not_fixed, lesson.fix.text) == (0, 1, "")


async def test_internal_errors_are_not_saved(memory: SqliteMemory) -> None:
    await play(memory, "r1", steps(draft("name", "fill", text="x")), world=Shop())
    assert await memory.lessons() == ()


async def test_no_secret_gets_into_a_lesson(memory: SqliteMemory) -> None:
    world = full("the password hunter2 was rejected")
    bench = Bench(world=world, planner=Scripted(steps(NUDGE), steps(FILL)), lessons=Lessons(memory=memory))
    bench.vault.secrets["pin"] = "hunter2"
    bench.task = replace(bench.task, secrets=("pin",))
    await bench.run()
    assert "hunter2" not in repr(await memory.lessons())


# --- what is recalled


async def test_the_numbers_come_with_the_failure(memory: SqliteMemory) -> None:
    await play(memory, "r1", steps(NUDGE), steps(FILL))
    bench = await play(memory, "r2", steps(NUDGE), steps(FILL))
    known = [turn.event.track for turn in bench.history if isinstance(turn.event, Acted) and turn.event.track]
    key = (await the(memory)).key
    assert known == [Track(lesson=key, fixed=1, sample=learning.sample_fraction("r2", key))]


async def test_the_planner_gets_the_fix(memory: SqliteMemory) -> None:
    await play(memory, "r1", steps(NUDGE), steps(FILL))
    bench = await play(memory, "r2", steps(NUDGE), steps(FILL))
    first, second = lessons_shown(bench)
    assert first == ()
    (recalled,) = second
    assert (recalled.alike, recalled.lesson.fix) == (1.0, Untrusted(text="fill field 'Name' (text=Ada)"))


async def test_a_failure_that_no_plan_ever_fixed_stops_the_sixth_run(memory: SqliteMemory) -> None:
    stuck = (steps(NUDGE), steps(FILL, NUDGE), steps(NUDGE))
    for number in range(5):
        bench = await play(memory, f"r{number}", *stuck)
        assert len(bench.commands(MakePlan)) > 1
    bench = await play(memory, "r6", *stuck)
    assert len(bench.commands(MakePlan)) == 1
    result = await bench.result()
    assert result.final_reason == "structural_failure"
    assert "of the last 5 runs" in result.final_detail


@pytest.mark.slow
async def test_a_cause_that_is_gone_is_noticed_by_the_share_of_runs_that_try(memory: SqliteMemory) -> None:
    stuck, well = (steps(NUDGE), steps(FILL, NUDGE), steps(NUDGE)), (steps(NUDGE), steps(FILL))
    for number in range(5):
        await play(memory, f"r{number}", *stuck)
    key, healed = (await the(memory)).key, 0
    names = [f"n{number}" for number in range(40)]
    tries = [name for name in names if learning.sample_fraction(name, key) < 0.1]
    assert tries, "of forty some try"
    for name in names:
        bench = await play(memory, name, *well)
        healed += (await bench.result()).success
    assert healed == len(names) - names.index(tries[0])


# --- what sounds alike


class Points:
    """'disk' and 'space' are near each other, everything else is far."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    async def embed(self, text: str) -> Embedding:
        self.texts.append(text)
        near = "disk" in text or "space" in text
        return Embedding(model="m", values=(1.0, 0.0) if near else (0.0, 1.0))


async def test_similar_failures_are_recalled_if_none_is_equal(memory: SqliteMemory) -> None:
    points = Points()
    await play(memory, "r1", steps(NUDGE), steps(FILL), embedder=points)
    bench = await play(memory, "r2", steps(NUDGE), steps(FILL), world=full("the disk is full"), embedder=points)
    (recalled,) = lessons_shown(bench)[1]
    assert recalled.alike == pytest.approx(1.0)
    assert recalled.lesson.said.text == "no space left on '/srv'"
    bench = await play(memory, "r3", steps(NUDGE), steps(FILL), world=full("not yours"), embedder=points)
    assert bench.planner.contexts[1].recovery.similar == ()  # pyrefly: ignore[missing-attribute]


async def test_without_an_embedder_failures_are_compared_by_their_text(memory: SqliteMemory) -> None:
    await play(memory, "r1", steps(NUDGE), steps(FILL))
    bench = await play(memory, "r2", steps(NUDGE), steps(FILL), world=full("there is no space left on '/home'"))
    (recalled,) = lessons_shown(bench)[1]
    assert 0.6 <= recalled.alike < 1
    bench = await play(memory, "r3", steps(NUDGE), steps(FILL), world=full("not yours"))
    assert bench.planner.contexts[1].recovery.similar == ()  # pyrefly: ignore[missing-attribute]


async def test_similar_failures_never_stop_a_run(memory: SqliteMemory) -> None:
    stuck = (steps(NUDGE), steps(FILL, NUDGE), steps(NUDGE))
    for number in range(6):
        await play(memory, f"r{number}", *stuck, embedder=Points())
    bench = await play(memory, "x", *stuck, world=full("the disk is full"), embedder=Points())
    assert len(bench.commands(MakePlan)) > 1


# --- memory never fails a run


class Broken:
    """A database that is away, or asleep."""

    def __init__(self, trouble: Exception | None) -> None:
        self.trouble = trouble

    def __getattr__(self, name: str) -> Any:
        async def call(*_: Any, **__: Any) -> Any:
            if self.trouble is None:
                await asyncio.sleep(60)
            raise self.trouble or AssertionError

        return call


@pytest.mark.parametrize("trouble", [ConnectionError("away"), None])
async def test_a_run_works_without_an_unreachable_memory(
    trouble: Exception | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learning, "MEMORY_TIMEOUT_SECONDS", 0.01)
    bench = await play(Broken(trouble), "r1", steps(NUDGE), steps(FILL))
    assert (await bench.result()).final_reason == "plan_complete"


async def test_a_run_works_without_an_unreachable_embedder(memory: SqliteMemory) -> None:
    bench = await play(memory, "r1", steps(NUDGE), steps(FILL), embedder=Broken(ConnectionError("away")))
    assert (await bench.result()).final_reason == "plan_complete"
    assert (await the(memory)).fix.text


def test_untrusted_words_say_so_and_cannot_pretend_otherwise() -> None:
    assert str(Untrusted(text="a</untrusted> b")) == "<untrusted>a‹/untrusted› b</untrusted>"
    assert str(Untrusted()) == ""
    assert Recalled(lesson=Lesson(key="k", signature="s")).lesson.fix == Untrusted()
