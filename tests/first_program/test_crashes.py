"""A crash after the effect: a planner that proposes the finished step again ends the run as a success."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from midcourse import Agent, BaseWorld, Draft, Expectation, PlanDraft, Scene, Settings, Task, Zone, probe, skill
from midcourse.domain.expectation import TextContains
from midcourse.domain.result import Result
from midcourse.testing import Approves, FakeClock, MemoryStore
from tests.forked import run_forked
from tests.harness import START

BOOKED: list[str] = []
"""The ledger of the company: it survives the process."""


class Books(BaseWorld):
    """Dies right after a booking, if it is told to: as with kill -9, only the booking is left."""

    def __init__(self, die: Callable[[], object] | None = None) -> None:
        super().__init__()
        self.die = die
        self.typed = ""

    def look(self) -> Scene:
        return Scene(
            "Books", Zone(id="field", role="textbox", label="Note"), Zone(id="ok", role="button", label="Book")
        )

    @skill
    def note(self, zone: Zone, text: str) -> None:
        self.typed = text

    @skill(effect="reversible")
    def add(self, zone: Zone) -> None: ...

    @skill(effect="irreversible", probe="is_booked")
    async def book(self, zone: Zone, number: str) -> None:
        BOOKED.append(number)
        if self.die:
            self.die()
            await asyncio.sleep(3600)

    @probe
    def is_booked(self, number: str) -> bool:
        return number in BOOKED


NOTE = Draft(zone="field", skill="note", arguments=(("text", "paid"),))
ADD = Draft(zone="field", skill="add")
BOOK = Draft(zone="ok", skill="book", arguments=(("number", "R-1"),))


class Same:
    """Always the same plan, as in the examples of the README."""

    def __init__(self, *steps: Draft, final: bool | None = None) -> None:
        self.draft = PlanDraft(steps=steps, final=final)

    async def plan(self, context: object) -> PlanDraft:
        return self.draft


async def crash_and_resume(planner: Same, task: Task | None = None) -> Result:
    BOOKED.clear()
    store, task = MemoryStore(), task or Task(goal="Book invoice R-1", key="R-1")
    killed = Agent(world=Books(lambda: live.cancel()), planner=planner, approver=Approves(), store=store)
    live = asyncio.ensure_future(killed.run(task, run_id="run"))
    with pytest.raises(asyncio.CancelledError):
        await live
    assert BOOKED == ["R-1"]
    result = await Agent(world=Books(), planner=planner, approver=Approves(), store=store).run(task)
    assert result.run == "run"
    assert BOOKED == ["R-1"], "once, whatever the planner says"
    return result


@pytest.mark.parametrize("steps", [(BOOK,), (NOTE, BOOK)])
async def test_a_crash_after_the_effect_is_a_success(steps: tuple[Draft, ...]) -> None:
    result = await crash_and_resume(Same(*steps))
    assert (result.success, result.verified, result.final_reason) == (True, True, "plan_complete"), "its probe found it"
    assert [step.skill for step in result.completed if step.irreversible] == ["book"]


async def test_a_plan_that_is_not_the_last_is_still_refused() -> None:
    result = await crash_and_resume(Same(BOOK, final=False))
    assert (result.success, result.final_reason) == (False, "replan_no_change")


async def test_nothing_that_can_only_be_undone_is_done_again_on_the_way() -> None:
    result = await crash_and_resume(Same(ADD, BOOK))
    assert (result.success, result.final_reason) == (False, "replan_no_change")


async def test_an_unmet_done_when_outweighs_a_finished_plan() -> None:
    unmet = Expectation(checks=(TextContains(text="never there"),))
    result = await crash_and_resume(Same(BOOK), Task(goal="Book invoice R-1", key="R-1", done_when=unmet))
    assert (result.success, result.verified) == (False, False)


@pytest.mark.slow
@pytest.mark.parametrize("steps", [(BOOK,), (NOTE, BOOK)])
async def test_killed_at_any_moment_it_is_booked_once_and_a_success(steps: tuple[Draft, ...]) -> None:
    task, settings = Task(goal="Book invoice R-1", key="R-1"), Settings.load()
    for moment in range(0, 1000, 2):
        BOOKED.clear()
        store = MemoryStore()
        first, again = (
            Agent(
                world=Books(),
                planner=Same(*steps),
                approver=Approves(),
                store=store,
                clock=FakeClock(START),
                settings=settings,
            )
            for _ in range(2)
        )
        live = asyncio.ensure_future(first.run(task))
        for _ in range(moment):
            await asyncio.sleep(0)
        if live.done():
            return
        live.cancel()
        await asyncio.wait([live])
        result = await again.run(task)
        assert (BOOKED, result.final_reason) == (["R-1"], "plan_complete"), f"killed after {moment} turns of the loop"
    raise AssertionError("it was never left in peace")


DIES = """
import os, sys
from pathlib import Path
from midcourse import Agent, BaseWorld, Draft, probe, skill
from midcourse.planners import SamePlan
from midcourse.testing import Approves

class Books(BaseWorld):
    @skill(effect="irreversible", probe="is_booked")
    def book(self, number: str) -> None:
        with Path("booked").open("a") as file:
            file.write(number)
        if "die" in sys.argv:
            os._exit(9)

    @probe
    def is_booked(self, number: str) -> bool:
        return Path("booked").exists() and Path("booked").read_text() == number

agent = Agent(Books(), SamePlan([Draft(skill="book", arguments={"number": "R-1"})]), approver=Approves())
result = agent.run_sync("Book R-1", run_id="r1") if "die" in sys.argv else agent.resume_sync("r1")
print(result.run, result.final_reason)
"""


@pytest.mark.slow
def test_a_program_without_an_event_loop_resumes_a_run(tmp_path: Path) -> None:
    (tmp_path / "books.py").write_text(DIES)
    died = run_forked("python", "books.py", "die", cwd=tmp_path, environment=os.environ)
    assert died.returncode == 9
    resumed = run_forked("python", "books.py", cwd=tmp_path, environment=os.environ)
    assert resumed.stdout == "r1 plan_complete\n", resumed.stderr
    assert (tmp_path / "booked").read_text() == "R-1"
