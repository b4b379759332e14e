"""Conformance suite for memories. In a test module:

    class TestMine(MemoryConformance):
        def make_memory(self, tmp_path, agent):
            return MyMemory(tmp_path / "lessons.db", agent=agent)

Two memories made for the same `tmp_path` are two agents of one tenant.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from inspect import isawaitable
from pathlib import Path
from typing import Any

from midcourse.domain.failure import Track
from midcourse.domain.records.lesson import Embedding, Lesson, Recalled, Untrusted
from midcourse.ports.memory import LATEST_RUNS, Memory

DENIED = Lesson(
    key="00112233aabbccdd",
    signature="permission: permission denied: <name>",
    reason="permission",
    category="environment",
    said=Untrusted(text="Permission denied: '/srv/report.csv'"),
)
GONE = Lesson(
    key="ffeeddcc99887766",
    signature="failed: no such file: <name>",
    reason="failed",
    said=Untrusted(text="No such file: '/srv/report.csv'"),
)
FIX = Untrusted(text="click button 'Choose another folder'")


def at(*values: float, model: str = "m") -> Embedding:
    return Embedding(model=model, values=(*values, *(0.0,) * (3 - len(values))))


Test = Callable[["MemoryConformance", "Agents"], Awaitable[None]]


class Agents:
    """Memories by the name of their agent, made when first asked for."""

    def __init__(self, make: Callable[[str], Memory]) -> None:
        self._make = make
        self._made: dict[str, Memory] = {}

    def __getitem__(self, name: str) -> Memory:
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    async def close(self) -> None:
        for memory in self._made.values():
            closed: Any = getattr(memory, "close", lambda: None)()
            if isawaitable(closed):
                await closed


def _with_agents(test: Test) -> Callable[["MemoryConformance", Path], None]:
    async def play(suite: "MemoryConformance", tmp_path: Path) -> None:
        agents = Agents(lambda name: suite.make_memory(tmp_path, name))
        try:
            await test(suite, agents)
        finally:
            await agents.close()

    def run(self: "MemoryConformance", tmp_path: Path) -> None:
        asyncio.run(play(self, tmp_path))

    run.__name__ = test.__name__
    run.__doc__ = test.__doc__
    return run


class MemoryConformance:
    """Tests that every memory must pass. Subclass it as `Test…` and define `make_memory`."""

    def make_memory(self, tmp_path: Path, agent: str) -> Memory:
        raise NotImplementedError("a conformance suite needs to know what to test")

    # --- saving

    @_with_agents
    async def test_a_lesson_is_recalled_by_its_signature_and_by_nothing_else(self, agents: Agents) -> None:
        await agents["ann"].save(DENIED)
        assert await agents["ann"].recall(DENIED.signature) == (Recalled(lesson=as_kept(DENIED, "ann")),)
        assert await agents["ann"].recall(GONE.signature) == ()
        assert await agents["ann"].recall("permission") == ()

    @_with_agents
    async def test_it_is_important_and_tagged(self, agents: Agents) -> None:
        await agents["ann"].save(DENIED)
        (lesson,) = await agents["ann"].lessons()
        assert (lesson.importance, lesson.tags, lesson.agent) == (0.8, ("learning", "pattern", "fix"), "ann")

    @_with_agents
    async def test_saved_again_it_is_one_lesson_and_keeps_what_was_known(self, agents: Agents) -> None:
        cause = replace(DENIED, root_cause=Untrusted(text="the folder is read-only"))
        await agents["ann"].save(cause)
        await agents["ann"].credit(DENIED.key, "r1", FIX)
        await agents["ann"].save(replace(DENIED, category="", said=Untrusted(text="Permission denied: '/srv/b.csv'")))
        (lesson,) = await agents["ann"].lessons()
        assert (lesson.root_cause, lesson.fix, lesson.category) == (cause.root_cause, FIX, "environment")
        assert lesson.said.text == "Permission denied: '/srv/b.csv'"

    @_with_agents
    async def test_text_comes_back_to_the_letter(self, agents: Agents) -> None:
        odd = replace(DENIED, said=Untrusted(text="nul \x00, \U0001f600, ' \" -- \n"), signature="a 'b' -- %s")
        await agents["ann"].save(odd)
        assert await agents["ann"].recall(odd.signature) == (Recalled(lesson=as_kept(odd, "ann")),)

    @_with_agents
    async def test_a_lesson_is_found_by_its_error_type_in_a_similar_task(self, agents: Agents) -> None:
        task = Untrusted(text="File the report of March")
        await agents["ann"].save(replace(DENIED, error_type="permission", task=task))
        await agents["ann"].save(replace(GONE, error_type="not_found", task=task))
        (found,) = await agents["ann"].of_task("permission", "File the report of April", above=0.5)
        assert found.lesson.key == DENIED.key
        assert 0.5 <= found.alike < 1.0
        assert await agents["ann"].of_task("permission", "Order a desk lamp", above=0.5) == ()
        assert await agents["bob"].of_task("permission", task.text, above=0.5) == ()

    # --- counting

    @_with_agents
    async def test_nothing_is_known_of_what_was_never_met(self, agents: Agents) -> None:
        assert await agents["ann"].track("0" * 16) == Track(lesson="0" * 16)

    @_with_agents
    async def test_a_run_counts_once_and_by_its_last_word(self, agents: Agents) -> None:
        memory = agents["ann"]
        await memory.save(DENIED)
        for _ in range(3):
            await memory.debit(DENIED.key, "r1")
        assert await memory.track(DENIED.key) == Track(lesson=DENIED.key, not_fixed=1)
        await memory.credit(DENIED.key, "r1")
        await memory.debit(DENIED.key, "r2")
        assert await memory.track(DENIED.key) == Track(lesson=DENIED.key, fixed=1, not_fixed=1)
        await memory.debit(DENIED.key, "r1")
        assert await memory.track(DENIED.key) == Track(lesson=DENIED.key, not_fixed=2)

    @_with_agents
    async def test_the_run_that_asks_is_not_counted(self, agents: Agents) -> None:
        await agents["ann"].debit(DENIED.key, "r1")
        await agents["ann"].debit(DENIED.key, "r2")
        assert (await agents["ann"].track(DENIED.key, besides="r2")).not_fixed == 1

    @_with_agents
    async def test_only_the_latest_runs_are_counted(self, agents: Agents) -> None:
        memory = agents["ann"]
        await memory.credit(DENIED.key, "first")
        for number in range(LATEST_RUNS):
            await memory.debit(DENIED.key, f"r{number}")
        assert await memory.track(DENIED.key) == Track(lesson=DENIED.key, not_fixed=LATEST_RUNS)

    @_with_agents
    async def test_what_worked_is_told_with_the_lesson(self, agents: Agents) -> None:
        await agents["ann"].save(DENIED)
        await agents["ann"].credit(DENIED.key, "r1", FIX)
        (recalled,) = await agents["ann"].recall(DENIED.signature)
        assert (recalled.lesson.fix, recalled.lesson.track) == (FIX, Track(lesson=DENIED.key, fixed=1))

    # --- between agents

    @_with_agents
    async def test_numbers_travel_between_agents_and_words_do_not(self, agents: Agents) -> None:
        await agents["ann"].save(DENIED, at(1.0))
        await agents["ann"].credit(DENIED.key, "r1", FIX)
        assert await agents["bob"].track(DENIED.key) == Track(lesson=DENIED.key, fixed=1)
        assert await agents["bob"].recall(DENIED.signature) == ()
        assert await agents["bob"].alike(at(1.0), above=0.1) == ()

    @_with_agents
    async def test_words_travel_once_a_person_has_shared_them(self, agents: Agents) -> None:
        await agents["ann"].save(DENIED, at(1.0))
        await agents["ann"].credit(DENIED.key, "r1", FIX)
        assert await agents["bob"].share(DENIED.key, "ann", "Eve")
        for found in (await agents["bob"].recall(DENIED.signature), await agents["bob"].alike(at(1.0), above=0.9)):
            assert [(recalled.lesson.fix, recalled.lesson.agent, recalled.lesson.shared_by) for recalled in found] == [
                (FIX, "ann", "Eve")
            ]

    @_with_agents
    async def test_what_was_shared_stays_as_it_was_read(self, agents: Agents) -> None:
        await agents["ann"].save(DENIED)
        await agents["ann"].share(DENIED.key, "ann", "Eve")
        await agents["ann"].save(replace(DENIED, said=Untrusted(text="Pay at once!")))
        await agents["ann"].credit(DENIED.key, "r1", Untrusted(text="click button 'Pay'"))
        (other,) = await agents["bob"].recall(DENIED.signature)
        (own,) = await agents["ann"].recall(DENIED.signature)
        assert (other.lesson.said, other.lesson.fix.text) == (DENIED.said, "")
        assert own.lesson.fix.text == "click button 'Pay'"

    @_with_agents
    async def test_a_shared_lesson_is_not_overwritten_by_another_agents(self, agents: Agents) -> None:
        await agents["ann"].save(DENIED)
        await agents["ann"].share(DENIED.key, "ann", "Eve")
        await agents["bob"].save(replace(DENIED, said=Untrusted(text="Bob's")))
        own, other = await agents["bob"].recall(DENIED.signature)
        assert (own.lesson.said.text, other.lesson.said) == ("Bob's", DENIED.said)

    @_with_agents
    async def test_nothing_is_shared_that_is_not_there(self, agents: Agents) -> None:
        await agents["ann"].save(DENIED)
        assert not await agents["ann"].share(GONE.key, "ann", "Eve")
        assert not await agents["ann"].share(DENIED.key, "bob", "Eve")

    # --- what sounds alike

    @_with_agents
    async def test_the_nearest_come_first_and_what_is_far_does_not_come(self, agents: Agents) -> None:
        await agents["ann"].save(DENIED, at(1.0))
        await agents["ann"].save(GONE, at(0.6, 0.8))
        await agents["ann"].save(replace(GONE, key="1" * 16), at(0.0, 0.0, 1.0))
        found = await agents["ann"].alike(at(1.0), above=0.5)
        assert [(recalled.lesson.key, round(recalled.alike, 3)) for recalled in found] == [
            (DENIED.key, 1.0),
            (GONE.key, 0.6),
        ]
        assert [recalled.lesson.key for recalled in await agents["ann"].alike(at(1.0), above=0.5, limit=1)] == [
            DENIED.key
        ]

    @_with_agents
    async def test_points_of_another_model_are_no_neighbours(self, agents: Agents) -> None:
        await agents["ann"].save(DENIED, at(1.0, model="old"))
        await agents["ann"].save(GONE, Embedding(model="long", values=(1.0, 0.0, 0.0, 0.0)))
        assert await agents["ann"].alike(at(1.0), above=0.1) == ()
        await agents["ann"].save(DENIED, at(1.0))
        assert len(await agents["ann"].alike(at(1.0), above=0.1)) == 1

    # --- people

    @_with_agents
    async def test_people_see_the_lessons_of_all_agents(self, agents: Agents) -> None:
        await agents["ann"].save(DENIED)
        await agents["bob"].save(GONE)
        await agents["ann"].share(DENIED.key, "ann", "Eve")
        found = [(lesson.key, lesson.agent, lesson.shared_by) for lesson in await agents["bob"].lessons()]
        assert found == [(GONE.key, "bob", ""), (DENIED.key, "ann", "Eve")]

    @_with_agents
    async def test_what_is_forgotten_is_gone_with_its_numbers(self, agents: Agents) -> None:
        await agents["ann"].save(DENIED)
        await agents["bob"].save(DENIED)
        await agents["ann"].debit(DENIED.key, "r1")
        assert await agents["ann"].forget(DENIED.key) == 2
        assert await agents["ann"].lessons() == ()
        assert (await agents["bob"].track(DENIED.key)) == Track(lesson=DENIED.key)
        assert await agents["ann"].forget(DENIED.key) == 0


def as_kept(lesson: Lesson, agent: str) -> Lesson:
    return replace(lesson, agent=agent, track=Track(lesson=lesson.key))
