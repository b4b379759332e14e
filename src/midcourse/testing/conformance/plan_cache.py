"""Conformance suite for plan caches.

class TestMine(PlanCacheConformance):
    async def make_segments(self) -> PlanCache:
        return MySegments()
"""

from dataclasses import replace

from midcourse.domain.argument import Reference
from midcourse.domain.expectation import Expectation, Probe, ZoneHasState
from midcourse.domain.plan import Draft
from midcourse.domain.records.plan_cache import KeptSegment, KeptStep
from midcourse.ports.plan_cache import MOST_OF_A_TASK, PlanCache

STEP = KeptStep(
    role="textbox",
    label="Customer {customer} {{braces}} \0",
    draft=Draft(
        zone="",
        skill="type",
        arguments=(("text", Reference(source="input", name="customer")), ("times", 1), ("slowly", False)),
        expect=Expectation(checks=(ZoneHasState(label="Customer*", state="value", value="{customer}"),)),
        probe=Probe(name="is_there", arguments=(("what", "{customer}"),), settles_after=1.5),
        transition=False,
        says="Type '{customer}'",
    ),
)
SEGMENT = KeptSegment(
    id="s1",
    task="t1",
    surface="f1",
    after=2,
    apart=("express",),
    apart_digest="d1",
    goal="Report {subject}",
    title="New ticket",
    steps=(STEP,),
    run="run-1",
    version=3,
    worked_at=10.0,
)


class PlanCacheConformance:
    """Tests that every plan cache must pass. Subclass it as `Test…` and define `make_segments`, which returns an empty cache."""

    async def make_segments(self) -> PlanCache:
        raise NotImplementedError("a conformance suite needs to know what to test")

    async def test_nothing_is_kept_at_first(self) -> None:
        segments = await self.make_segments()
        assert await segments.find("t1", "f1") == ()
        assert await segments.all() == ()
        assert not await segments.drop("s1")

    async def test_what_was_kept_comes_back_to_the_letter(self) -> None:
        segments = await self.make_segments()
        await segments.keep(SEGMENT)
        assert await segments.find("t1", "f1") == (SEGMENT,)
        assert await segments.all() == (SEGMENT,)

    async def test_only_for_its_task_and_screen(self) -> None:
        segments = await self.make_segments()
        await segments.keep(SEGMENT)
        assert await segments.find("t2", "f1") == ()
        assert await segments.find("t1", "f2") == ()

    async def test_keeping_it_again_replaces_it(self) -> None:
        segments = await self.make_segments()
        await segments.keep(SEGMENT)
        again = replace(SEGMENT, worked=2, worked_at=20.0, steps=())
        await segments.keep(again)
        assert await segments.find("t1", "f1") == (again,)

    async def test_the_latest_comes_first(self) -> None:
        segments = await self.make_segments()
        first, second, third = (replace(SEGMENT, id=f"s{at}", worked_at=float(at)) for at in (3, 2, 1))
        await segments.keep(second, third, first)
        assert await segments.find("t1", "f1") == (first, second, third)
        assert await segments.all() == (first, second, third)

    async def test_what_was_dropped_is_gone(self) -> None:
        segments = await self.make_segments()
        other = replace(SEGMENT, id="s2", surface="f2")
        await segments.keep(SEGMENT)
        await segments.keep(other)
        assert await segments.drop("s1")
        assert not await segments.drop("s1")
        assert await segments.all() == (other,)

    async def test_a_task_has_so_many_at_most(self) -> None:
        segments = await self.make_segments()
        elsewhere = replace(SEGMENT, id="elsewhere", task="t2", worked_at=0.0)
        await segments.keep(elsewhere)
        numbers = range(MOST_OF_A_TASK + 3)
        many = [replace(SEGMENT, id=f"s{n:03}", surface=f"f{n}", worked_at=float(n)) for n in numbers]
        await segments.keep(*many[:10])
        await segments.keep(*many[10:])
        found = await segments.all()
        assert len([segment for segment in found if segment.task == "t1"]) == MOST_OF_A_TASK
        assert found[0].id == f"s{MOST_OF_A_TASK + 2:03}"
        assert await segments.find("t1", "f2") == ()
        assert await segments.find("t2", "f1") == (elsewhere,)
