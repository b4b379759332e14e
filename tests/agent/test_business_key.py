"""The business key: a second run under it returns the first, goes on with it, or is told why not."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from midcourse.agent.agent import Agent
from midcourse.config.settings import Settings
from midcourse.domain.budget import Limits
from midcourse.domain.expectation import Expectation, TextContains
from midcourse.domain.plan import GLOBAL, Draft
from midcourse.domain.result import Result
from midcourse.domain.task import Task
from midcourse.errors import KeyTaken, RunBusy
from midcourse.ports.planner import PlanDraft, PlanningContext
from midcourse.ports.store import Store
from midcourse.store.sqlite import SqliteStore
from midcourse.testing import Approves, MemoryStore, Rejects
from midcourse.worlds.base import BaseWorld, Outcome, Scene, Zone, skill

KEY = "letter to Ada"


class Post(BaseWorld):
    """Letters that cannot be called back. Unless it is `open_to_all`, their outcome cannot be found out."""

    def __init__(self) -> None:
        super().__init__()
        self.letters: list[str] = []
        self.open_to_all = True
        self.gate = asyncio.Event()
        self.gate.set()

    def look(self) -> Scene:
        sent = len(self.letters) if self.open_to_all else 0
        return Scene("Post office", Zone(id="counter", role="text", label=f"{sent} sent"))

    @skill(effect="irreversible")
    async def send(self, to: str) -> None:
        await self.gate.wait()
        self.letters.append(to)

    @skill(effect="read")
    def fail(self) -> Outcome:
        return Outcome(status="unreachable", reason="impossible", detail="closed for good")


class LetterPlanner:
    """A planner that has a letter sent, and then perhaps something that cannot be done."""

    def __init__(self, *skills: str) -> None:
        self.skills = skills or ("send",)

    async def plan(self, context: PlanningContext) -> PlanDraft:
        sent = int(context.observation.zones[0].label.split()[0])
        seen = Expectation(checks=(TextContains(text=f"{sent + 1} sent"),))
        drafts = {
            "send": Draft(zone=GLOBAL, skill="send", arguments=(("to", "Ada"),), says="Write to Ada", expect=seen),
            "fail": Draft(zone=GLOBAL, skill="fail", says="Ask at the counter"),
        }
        return PlanDraft(steps=tuple(drafts[name] for name in self.skills))


@dataclass
class Office:
    store: Store
    world: Post
    home: Path

    def make_agent(self, *skills: str, approver: object = None) -> Agent:
        settings = Settings.load(task={"home": str(self.home)})
        return Agent(
            world=self.world,
            planner=LetterPlanner(*skills),
            approver=approver or Approves(),  # pyrefly: ignore[bad-argument-type]
            settings=settings,
            store=self.store,
        )


@pytest.fixture(params=["memory", "sqlite"])
def office(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Office]:
    if request.param == "memory":
        yield Office(MemoryStore(), Post(), tmp_path)
        return
    with SqliteStore(tmp_path / "midcourse.db") as store:
        yield Office(store, Post(), tmp_path)


def make_task(key: str = KEY) -> Task:
    return Task(goal="Write to Ada", key=key, limits=Limits(retry_delay_seconds=0.0))


async def list_runs(office: Office) -> list[str]:
    return [run.id for run in reversed(await office.store.runs())]


async def test_second_run_under_a_key_returns_the_first_result(office: Office):
    first = await office.make_agent().run(make_task(), run_id="first")
    again = await office.make_agent().run(make_task(), run_id="second")
    assert first.success
    assert again == first
    assert office.world.letters == ["Ada"]
    assert await list_runs(office) == ["first"]


async def test_live_run_under_a_taken_key_names_the_first_run(office: Office):
    await office.make_agent().run(make_task(), run_id="first")
    live = office.make_agent().start(make_task(), run_id="second")
    assert [turn async for turn in live] == []
    assert (await live.result()).run == live.run_id == "first"


async def test_runs_with_other_keys_or_none_act_again(office: Office):
    for number, key in enumerate((KEY, "letter to Bob", "", "")):
        await office.make_agent().run(make_task(key), run_id=f"run-{number}")
    assert office.world.letters == ["Ada"] * 4


@pytest.mark.slow
async def test_an_interrupted_run_goes_on(office: Office):
    live = office.make_agent().start(make_task(), run_id="first")
    async for turn in live:
        if turn.run.phase.kind == "planning":
            break
    waiting = asyncio.ensure_future(live.result())
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert await office.store.result("first") is None

    result = await office.make_agent().run(make_task(), run_id="second")
    assert (result.run, result.success) == ("first", True)
    assert office.world.letters == ["Ada"]
    assert await list_runs(office) == ["first"]


async def test_a_run_that_is_under_way_is_left_alone(office: Office):
    office.world.gate.clear()
    live = office.make_agent().start(make_task(), run_id="first")
    async for turn in live:
        if turn.run.phase.kind == "acting":
            break
    with pytest.raises(RunBusy):
        await office.make_agent().run(make_task(), run_id="second")
    office.world.gate.set()
    assert (await live.result()).success
    assert office.world.letters == ["Ada"]


async def test_only_one_of_many_concurrent_runs_acts(office: Office):
    agents = [office.make_agent().run(make_task(), run_id=f"run-{number}") for number in range(8)]
    ended = await asyncio.gather(*agents, return_exceptions=True)
    assert all(isinstance(each, Result | RunBusy) for each in ended), ended
    assert len({each.run for each in ended if isinstance(each, Result)}) == 1
    assert office.world.letters == ["Ada"]
    assert len(await list_runs(office)) == 1


async def test_a_failure_that_left_nothing_behind_frees_the_key(office: Office):
    failed = await office.make_agent(approver=Rejects()).run(make_task(), run_id="first")
    assert failed.final_reason == "rejected"
    again = await office.make_agent().run(make_task(), run_id="second")
    assert (again.run, again.success) == ("second", True)
    assert (await office.make_agent().run(make_task(), run_id="third")).run == "second"
    assert office.world.letters == ["Ada"]


async def test_a_failure_after_a_doubtful_step_needs_a_person(office: Office):
    office.world.open_to_all = False
    stopped = await office.make_agent().run(make_task(), run_id="first")
    assert (stopped.success, stopped.final_reason) == (False, "needs_human")
    with pytest.raises(KeyTaken, match=r"run first has the key 'letter to Ada'.*may have done 'Write to Ada'.*--again"):
        await office.make_agent().run(make_task(), run_id="second")
    assert office.world.letters == ["Ada"]

    office.world.open_to_all = True
    again = await office.make_agent().run(make_task(), run_id="second", again=True)
    assert (again.run, again.success) == ("second", True)


async def test_a_failure_after_a_certain_effect_keeps_the_key(office: Office):
    """The next run would know nothing of it, and send a second letter."""
    failed = await office.make_agent("send", "fail").run(make_task(), run_id="first")
    assert failed.final_reason == "structural_failure"
    with pytest.raises(KeyTaken, match="but did 'Write to Ada'"):
        await office.make_agent().run(make_task(), run_id="second")
    assert office.world.letters == ["Ada"]


async def test_again_repeats_no_success(office: Office):
    await office.make_agent().run(make_task(), run_id="first")
    assert (await office.make_agent().run(make_task(), run_id="second", again=True)).run == "first"
    assert office.world.letters == ["Ada"]
